import { listServices } from '../accounts.ts'
import { forgetRequests as forget } from '../store/running/requests.ts'
import type { Work } from './job.ts'

/** Forgets requests that are older than services keep them (setting `requestsKeptDays`). Done twice, it finds nothing more. */
export async function forgetRequests({ db, log }: Work): Promise<void> {
  const days = await forget(db, await listServices(db))
  if (days) log.info({ days }, 'Days of the log of requests were dropped.')
}
