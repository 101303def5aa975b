import { type Database, type Db, type Sql, sql } from '../../database/db.ts'
import type { OpenOrder, SyncRows } from '../../domain/sync/port.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { beginChange, type Upserted } from '../lists/change-timestamp.ts'
import { touchOrder, updateProcessingLines } from '../orders/lines.ts'
import { updateEachOrder } from '../orders/update-each-order.ts'

/** Finds open orders (`OpenOrder`) that are due, sorted by customer. Orders without a change for 90 days are ignored. */
export const findOpenOrders = (db: Db, service: Service, { sync, areAllDue }: { sync: string; areAllDue: boolean }) =>
  findOpenOrdersWhere(
    db,
    service,
    sql`o.changed_at > now() - interval '90 days'
        and (${areAllDue} or coalesce((select v.refreshed_at < now() - ${pollInterval}
                                         from sync_refresh v where v.service_id = o.service_id and v.sync = ${sync} and v.id = o.customer_id), true))`,
  )

/** Selects the shipments of an order line `l`. */
const shipmentOfLine = sql`
  select from shipment s, json_array_elements(s.lines) content
   where s.service_id = l.service_id and s.order_id = l.order_id and (content->>'orderSequence')::integer = l.sequence`

/** True if an order line `l` is not complete: it is in process, or its shipment isn't known yet. */
const isLinePending = sql`(l.status = 'processing' or (l.status in ('shipped', 'returned') and not exists (${shipmentOfLine})))`

/**
 * SQL for the time between two polls of an order `o`. An order that has changed lately is polled in each run. An order that has shipped
 * completely is polled once an hour, because its parcels can still be split.
 */
const pollInterval = sql`case when not exists (select from order_line l where l.service_id = o.service_id and l.order_id = o.id and ${isLinePending}) then interval '1 hour'
                              when o.changed_at > now() - interval '6 hours' then interval '0'
                              when o.changed_at > now() - interval '2 days' then interval '5 minutes'
                              when o.changed_at > now() - interval '14 days' then interval '15 minutes'
                              else interval '1 hour' end`

/** Finds these orders if they are open (`OpenOrder`), whether they are due or not. */
export const findOpenOrdersById = (db: Db, service: Service, ids: readonly string[]) =>
  findOpenOrdersWhere(db, service, sql`o.id = any(${ids})`)

/** The tracking numbers of the shipments of an order `o`. Null if it has no shipment. */
const trackingNumbers = sql`
  select json_agg(s.tracking_number order by s.id) from shipment s where s.service_id = o.service_id and s.order_id = o.id`

const findOpenOrdersWhere = (db: Db, service: Service, condition: Sql) =>
  db.rows<OpenOrder>(sql`
    select o.id, o.customer_id as "customerId", (${trackingNumbers}) as "trackingNumbers",
           json_agg(json_build_object('sequence', l.sequence, 'skuId', l.sku_id, 'quantity', l.quantity, 'isOpen', l.status = 'processing') order by l.sequence) as lines
      from sales_order o join order_line l on l.service_id = o.service_id and l.order_id = o.id
     where o.service_id = ${service.id} and o.customer_id is not null and ${condition}
     group by o.service_id, o.id having bool_or(l.status = 'processing')
        or (o.changed_at > now() - interval '3 days' and bool_or(l.status in ('shipped', 'returned')))
     order by o.customer_id, o.id`)

/** Updates the status of order lines, one order per transaction. */
export const updateOrders = (db: Database, service: Service, rows: readonly SyncRows['orders'][]): Promise<Upserted> =>
  updateEachOrder(db, service, rows, async (tx, order, { steps }) => {
    const change = await beginChange(tx, service, ['sales_order'])
    const lines = await updateProcessingLines(tx, service, order, steps)
    if (lines) await touchOrder(tx, service, order, change)
    return Math.min(1, lines)
  })
