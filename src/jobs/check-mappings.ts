import { judgeMappings } from '../store/mappings/check-all.ts'
import type { ServiceJobRun } from './job.ts'

/** Sales and stock move, and what was new has been mapped since. */
const againSeconds = 6 * 3_600

/**
 * Judges the mappings of a service: asked for by a file of what the e-commerce platform has, and from then on again and again. Where it is
 * killed it is done anew, and finds again what it had found.
 */
export async function judgeMappingsAgain({ db, service, signal, reschedule }: ServiceJobRun): Promise<void> {
  await judgeMappings(db, service, { signal, isPatient: true })
  reschedule(againSeconds)
}
