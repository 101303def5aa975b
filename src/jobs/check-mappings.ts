import { checkMappings } from '../store/mappings/check-all.ts'
import type { ServiceJobRun } from './job.ts'

/** Sales and stock change, and new records get mapped. */
const intervalSeconds = 6 * 3_600

/**
 * Checks the mappings of a service: after an import of a platform file, and every 6 hours after that. If the process dies, the job runs
 * again from the beginning, which is harmless: unchanged issues are not rewritten.
 */
export async function checkMappingsRegularly({ db, service, signal, reschedule }: ServiceJobRun): Promise<void> {
  await checkMappings(db, service, { signal, isThrottled: true })
  reschedule(intervalSeconds)
}
