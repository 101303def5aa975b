import { readFileSync } from 'node:fs'
import { listChildPids, readThreadFiles } from './children.ts'

// CPU and memory of processes, read from Linux's /proc. On other systems, all values are NaN.

const ticksPerSecond = 100

function readCpuTimes(pid: number) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The process name before it can contain any character.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [own = 0, system = 0, ended = 0, endedSystem = 0] = [11, 12, 13, 14].map(i => fields[i])
  return { own: (own + system) / ticksPerSecond, ended: (ended + endedSystem) / ticksPerSecond }
}

/** CPU seconds of all threads, with nanosecond resolution. */
const readThreadCpuSeconds = (pid: number) =>
  readThreadFiles(pid, 'schedstat').reduce((sum, used) => sum + Number.parseInt(used || '0', 10) / 1e9, 0)

/** Returns the CPU seconds of a process and its children, including those that have ended. NaN if the process has ended. */
export const readCpuSeconds = (pid: number): number => attempt(() => sumCpuSeconds(pid)) ?? Number.NaN

function sumCpuSeconds(pid: number): number {
  const { own, ended } = readCpuTimes(pid)
  // Ticks are rounded to 10 ms, and the sum over threads lacks threads that have ended, so take the larger value.
  const used = Math.max(own, attempt(() => readThreadCpuSeconds(pid)) ?? 0) + ended
  return listChildPids(pid).reduce((sum, child) => sum + (attempt(() => sumCpuSeconds(child)) ?? 0), used)
}

/** Returns the milliseconds that the main thread of a process has worked, and has waited for a CPU core. */
export function readMainThread(pid: number) {
  const text = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')
  const [worked = 0, waited = 0] = text.split(' ').map(nanoseconds => Number(nanoseconds) / 1e6)
  return { worked, waited }
}

/** Returns the resident memory of a process in MB: current (`now`) and peak. NaN if the process has ended. */
export function readMemory(pid: number) {
  const text = attempt(() => readFileSync(`/proc/${pid}/status`, 'utf8')) ?? ''
  const megabytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1_024
  return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') }
}

/** Returns the memory of a process and its children in MB. Shared pages count once. */
export const readTotalMemory = (pid: number) =>
  [pid, ...(attempt(() => listChildPids(pid)) ?? [])].reduce((sum, id) => {
    const text = attempt(() => readFileSync(`/proc/${id}/smaps_rollup`, 'utf8'))
    return sum + Number(/^Pss:\s+(\d+) kB/m.exec(text ?? '')?.[1]) / 1_024
  }, 0)

/** Returns the result of `read`, or undefined if it throws, because the process has ended. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return
  }
}
