import { callApi } from '../lib/api.js'

export const fastPollIntervalMs = 700
/** Polling stops after this many failed requests in a row. */
const maxFailures = 20

/** @param {number} ms @returns {Promise<void>} */
export const wait = ms => new Promise(resolve => setTimeout(() => resolve(), ms))

/**
 * Polls a resource until it is over, and returns its last state. Throws the last error after too many failures in a row.
 * Calls `onChange` with the first and each later state. `pause` waits before the next request.
 * @param {any} first the state that is known already
 * @param {string} path
 * @param {{
 *   isOver: (data: any) => boolean, onChange: (data: any) => void, signal: AbortSignal, pause?: (data: any) => Promise<void>,
 * }} options
 */
export async function poll(first, path, { isOver, onChange, signal, pause = () => wait(fastPollIntervalMs) }) {
  let data = first
  onChange(data)
  for (let failures = 0; !isOver(data); ) {
    await pause(data)
    try {
      data = (await callApi(path, { signal })).data
      failures = 0
      onChange(data)
    } catch (error) {
      if (signal.aborted || ++failures > maxFailures) throw error
    }
  }
  return data
}
