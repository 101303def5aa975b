import { ask } from '../ground/api.js'

const everyMs = 700
/** So many looks in a row may fail: what is looked at goes on meanwhile. */
const mostMissed = 20

/**
 * Looks at something that is under way, again and again, until it is over. Throws what a look was refused with, when too many in a row were.
 * @param {any} first what it is as far as is known
 * @param {string} path where to look
 * @param {{ isOver: (data: any) => boolean, tell: (data: any) => void, signal: AbortSignal }} following `tell`: told the first and each later look
 */
export async function follow(first, path, { isOver, tell, signal }) {
  let data = first
  tell(data)
  for (let missed = 0; !isOver(data); ) {
    await new Promise(done => setTimeout(done, everyMs))
    try {
      data = (await ask(path, { signal })).data
      missed = 0
      tell(data)
    } catch (fault) {
      if (signal.aborted || ++missed > mostMissed) throw fault
    }
  }
  return data
}
