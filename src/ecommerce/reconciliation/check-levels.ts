import type { Keys } from '../../crypto/keys.ts'
import type { Database } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { raiseAlert } from '../../store/alerts/alerts.ts'
import { findOrdersOfItems } from '../../store/ecommerce/commitments.ts'
import { endEvents, listOpenEvents } from '../../store/ecommerce/events.ts'
import { compareLevelsOfItems } from '../../store/ecommerce/reconciliations.ts'
import { readDatabaseTime } from '../../store/lists/change-timestamp.ts'
import { openPlatform } from '../connections.ts'
import type { CallLog } from '../port/platform.ts'
import { confirmOrders } from '../stock-push/confirm.ts'
import { driftAlert, recordAuthors } from './drift.ts'

/**
 * Reads the levels that events named, and compares them with our record. An event never changes a quantity: a read by ID decides. Returns
 * the number of comparisons that found drift.
 */
export async function checkLevels(
  db: Database,
  keys: Keys,
  service: Service,
  log: CallLog,
  signal: AbortSignal,
): Promise<number> {
  const opened = await openPlatform(db, keys, service, log)
  if (!opened) return 0
  const { inventory } = opened.platform
  let drifts = 0
  for (;;) {
    const events = await listOpenEvents(db, service, 'stock', inventory.limits.items)
    if (!events.length) return drifts
    const eventIds = events.map(({ id }) => id)
    // Without a push, there is no record to compare with. The first comparison reads everything.
    if (opened.settings.stockPush !== 'on') {
      await endEvents(db, service, eventIds)
      continue
    }
    const itemIds = [...new Set(events.map(({ subjectId }) => subjectId))]
    // Units that were fulfilled must not look like drift.
    const orders = await findOrdersOfItems(db, service, itemIds)
    for (let at = 0; at < orders.length; at += inventory.limits.orders)
      await confirmOrders(db, service, inventory, orders.slice(at, at + inventory.limits.orders), signal)
    const startedAt = await readDatabaseTime(db)
    const levels = await inventory.readLevels(itemIds, signal)
    const reconciliationId = await db.transaction(async tx => {
      const reconciliation = await compareLevelsOfItems(tx, service, startedAt, { itemIds, levels })
      await endEvents(tx, service, eventIds)
      return reconciliation
    })
    if (reconciliationId === undefined) continue
    drifts++
    await raiseAlert(db, service.id, { ...driftAlert, detail: 'An event of the platform reported it.' })
    await recordAuthors(db, service, inventory, reconciliationId, log, signal)
  }
}
