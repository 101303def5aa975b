import { childrenOf } from './children.ts'

/** Stops all processes of PostgreSQL (SIGSTOP) while `work` runs. */
export async function haltPostgresWhile<T>(pid: number, work: () => Promise<T>): Promise<T> {
  const processes = [pid, ...childrenOf(pid)]
  try {
    for (const each of processes) process.kill(each, 'SIGSTOP')
    return await work()
  } finally {
    for (const each of processes.toReversed()) process.kill(each, 'SIGCONT')
  }
}
