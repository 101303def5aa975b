import type { Keys } from '../../crypto/keys.ts'
import { type Database, type Db, raw, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { beginChange, bodyOf } from '../lists/change-timestamp.ts'
import { removeRecords } from '../lists/tombstones.ts'
import { noAddress } from '../orders/place.ts'
import { boughtWith, eraseBuyer } from '../vouchers/persons.ts'
import { forgetAnswersAbout } from '../writes/idempotency.ts'

/** Empties some of what names a customer who was erased, in one transaction; how much it was. */
type EraseBatch = (tx: Db, keys: Keys, service: Service, id: string) => Promise<number>

const ordersAtOnce = 100
const rowsAtOnce = 1_000

/** Whom an order is of and sent to, and the words of its returns and payments. */
const orders: EraseBatch = async (tx, keys, service, id) => {
  const mine = sql`service_id = ${service.id}`
  const rows = await tx.rows<{ id: string; number: string }>(sql`
    select id, order_number as number from sales_order where ${mine} and customer_id = ${id} order by placed_at, id limit ${ordersAtOnce} for update`)
  if (!rows.length) return 0
  const ids = rows.map(row => row.id)
  const change = await beginChange(tx, service, ['sales_order', 'sales_return'])
  await eraseBuyer(tx, service, boughtWith(rows.map(({ number }) => number)))
  await tx.run(
    sql`update order_payment set reference = null where ${mine} and order_id = any(${ids}) and reference is not null`,
  )
  await tx.run(sql`update return_line set notes = null where ${mine} and order_id = any(${ids}) and notes is not null`)
  const returns = await tx.rows<{ id: string }>(
    sql`update sales_return set changed_at = ${change.at} where ${mine} and order_id = any(${ids}) returning id`,
  )
  const paths = [...ids.map(order => `/orders/${order}`), ...returns.map(back => `/returns/${back.id}`)]
  await forgetAnswersAbout(tx, keys, service, paths)
  return tx.run(sql`
    update sales_order
       set customer_id = null, billing_address = ${noAddress}::json, delivery_address = ${noAddress}::json, changed_at = ${change.at},
           import_digest = case when import_digest is not null then ''::bytea end
     where ${mine} and id = any(${ids})`)
}

/** Who bought. */
const sales: EraseBatch = async (tx, _, service, id) => {
  const rows = await tx.rows<{ id: string }>(sql`
    select id from retail_transaction where service_id = ${service.id} and customer_id = ${id} order by sale_date, id limit ${rowsAtOnce} for update`)
  if (!rows.length) return 0
  const change = await beginChange(tx, service, ['retail_transaction'])
  const named = sql`'"customerId":' || to_json(${id}::text)::text`
  return tx.run(sql`
    update retail_transaction
       set customer_id = null, changed_at = ${change.at}, record = ${bodyOf(sql`replace(record, ${named}, '"customerId":null')`)} || ${change.closing}
     where service_id = ${service.id} and id = any(${rows.map(row => row.id)})`)
}

/** The reward account, from the ends: its entries, its lots, itself. */
const rewards: EraseBatch = async (tx, _, service, id) => {
  const account = await tx.row<{ id: string }>(
    sql`select id from reward_account where service_id = ${service.id} and customer_id = ${id} for update`,
  )
  if (!account) return 0
  for (const table of ['reward_entry', 'reward_lot']) {
    const some = await tx.run(sql`
      delete from ${raw(table)} where ctid = any(array(
        select ctid from ${raw(table)} where service_id = ${service.id} and account_id = ${account.id} limit ${rowsAtOnce}))`)
    if (some) return some
  }
  const change = await beginChange(tx, service, ['reward_account'])
  return removeRecords(tx, service, change, { list: 'reward_account', id: sql`id`, where: sql`id = ${account.id}` })
}

/** What a back office before this one has sold to them; and the first answer, which said who they are. */
const rest: EraseBatch = async (tx, keys, service, id) => {
  await forgetAnswersAbout(tx, keys, service, [`/customers/${encodeURIComponent(id)}`])
  return tx.run(sql`
    update upstream_voucher_sale set customer_id = null where service_id = ${service.id} and customer_id = ${id}`)
}

/** Orders first: a sale is made of an order. */
const portions = [orders, sales, rewards, rest]

/**
 * Empties every place that names a customer who was erased, some at a time, so that nobody waits for long. Who is stopped is gone on
 * with by the next one; whoever comes second finds nothing left.
 */
export async function emptyPlacesOf(
  db: Database,
  keys: Keys,
  service: Service,
  id: string,
  signal?: AbortSignal,
): Promise<void> {
  for (const portion of portions)
    while (await db.transaction(tx => portion(tx, keys, service, id))) signal?.throwIfAborted()
  await db.run(sql`
    update erasure set completed_at = now() where service_id = ${service.id} and customer_id = ${id} and completed_at is null`)
}
