import { type Sql, sql } from '../../src/database/db.ts'

/** What holds of a service's records, whatever was killed, halted, copied or restored: each with what finds those that contradict it, as `key`. */
export type Facts = Readonly<Record<string, Sql>>

/** Of orders and returns, whatever stands behind the service. */
export const ofOrders = (id: number): Facts => ({
  'no order line is returned beyond what was sold, and its counter is the sum of its returns': sql`
    select l.order_id || '/' || l.sequence as key from order_line l where l.service_id = ${id}
       and (l.returned > l.quantity or l.returned <> (select coalesce(sum(r.quantity), 0) from return_line r join sales_return s on s.service_id = r.service_id and s.id = r.return_id and s.status <> 'cancelled'
              where r.service_id = l.service_id and r.order_id = l.order_id and r.order_sequence = l.sequence))`,
  'payments are what each order cost': sql`
    select o.id as key from sales_order o where o.service_id = ${id} and o.total <> (select sum(amount) from order_payment p where p.service_id = o.service_id and p.order_id = o.id)`,
})

/** Of what the embedded back office keeps itself: vouchers, points, retail transactions. */
export const ofVouchers = (id: number): Facts => ({
  "each voucher's balance is the sum of its ledger, and not below zero": sql`
    select v.number as key from voucher v where v.service_id = ${id} and (v.balance < 0 or v.balance <> (select sum(amount) from voucher_entry e where e.service_id = v.service_id and e.number = v.number))`,
  'what was drawn of each voucher is what orders were paid with': sql`
    select v.number as key from voucher v join voucher_sale using (service_id, number) where v.service_id = ${id}
       and (select coalesce(-sum(amount), 0) from voucher_entry e where e.service_id = v.service_id and e.number = v.number and kind = 'redeem')
        <> (select coalesce(sum(amount), 0) from order_payment p where p.service_id = v.service_id and p.voucher_number = v.number)`,
  'no reward lot gave more than it had': sql`
    select account_id || '/' || lot_id as key from reward_lot where service_id = ${id} and redeemed + taken + pending > total`,
  'each acknowledged order has its retail transaction': sql`
    select o.order_number as key from sales_order o where o.service_id = ${id}
       and not exists (select from retail_transaction t where t.service_id = o.service_id and t.customer_id = o.customer_id and t.record like '%"orderNumber":"' || o.order_number || '"%')`,
})
