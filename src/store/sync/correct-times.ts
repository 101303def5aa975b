import { type Db, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { beginChange, localTime, timestampValueLength } from '../lists/change-timestamp.ts'
import { opaqueServiceId } from '../lists/planner-fences.ts'

/** The time zone in which the times of a back office were read, and the time zone in which they really are. */
interface ZoneCorrection {
  from: string
  to: string
}

/**
 * Corrects the times that were read from a back office in another time zone.
 * - A record has such a time if its change timestamp is the time of its source. Other records keep theirs: it is Tillbridge's own.
 * - The newest records of a list keep their change timestamp, so that no later change can get one that clients have already passed.
 * - Corrected records move within their list, so cursors from before expire. Orders and shipments are published as changes.
 */
export async function correctTimes(tx: Db, service: Service, { from, to }: ZoneCorrection): Promise<void> {
  const { timeZone } = service.settings
  const change = await beginChange(tx, service, ['product', 'stock', 'customer', 'sales_order', 'shipment'])
  const ownService = sql`service_id = ${opaqueServiceId(service)}`
  const correct = (time: Sql) => sql`(${time} at time zone ${from} at time zone ${to})`
  /** The corrected change timestamp, which is never in the future. */
  const next = (time: Sql) => sql`least(${correct(time)}, date_trunc('second', ${change.at}::timestamptz))`
  const toLocal = (time: Sql) => sql`(${time} at time zone ${timeZone})`
  const changedAt = sql`changed_at`
  /** The record with the corrected change timestamp. `endLength`: the number of characters after the timestamp. */
  const rendered = (endLength: number) => sql`
    left(record, ${-(timestampValueLength + endLength)}::integer) || format('"%s"', ${localTime(next(changedAt), service)}) || right(record, ${endLength}::integer)`

  const isOlderProduct = sql`p.${ownService} and p.changed_at < (select max(changed_at) from product where ${ownService})`
  await tx.run(sql`select from product where ${ownService} order by product_id for no key update`)
  await tx.run(sql`
    update variant v set source_changed_at = ${toLocal(next(sql`p.changed_at`))}
      from product p
     where v.${ownService} and ${isOlderProduct} and p.product_id = v.product_id and p.changed_at = v.source_changed_at at time zone ${timeZone}`)
  await tx.run(sql`
    update product p set changed_at = ${next(changedAt)}, record = ${rendered(1)}
     where ${isOlderProduct}
       and exists (select from variant v where v.${ownService} and v.product_id = p.product_id and v.source_changed_at = ${toLocal(next(sql`p.changed_at`))})`)
  const hasSourceTime = (table: Sql) => sql`
    ${ownService} and changed_at = source_changed_at at time zone ${timeZone} and changed_at < (select max(changed_at) from ${table} where ${ownService})`
  const contentTime = toLocal(next(changedAt))
  await tx.run(sql`
    update stock set changed_at = ${next(changedAt)}, source_changed_at = ${contentTime}, record = ${rendered(1)} where ${hasSourceTime(sql`stock`)}`)
  const flagTime = (column: Sql) => sql`case when ${column} = source_changed_at then ${contentTime} else ${column} end`
  await tx.run(sql`
    update customer
       set changed_at = ${next(changedAt)}, source_changed_at = ${contentTime}, record = ${rendered(0)},
           privacy_changed_at = ${flagTime(sql`privacy_changed_at`)},
           email_subscription_changed_at = ${flagTime(sql`email_subscription_changed_at`)},
           sms_subscription_changed_at = ${flagTime(sql`sms_subscription_changed_at`)}
     where ${hasSourceTime(sql`customer`)}`)

  // The back office's times have no fractions of seconds, and Tillbridge's own have.
  const isWholeSecond = (time: Sql) => sql`${time} = date_trunc('second', ${time})`
  const toKey = (time: Sql) => sql`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`
  await tx.run(sql`
    update sales_order set placed_at = ${correct(sql`placed_at`)}, changed_at = ${change.at}
     where ${ownService} and imported_at is null and ${isWholeSecond(sql`placed_at`)}`)
  await tx.run(sql`
    update shipment
       set shipped_at = ${correct(sql`shipped_at`)}, changed_at = ${change.at},
           source_key = replace(source_key, ${toKey(sql`shipped_at`)}, ${toKey(correct(sql`shipped_at`))})
     where ${ownService} and ${isWholeSecond(sql`shipped_at`)}`)
  await tx.run(sql`update service set restored_at = clock_timestamp() where service_id = ${service.id}`)
}
