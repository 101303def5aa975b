import { callApi } from '../lib/api.js'

export const fastPollIntervalMs = 700
/** So many looks in a row may fail: what is looked at goes on meanwhile. */
const maxFailures = 20

/** @param {number} ms @returns {Promise<void>} */
export const wait = ms => new Promise(done => setTimeout(() => done(), ms))

/**
 * Looks at something that is under way, again and again, until it is over. Throws what a look was refused with, when too many in a row were.
 * @param {any} first what it is as far as is known
 * @param {string} path where to look
 * @param {{
 *   isOver: (data: any) => boolean, tell: (data: any) => void, signal: AbortSignal, pause?: (data: any) => Promise<void>,
 * }} following `tell`: told the first and each later look; `pause`: waits for the next one
 */
export async function poll(first, path, { isOver, tell, signal, pause = () => wait(fastPollIntervalMs) }) {
  let data = first
  tell(data)
  for (let missed = 0; !isOver(data); ) {
    await pause(data)
    try {
      data = (await callApi(path, { signal })).data
      missed = 0
      tell(data)
    } catch (fault) {
      if (signal.aborted || ++missed > maxFailures) throw fault
    }
  }
  return data
}
