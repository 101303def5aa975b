import { reapStaleLoads } from '../store/lists/initial-load.ts'
import type { JobRun } from './job.ts'

/** Ends initial loads whose loader has died, which makes their records visible. Idempotent. */
export async function reapStaleInitialLoads({ db, log }: JobRun): Promise<void> {
  const ended = await reapStaleLoads(db)
  if (ended) log.warn({ ended }, 'initial loads without a heartbeat ended, their records are visible')
}
