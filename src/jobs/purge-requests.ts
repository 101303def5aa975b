import { purgeRequestDays } from '../store/request-log/requests.ts'
import { purgeCallMinutes } from '../store/stats/back-office-calls.ts'
import { listServices } from '../store/tenancy/services.ts'
import type { JobRun } from './job.ts'

/**
 * Deletes requests that are older than `requestLogRetentionDays`, and statistics of back-office calls that no chart shows. Running it twice
 * is harmless.
 */
export async function purgeRequests({ db, log, signal }: JobRun): Promise<void> {
  const days = await purgeRequestDays(db, await listServices(db), () => signal.aborted)
  await purgeCallMinutes(db)
  if (days) log.info({ days }, 'request log days purged')
}
