import { childrenOf } from '../support/children.ts'

/** Has all of PostgreSQL stand still for as long as the work takes. */
export async function halting<T>(pid: number, work: () => Promise<T>): Promise<T> {
  const processes = [pid, ...childrenOf(pid)]
  try {
    for (const each of processes) process.kill(each, 'SIGSTOP')
    return await work()
  } finally {
    for (const each of processes.toReversed()) process.kill(each, 'SIGCONT')
  }
}
