import { listChildPids } from './children.ts'

/** Stops all processes of PostgreSQL (SIGSTOP) while `work` runs. */
export async function haltPostgresWhile<T>(pid: number, work: () => Promise<T>): Promise<T> {
  const processes = [pid, ...listChildPids(pid)]
  try {
    for (const stoppedPid of processes) process.kill(stoppedPid, 'SIGSTOP')
    return await work()
  } finally {
    for (const stoppedPid of processes.toReversed()) process.kill(stoppedPid, 'SIGCONT')
  }
}
