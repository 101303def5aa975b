import { readdirSync, readFileSync } from 'node:fs'

/** What processes have used so far, told by Linux's /proc; elsewhere nothing is known. */
const ticksPerSecond = 100

function stat(pid: number) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name before it may hold anything.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [own = 0, system = 0, ended = 0, endedSystem = 0] = [11, 12, 13, 14].map(i => fields[i])
  return { own: (own + system) / ticksPerSecond, ended: (ended + endedSystem) / ticksPerSecond }
}

/** What a file says of each thread of a process that lives. */
const ofThreads = (pid: number, file: string) =>
  readdirSync(`/proc/${pid}/task`).map(
    thread => attempt(() => readFileSync(`/proc/${pid}/task/${thread}/${file}`, 'utf8')) ?? '',
  )

const children = (pid: number) =>
  ofThreads(pid, 'children')
    .flatMap(some => some.split(' '))
    .filter(Boolean)
    .map(Number)

/** Seconds, to the nanosecond. */
const secondsOfThreads = (pid: number) =>
  ofThreads(pid, 'schedstat').reduce((sum, used) => sum + Number.parseInt(used || '0', 10) / 1e9, 0)

/** Seconds of CPU of a process with its children, those that have ended too. */
export const cpuSeconds = (pid: number): number => attempt(() => cpuOf(pid)) ?? Number.NaN

function cpuOf(pid: number): number {
  const { own, ended } = stat(pid)
  // What ticks round off is a percent of a second; what threads tell lacks those that have ended.
  const used = Math.max(own, attempt(() => secondsOfThreads(pid)) ?? 0) + ended
  return children(pid).reduce((sum, child) => sum + (attempt(() => cpuOf(child)) ?? 0), used)
}

/** Resident memory in MB: now, and at most until now. */
export function memory(pid: number) {
  const text = attempt(() => readFileSync(`/proc/${pid}/status`, 'utf8')) ?? ''
  const megabytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1_024
  return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') }
}

/** Memory of a process and its children in MB, what they share counted once. */
export const memoryOfAll = (pid: number) =>
  [pid, ...(attempt(() => children(pid)) ?? [])].reduce((sum, one) => {
    const text = attempt(() => readFileSync(`/proc/${one}/smaps_rollup`, 'utf8'))
    return sum + Number(/^Pss:\s+(\d+) kB/m.exec(text ?? '')?.[1]) / 1_024
  }, 0)

/** Undefined where a process has gone in between. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return
  }
}
