import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** A voucher that a back office behind us has sold: its order. */
export interface VoucherSale {
  number: string
  gateway: string | null
  amount: string
  personId: string
  /** Undefined where the back office does not tell. */
  orderId: string | undefined
}

/** The order that sold a voucher, by its number; undefined where none did. */
export const voucherSaleNumbered = (db: Db, service: Service, number: string) =>
  db.row<{ orderId: string | null; customerId: string | null }>(sql`
    select order_id as "orderId", customer_id as "customerId"
      from upstream_voucher_sale where service_id = ${service.id} and order_number = ${number}`)

/** Notes a voucher that was sold; false where one was with that order number. */
export const noteVoucherSale = async (
  tx: Db,
  service: Service,
  { number, gateway, amount, personId, orderId }: VoucherSale,
): Promise<boolean> =>
  (await tx.run(sql`
    insert into upstream_voucher_sale (service_id, order_number, gateway, amount, currency, order_id, customer_id)
    values (${service.id}, ${number}, ${gateway}, ${amount}, ${service.settings.currency}, ${orderId ?? null}, ${personId})
    on conflict do nothing`)) > 0
