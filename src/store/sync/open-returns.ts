import { type Database, type Db, sql } from '../../database/db.ts'
import { findCancelledLines } from '../../domain/orders/return-rules.ts'
import { findReturnPath } from '../../domain/orders/transitions.ts'
import type { OpenReturn, SyncRows } from '../../domain/sync/port.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { raiseAlert } from '../alerts/alerts.ts'
import { addJob } from '../jobs/jobs.ts'
import { beginChange, type Upserted } from '../lists/change-timestamp.ts'
import { touchOrder } from '../orders/lines.ts'
import {
  cancelReturnLines,
  findStoredReturn,
  findStoredReturnLines,
  setReturnStatus,
  subtractReturnLines,
} from '../orders/returns.ts'
import { updateEachOrder } from '../orders/update-each-order.ts'

/**
 * Returns the returns that are neither refunded nor cancelled, least recently polled first, so that a run continues where an interrupted
 * one ended. Omits those without a change for a year.
 */
export const findOpenReturns = (db: Db, service: Service) =>
  db.rows<OpenReturn>(sql`
    select r.id, r.back_office_id as "backOfficeId", r.order_id as "orderId", o.customer_id as "customerId", r.status, r.back_office_status as word
      from sales_return r join sales_order o on o.service_id = r.service_id and o.id = r.order_id
     where r.service_id = ${service.id} and r.status in ('requested', 'received') and r.changed_at > now() - interval '1 year'
       and r.back_office_id is not null and o.customer_id is not null
     order by r.polled_at nulls first, r.order_id, r.id`)

/** Records that the status of a return was requested. */
export const recordPolledReturn = (db: Db, service: Service, id: string) =>
  db.run(sql`update sales_return set polled_at = clock_timestamp() where service_id = ${service.id} and id = ${id}`)

/**
 * Applies the status of returns in the back office, one transaction per return. A status is never taken back. Single cancelled lines leave
 * the return. A word that the driver doesn't know is stored and raises an alert once; the return keeps its status.
 */
export const updateReturns = (
  db: Database,
  service: Service,
  rows: readonly SyncRows['returns'][],
): Promise<Upserted> =>
  updateEachOrder(db, service, rows, async (tx, order, { returnId, orderId, status, word, lines }) => {
    const stored = await findStoredReturn(tx, service, { id: returnId })
    if (!stored) return 0
    const isNewWord = await tx.run(sql`
        update sales_return set back_office_status = ${word}
         where service_id = ${service.id} and id = ${returnId} and back_office_status is distinct from ${word}`)
    if (status === null && isNewWord)
      await raiseAlert(tx, service.id, {
        kind: 'unknown_return_status',
        subject: word,
        detail: `Return ${stored.number} has the status ${word} in the back office.`,
      })
    const path = status === null ? [] : findReturnPath(stored.status, status)
    const cancelledLines =
      status !== 'cancelled' && lines.some(line => line.isCancelled)
        ? findCancelledLines(await findStoredReturnLines(tx, service, returnId), lines)
        : []
    if (!path.length && !cancelledLines.length) return 0
    const change = await beginChange(tx, service, ['sales_order', 'sales_return'])
    if (cancelledLines.length) await cancelReturnLines(tx, service, returnId, cancelledLines, change.at)
    let hasReturnedLines = false
    for (const next of path)
      hasReturnedLines = (await setReturnStatus(tx, service, returnId, next, change.at)) > 0 || hasReturnedLines
    if (status === 'cancelled') await subtractReturnLines(tx, service, returnId)
    else if (path.length) await addJob(tx, service.id, 'refresh-stock', { subject: orderId })
    if (status === 'cancelled' || cancelledLines.length || hasReturnedLines)
      await touchOrder(tx, service, order, change)
    return 1
  })
