import type { Database, Db } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { Upserted } from '../lists/change-timestamp.ts'
import { type LockedOrder, lockOrder } from './orders.ts'

/**
 * Applies rows of a sync to their orders, one transaction per row, so that no order stays locked for long. Skips orders that don't exist.
 * `update` returns the number of changed records.
 */
export async function updateEachOrder<Row extends { orderId: string }>(
  db: Database,
  service: Service,
  rows: readonly Row[],
  update: (tx: Db, order: LockedOrder, row: Row) => Promise<number>,
): Promise<Upserted> {
  let changed = 0
  for (const row of rows)
    changed += await db.transaction(async tx => {
      const order = await lockOrder(tx, service, { id: row.orderId })
      return order ? update(tx, order, row) : 0
    })
  return { inserted: 0, changed }
}
