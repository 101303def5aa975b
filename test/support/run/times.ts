import { appendFileSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** Seconds that a test file took: wall time, and CPU including its ended child processes. */
export interface FileTimes {
  file: string
  seconds: number
  cpu: number
}

/** Appends the times of this process, or of a process that it started, to the file that `npm run test:times` names. Linux only. */
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

/** Returns the CPU seconds of a process and of its ended child processes. */
function readCpuSeconds(pid: number | 'self') {
  // The program name, in brackets, can contain any character.
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?=[A-Z] )/)
  return fields
    .split(' ')
    .slice(11, 15)
    .reduce((sum, ticks) => sum + Number(ticks) / 100, 0)
}
