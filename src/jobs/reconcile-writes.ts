import type { BackOffices } from '../backoffice/back-offices.ts'
import { settle, type WriteOperations } from '../http/routing/recover-writes.ts'
import { readService } from '../store/tenancy/services.ts'
import { endIntent, takeLeft } from '../store/writes/intents.ts'
import type { Job } from './job.ts'

/** Recovers writes whose outcome is unknown, because the process died or the back office's response was lost. */
export const settleWrites = (offices: BackOffices, writes: WriteOperations): Job => ({
  intervalSeconds: 5,
  concurrency: 2,
  retryDelaysSeconds: [5, 30],
  async run({ db, keys, log, signal }) {
    const gate = { db, keys, backOffice: offices.of, driver: offices.driverOf }
    for (;;) {
      const left = signal.aborted ? undefined : await takeLeft(db, keys)
      if (!left) return
      const service = await readService(db, left.serviceId)
      if (!service) continue
      if (!offices.driverOf(service).isOurs) await settle({ gate, writes, log }, service, left)
      else {
        // The one that was asked is gone; our own tables know nothing of it.
        await db.transaction(tx => endIntent(tx, service, left))
        log.warn({ service: service.name }, 'A write was left open at a back office that the service no longer has.')
      }
    }
  },
})
