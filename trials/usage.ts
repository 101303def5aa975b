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
  const [parent = 0, own = 0, system = 0, ended = 0, endedSystem = 0] = [1, 11, 12, 13, 14].map(i => fields[i])
  return { parent, own: (own + system) / ticksPerSecond, ended: (ended + endedSystem) / ticksPerSecond }
}

const children = (pid: number) =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(child => attempt(() => stat(child).parent === pid))

/** Seconds of CPU of a process with its children, those that have ended too. */
export const cpuSeconds = (pid: number): number => attempt(() => cpuOf(pid)) ?? Number.NaN

function cpuOf(pid: number): number {
  const { own, ended } = stat(pid)
  return children(pid).reduce((sum, child) => sum + (attempt(() => cpuOf(child)) ?? 0), own + ended)
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
