import { writeSync } from 'node:fs'
import { droppedLogs } from './durations.ts'

// Accessing process.stderr makes a pipe non-blocking. Otherwise a reader that hangs would block the process.
const standardError: number = process.stderr.fd

/** At most `maxPauses` pauses of `pauseMs` for a slow reader in each window of `pauseWindowMs`. */
const [maxPauses, pauseMs, pauseWindowMs] = [20, 10, 10_000]
const pauses = { times: 0, since: Number.NEGATIVE_INFINITY }

/** Blocks the process briefly for a slow reader. Returns false if the pauses of this window are used up. */
function pause(): boolean {
  const now = performance.now()
  if (now > pauses.since + pauseWindowMs) Object.assign(pauses, { times: 0, since: now })
  if (pauses.times >= maxPauses) return false
  pauses.times++
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
  return true
}

/** Writes bytes. Returns the number of bytes that were not written. */
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

let forward: ((line: string) => void) | undefined

/** Passes each log line of this process to `receive` too, until the returned function is called. */
export function forwardLogLines(receive: (line: string) => void) {
  forward = receive
  return () => {
    forward = undefined
  }
}

/**
 * Returns a stream that writes log lines to standard error. Drops and counts a line that standard error doesn't accept, for example
 * because the disk is full, so that requests are still served. The next accepted line reports the number of
 * dropped lines.
 */
export function createLogStream() {
  let dropped = 0
  let isTorn = false
  const tryWrite = (line: string) => {
    const bytes = Buffer.from(`${isTorn ? '\n' : ''}${line}`)
    // Never pauses while lines are being dropped.
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
      msg: 'log lines dropped',
    }
    return `${JSON.stringify(entry)}\n`
  }
  return {
    write(line: string) {
      forward?.(line)
      if (dropped && tryWrite(formatGap())) dropped = 0
      if (!dropped && tryWrite(line)) return
      dropped++
      droppedLogs.lines++
    },
  }
}
