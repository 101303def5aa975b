import { readConfig } from '../../config/config.ts'
import type { Keys } from '../../crypto/keys.ts'
import type { Database } from '../../database/db.ts'
import { PlatformFailure } from '../../domain/ecommerce/platform-failure.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { reconcileStock } from '../../ecommerce/reconciliation/reconcile.ts'
import { openConfiguredBackOffices } from '../../runtime/app.ts'
import { approvePush, pushStockJob } from '../../store/ecommerce/push-state.ts'
import { addJob } from '../../store/jobs/jobs.ts'
import { recordCommand } from '../terminal/audit.ts'
import { createQuietLog } from '../terminal/session.ts'
import { stopBySignal } from '../terminal/stop.ts'
import { formatTable } from '../terminal/table.ts'

/** Compares stock now and prints the result. `isApproved`: lets the push set the differences, even if it was stopped. */
export async function reconcileNow(db: Database, keys: Keys, service: Service, isApproved: boolean): Promise<void> {
  const log = createQuietLog()
  const stop = stopBySignal()
  const offices = await openConfiguredBackOffices(readConfig(), keys, db, log)
  try {
    const { isEmbedded } = offices.getDriver(service)
    const result = await reconcileStock(db, keys, service, log, { signal: stop.signal, isEmbedded }).catch(error => {
      throw error instanceof PlatformFailure ? new Error(`${error.message} (${error.kind})`) : error
    })
    if (!result) throw new Error('Another command has removed the connection.')
    const { counts, differences, isDryRun } = result
    console.log(
      formatTable(
        ['levels', 'count'],
        Object.entries(counts).map(([name, count]) => [name, String(count)]),
      ),
    )
    if (differences.length)
      console.log(
        formatTable(
          ['sku', 'location', 'on hand', 'desired'],
          differences.map(({ sku, locationId, knownOnHand, desiredOnHand }) => [
            sku ?? '-',
            locationId,
            knownOnHand === null ? 'not stocked' : String(knownOnHand),
            String(desiredOnHand),
          ]),
        ),
      )
    if (isDryRun)
      console.log(`Dry run: nothing was set. To start: tillbridge ecommerce set ${service.name} stockPush=on`)
    else if (isApproved)
      await db.transaction(async tx => {
        await approvePush(tx, service)
        await addJob(tx, service.id, pushStockJob)
        await recordCommand(tx, service, { operation: 'ecommerce reconcile', subject: '/ecommerce', body: counts })
      })
  } finally {
    stop.end()
    offices.close()
  }
}
