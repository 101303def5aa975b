import { type Db, sql } from '../../database/db.ts'
import type { Refund } from '../../domain/orders/refunds.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { type Change, localTime } from '../lists/change-timestamp.ts'
import { jsonArray, type LockedOrder, selectOrderId } from './orders.ts'

/** A cancellation, as its order stores it. A null `username` is Tillbridge itself. */
interface Cancellation {
  username: string | null
  apiKey: string | null
  lines: { sku: string; quantity: number }[]
  refund: Refund
}

/** Adds a cancellation to a locked order, which gets the change timestamp. The list is short: at most one entry per unit. */
export const addCancellation = (
  tx: Db,
  service: Service,
  { id }: LockedOrder,
  { at }: Change,
  cancellation: Cancellation,
) =>
  tx.run(sql`
    update sales_order
       set changed_at = ${at}, cancellations = (cancellations::jsonb || (${JSON.stringify(cancellation)}::jsonb || jsonb_build_object('at', ${at}::timestamptz)))::json
     where service_id = ${service.id} and id = ${id}`)

/** Returns the cancellations of an order as a JSON array, oldest first. Returns undefined if the order does not exist. */
export const readCancellations = async (db: Db, service: Service, idOrNumber: string): Promise<string | undefined> =>
  (
    await db.row<{ records: string }>(sql`
      select ${jsonArray(sql`
        select ${localTime(sql`(stored->>'at')::timestamptz`, service)} as at, stored->'username' as username, stored->'apiKey' as "apiKey", stored->'lines' as lines, stored->'refund' as refund
          from json_array_elements(o.cancellations) with ordinality as list (stored, position) order by position`)}::text as records
        from sales_order o where service_id = ${service.id} and id = (${selectOrderId(service, { idOrNumber })})`)
  )?.records
