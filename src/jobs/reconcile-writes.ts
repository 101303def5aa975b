import type { BackOffices } from '../backoffice/back-offices.ts'
import type { RouteDefinition } from '../http/routing/route-definitions.ts'
import { createWriteRegistry } from '../http/routing/write-registry.ts'
import { readService } from '../store/tenancy/services.ts'
import { claimInDoubtWrite, endIntent } from '../store/writes/intents.ts'
import type { Sender } from '../webhooks/sender.ts'
import { recoverWrite } from '../writes/recover.ts'
import type { Job } from './job.ts'

/** Recovers writes whose outcome is unknown, because the process died or the back office's response was lost. */
export const reconcileWrites = (offices: BackOffices, routes: readonly RouteDefinition[], sender: Sender): Job => ({
  intervalSeconds: 5,
  concurrency: 2,
  retryDelaysSeconds: [5, 30],
  async run({ db, keys, log, signal }) {
    const registry = createWriteRegistry(routes, { keys, backOffice: offices.get, driver: offices.getDriver, sender })
    for (;;) {
      const remaining = signal.aborted ? undefined : await claimInDoubtWrite(db, keys)
      if (!remaining) return
      const service = await readService(db, remaining.serviceId)
      if (!service) continue
      if (!offices.getDriver(service).isEmbedded)
        await recoverWrite({ context: { db, keys }, registry, log }, service, remaining)
      else {
        // The service has changed to the embedded back office, which can't know a write to the previous one.
        await db.transaction(tx => endIntent(tx, service, remaining))
        log.warn(
          { service: service.name },
          'write in doubt discarded: the service no longer has an external back office',
        )
      }
    }
  },
})
