import type { Keys } from '../../crypto/keys.ts'
import { type Database, type Db, raw, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { beginChange, bodyOf } from '../lists/change-timestamp.ts'
import { removeRecords } from '../lists/tombstones.ts'
import { emptyAddress } from '../orders/place.ts'
import { eraseBuyer, isSoldWithOrders } from '../vouchers/persons.ts'
import { deleteResponsesAbout } from '../writes/idempotency.ts'

/** Erases a batch of an erased customer's data in one transaction. Returns the number of changed rows. */
type EraseBatch = (tx: Db, keys: Keys, service: Service, id: string) => Promise<number>

const maxOrders = 100
const maxRows = 1_000

/** Customer and addresses of orders, notes of returns, and references of payments. */
const eraseOrders: EraseBatch = async (tx, keys, service, id) => {
  const ofService = sql`service_id = ${service.id}`
  const rows = await tx.rows<{ id: string; number: string }>(sql`
    select id, order_number as number from sales_order where ${ofService} and customer_id = ${id} order by placed_at, id limit ${maxOrders} for update`)
  if (!rows.length) return 0
  const ids = rows.map(row => row.id)
  const change = await beginChange(tx, service, ['sales_order', 'sales_return', 'shipment'])
  await eraseBuyer(tx, service, isSoldWithOrders(rows.map(({ number }) => number)))
  await tx.run(
    sql`update order_payment set reference = null where ${ofService} and order_id = any(${ids}) and reference is not null`,
  )
  await tx.run(
    sql`update return_line set notes = null where ${ofService} and order_id = any(${ids}) and notes is not null`,
  )
  // A carrier's page shows the address of a parcel.
  await tx.run(sql`
    update shipment set (tracking_number, tracking_url, source_key, changed_at) = (null, null, id, ${change.at})
     where ${ofService} and order_id = any(${ids}) and (tracking_number is not null or tracking_url is not null)`)
  const returns = await tx.rows<{ id: string }>(
    sql`update sales_return set changed_at = ${change.at} where ${ofService} and order_id = any(${ids}) returning id`,
  )
  const paths = [...ids.map(order => `/orders/${order}`), ...returns.map(returned => `/returns/${returned.id}`)]
  await deleteResponsesAbout(tx, keys, service, paths)
  return tx.run(sql`
    update sales_order
       set customer_id = null, billing_address = ${emptyAddress}::json, delivery_address = ${emptyAddress}::json, changed_at = ${change.at},
           import_digest = case when import_digest is not null then ''::bytea end
     where ${ofService} and id = any(${ids})`)
}

/** The JSON of tracking: a carrier's page shows the address. A quotation mark inside a value has a backslash before it. */
const tracking = String.raw`,"tracking(Number|Url)":"([^"\\]|\\.)*"`

/** The customer and the tracking of retail transactions. */
const eraseSales: EraseBatch = async (tx, _, service, id) => {
  const rows = await tx.rows<{ id: string }>(sql`
    select id from retail_transaction where service_id = ${service.id} and customer_id = ${id} order by sale_date, id limit ${maxRows} for update`)
  if (!rows.length) return 0
  const change = await beginChange(tx, service, ['retail_transaction'])
  const customerField = sql`'"customerId":' || to_json(${id}::text)::text`
  return tx.run(sql`
    update retail_transaction
       set customer_id = null, changed_at = ${change.at}, record = ${bodyOf(sql`regexp_replace(replace(record, ${customerField}, '"customerId":null'), ${tracking}, '', 'g')`)} || ${change.closing}
     where service_id = ${service.id} and id = any(${rows.map(row => row.id)})`)
}

/** The reward account: first its redemptions, entries and lots, then the account. */
const eraseRewards: EraseBatch = async (tx, _, service, id) => {
  const account = await tx.row<{ id: string }>(
    sql`select id from reward_account where service_id = ${service.id} and customer_id = ${id} for update`,
  )
  if (!account) return 0
  for (const table of ['reward_redemption', 'reward_entry', 'reward_lot']) {
    const deleted = await tx.run(sql`
      delete from ${raw(table)} where ctid = any(array(
        select ctid from ${raw(table)} where service_id = ${service.id} and account_id = ${account.id} limit ${maxRows}))`)
    if (deleted) return deleted
  }
  const change = await beginChange(tx, service, ['reward_account'])
  return removeRecords(tx, service, change, { list: 'reward_account', id: sql`id`, where: sql`id = ${account.id}` })
}

/** Sales of vouchers by an earlier back office, and the stored response of the customer's creation. */
const eraseOtherRows: EraseBatch = async (tx, keys, service, id) => {
  await deleteResponsesAbout(tx, keys, service, [`/customers/${encodeURIComponent(id)}`])
  return tx.run(sql`
    update upstream_voucher_sale set customer_id = null where service_id = ${service.id} and customer_id = ${id}`)
}

/** Orders first, because sales are created from orders. */
const batches = [eraseOrders, eraseSales, eraseRewards, eraseOtherRows]

/**
 * Erases everything that names an erased customer, in batches with short locks. If it is interrupted, the next run continues. A second run
 * finds nothing.
 */
export async function eraseRemainingData(
  db: Database,
  keys: Keys,
  service: Service,
  id: string,
  signal?: AbortSignal,
): Promise<void> {
  for (const eraseBatch of batches)
    while (await db.transaction(tx => eraseBatch(tx, keys, service, id))) signal?.throwIfAborted()
  await db.run(sql`
    update erasure set completed_at = now() where service_id = ${service.id} and customer_id = ${id} and completed_at is null`)
}
