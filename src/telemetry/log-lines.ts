import { writeSync } from 'node:fs'
import { droppedLogs } from './durations.ts'

// Node makes a pipe that it has as its own stream one that does not block: a reader that stands still would hold the process up.
const standardError: number = process.stderr.fd

/** How often, and for how many milliseconds, a reader that has no room is waited for, in so many milliseconds. */
const [maxPauses, pauseMs, pauseWindowMs] = [20, 10, 10_000]
const pauses = { times: 0, since: Number.NEGATIVE_INFINITY }

/** Waits a little for a reader that is slow. False: it was waited for enough, because everybody else waits meanwhile. */
function pause(): boolean {
  const now = performance.now()
  if (now > pauses.since + pauseWindowMs) Object.assign(pauses, { times: 0, since: now })
  if (pauses.times >= maxPauses) return false
  pauses.times++
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
  return true
}

/** Writes bytes; how many of them were not taken. */
function writeBytes(bytes: Buffer, mayPause: boolean): number {
  let at = 0
  while (at < bytes.length)
    try {
      at += writeSync(standardError, bytes, at)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || !mayPause || !pause()) break
    }
  return bytes.length - at
}

/**
 * Standard error as a place for lines of the log. A line that there is no room for is dropped and counted, and nobody waits for it longer
 * than a moment: a disk that is full, or a reader that has gone, is no reason to serve nobody. Once lines are taken again the first says
 * how many are missing.
 */
export function createLogStream() {
  let dropped = 0
  let isTorn = false
  const tryWrite = (line: string) => {
    const bytes = Buffer.from(`${isTorn ? '\n' : ''}${line}`)
    // Once lines are lost one more is no loss to wait for.
    const unwritten = writeBytes(bytes, dropped === 0)
    if (unwritten < bytes.length) isTorn = unwritten > 0
    return unwritten === 0
  }
  const formatGap = () => {
    const entry = {
      level: 40,
      time: new Date().toISOString(),
      pid: process.pid,
      lost: dropped,
      msg: 'Lines of the log were lost.',
    }
    return `${JSON.stringify(entry)}\n`
  }
  return {
    write(line: string) {
      if (dropped && tryWrite(formatGap())) dropped = 0
      if (!dropped && tryWrite(line)) return
      dropped++
      droppedLogs.lines++
    },
  }
}
