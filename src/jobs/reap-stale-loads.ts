import { endDeadLoads } from '../store/lists/initial-load.ts'
import type { JobRun } from './job.ts'

/** Shows what first loads have brought that died; what is shown already is not found again. */
export async function endLoads({ db, log }: JobRun): Promise<void> {
  const ended = await endDeadLoads(db)
  if (ended) log.warn({ ended }, 'First loads of lists have died; what they had brought is shown.')
}
