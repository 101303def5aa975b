import { listServices } from '../services.ts'
import { forgetCalls } from '../store/running/calls.ts'
import { forgetRequests as forget } from '../store/running/requests.ts'
import type { Work } from './job.ts'

/**
 * Forgets requests that are older than services keep them (setting `requestsKeptDays`), and calls that nobody charts any more. Done twice,
 * it finds nothing more.
 */
export async function forgetRequests({ db, log, signal }: Work): Promise<void> {
  const days = await forget(db, await listServices(db), () => signal.aborted)
  await forgetCalls(db)
  if (days) log.info({ days }, 'Days of the log of requests were dropped.')
}
