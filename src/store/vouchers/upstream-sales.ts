import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** A voucher sold by a back office, with its order. */
export interface VoucherSale {
  number: string
  gateway: string | null
  amount: string
  personId: string
  /** Undefined if the back office does not return it. */
  orderId: string | undefined
}

/** Returns the order that sold a voucher, by order number. */
export const findVoucherSale = (db: Db, service: Service, number: string) =>
  db.row<{ orderId: string | null; customerId: string | null }>(sql`
    select order_id as "orderId", customer_id as "customerId"
      from upstream_voucher_sale where service_id = ${service.id} and order_number = ${number}`)

/** Stores a voucher sale. Returns false if a sale with this order number exists. */
export const recordVoucherSale = async (
  tx: Db,
  service: Service,
  { number, gateway, amount, personId, orderId }: VoucherSale,
): Promise<boolean> =>
  (await tx.run(sql`
    insert into upstream_voucher_sale (service_id, order_number, gateway, amount, currency, order_id, customer_id)
    values (${service.id}, ${number}, ${gateway}, ${amount}, ${service.settings.currency}, ${orderId ?? null}, ${personId})
    on conflict do nothing`)) > 0
