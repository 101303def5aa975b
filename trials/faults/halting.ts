import { readFileSync } from 'node:fs'

/** The numbers of PostgreSQL's process and all below it. */
export function processesOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number)
  return [pid, ...children]
}

/** Has all of PostgreSQL stand still for as long as the work takes. */
export async function halting<T>(pid: number, work: () => Promise<T>): Promise<T> {
  const processes = processesOf(pid)
  try {
    for (const each of processes) process.kill(each, 'SIGSTOP')
    return await work()
  } finally {
    for (const each of processes.toReversed()) process.kill(each, 'SIGCONT')
  }
}
