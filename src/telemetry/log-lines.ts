import { writeSync } from 'node:fs'
import { unlogged } from './measured.ts'

const standardError = 2
/** How often, and for how many milliseconds, a reader that has no room is waited for. */
const [tries, pauseMs] = [20, 10]

const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)

/** Writes bytes; how many of them were not taken. */
function leftOf(bytes: Buffer): number {
  let at = 0
  for (let tried = 0; at < bytes.length && tried < tries; )
    try {
      at += writeSync(standardError, bytes, at)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') break
      tried++
      pause()
    }
  return bytes.length - at
}

/**
 * Standard error as a place for lines of the log. A line that there is no room for is dropped and counted, and nobody waits for it: a disk
 * that is full, or a reader that has gone, is no reason to serve nobody. Once lines are taken again the first says how many are missing.
 */
export function logLines() {
  let lost = 0
  let isTorn = false
  const take = (line: string) => {
    const bytes = Buffer.from(`${isTorn ? '\n' : ''}${line}`)
    const left = leftOf(bytes)
    if (left < bytes.length) isTorn = left > 0
    return left === 0
  }
  const gap = () => {
    const said = {
      level: 40,
      time: new Date().toISOString(),
      pid: process.pid,
      lost,
      msg: 'Lines of the log were lost.',
    }
    return `${JSON.stringify(said)}\n`
  }
  return {
    write(line: string) {
      if (lost && take(gap())) lost = 0
      if (!lost && take(line)) return
      lost++
      unlogged.lines++
    },
  }
}
