import { listEnding, listServices } from '../accounts.ts'
import { forgetCalls } from '../store/running/calls.ts'
import { forgetRequests as forget } from '../store/running/requests.ts'
import type { Work } from './job.ts'

/**
 * Forgets requests that are older than services keep them (setting `requestsKeptDays`), and calls that nobody charts any more; a service that is shut may be opened again. Done
 * twice, it finds nothing more.
 */
export async function forgetRequests({ db, log, signal }: Work): Promise<void> {
  const ending = (await listEnding(db)).map(({ service }) => service)
  const days = await forget(db, [...(await listServices(db)), ...ending], () => signal.aborted)
  await forgetCalls(db)
  if (days) log.info({ days }, 'Days of the log of requests were dropped.')
}
