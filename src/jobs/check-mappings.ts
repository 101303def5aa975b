import { findConnection } from '../store/ecommerce/connections.ts'
import { mapExactMatches } from '../store/mappings/automatic-fixes.ts'
import { checkMappings } from '../store/mappings/check-all.ts'
import type { ServiceJobRun } from './job.ts'

/** The check is repeated because sales and stock change, and new records get mapped. */
const intervalSeconds = 6 * 3_600

/**
 * Checks the mappings of a service: after an import of a platform file or a sync of the platform, and every 6 hours after that. Then maps
 * exact matches, if the connection's `autoMapping` permits it. If the process dies, the job runs again from the beginning, which is harmless
 * because unchanged issues are not rewritten.
 */
export async function checkMappingsRegularly(work: ServiceJobRun): Promise<void> {
  const { db, keys, log, service, signal, reschedule } = work
  await checkMappings(db, service, { signal, isThrottled: true })
  const connection = await findConnection(db, keys, service)
  if (connection?.settings.autoMapping === 'exact') {
    const fixed = await mapExactMatches(db, service, signal)
    if (fixed) log.info({ service: service.name, fixed }, 'mapped exact matches')
  }
  reschedule(intervalSeconds)
}
