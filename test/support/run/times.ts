import { appendFileSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** Seconds that a test file took: wall time, and CPU including its ended child processes. */
export interface FileTimes {
  file: string
  seconds: number
  cpu: number
}

/** Keeps what this process, or one that it started, has taken, where `npm run test:times` named a file for it. On Linux. */
export function recordTimes(file: string, pid: number | 'self' = 'self') {
  const timesFile = process.env.TEST_TIMES
  if (timesFile === undefined) return
  const times: FileTimes = {
    file: relative('', file),
    seconds: performance.now() / 1_000,
    cpu: readCpuSeconds(pid),
  }
  appendFileSync(timesFile, `${JSON.stringify(times)}\n`)
}

/** Seconds of CPU that a process has used, and those of its that have ended. */
function readCpuSeconds(pid: number | 'self') {
  // The name of its program, in brackets, may hold anything.
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?=[A-Z] )/)
  return fields
    .split(' ')
    .slice(11, 15)
    .reduce((sum, ticks) => sum + Number(ticks) / 100, 0)
}
