import { type Db, type Sql, sql } from '../../../src/database/db.ts'
import { type CheckResult, check } from '../expectations/check.ts'

/** Invariants of a service's records, each with a query for the keys of the records that violate it. */
export type Invariants = Readonly<Record<string, Sql>>

/** Invariants of orders and returns, with every back office. */
export const orderInvariants = (id: number): Invariants => ({
  'no order line has more returns than units, and its counter is the sum of its returns': sql`
    select l.order_id || '/' || l.sequence as key from order_line l where l.service_id = ${id}
       and (l.returned > l.quantity or l.returned <> (select coalesce(sum(r.quantity), 0) from return_line r join sales_return s on s.service_id = r.service_id and s.id = r.return_id and s.status <> 'cancelled' and not r.is_cancelled
              where r.service_id = l.service_id and r.order_id = l.order_id and r.order_sequence = l.sequence))`,
  "each order's payments sum up to its total": sql`
    select o.id as key from sales_order o where o.service_id = ${id} and o.total <> (select sum(amount) from order_payment p where p.service_id = o.service_id and p.order_id = o.id)`,
})

/** Invariants of the embedded back office: vouchers, points, retail transactions. */
export const embeddedInvariants = (id: number): Invariants => ({
  "each voucher's balance is the sum of its ledger and not negative": sql`
    select v.number as key from voucher v where v.service_id = ${id} and (v.balance < 0 or v.balance <> (select sum(amount) from voucher_entry e where e.service_id = v.service_id and e.number = v.number))`,
  'the draws of each voucher sum up to the payments of orders with it': sql`
    select v.number as key from voucher v join voucher_sale using (service_id, number) where v.service_id = ${id}
       and (select coalesce(-sum(amount), 0) from voucher_entry e where e.service_id = v.service_id and e.number = v.number and kind = 'redeem')
        <> (select coalesce(sum(amount), 0) from order_payment p where p.service_id = v.service_id and p.voucher_number = v.number)`,
  'no reward lot gave more than it had': sql`
    select account_id || '/' || lot_id as key from reward_lot where service_id = ${id} and redeemed + consumed + pending > total`,
  'each acknowledged order has its retail transaction': sql`
    select o.order_number as key from sales_order o where o.service_id = ${id}
       and not exists (select from retail_transaction t where t.service_id = o.service_id and t.customer_id = o.customer_id and t.record like '%"orderNumber":"' || o.order_number || '"%')`,
})

/** Checks each invariant. */
export const checkInvariants = (db: Db, invariants: Invariants): Promise<CheckResult[]> =>
  Promise.all(
    Object.entries(invariants).map(async ([title, query]) => {
      const rows = await db.rows<{ key: string }>(query)
      return check(
        title,
        rows.map(({ key }) => key),
      )
    }),
  )
