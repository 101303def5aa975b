import { type Db, sql } from '../../db.ts'
import type { Service } from '../../settings.ts'

/** A voucher that a back office behind us has sold: its order. */
export interface VoucherSale {
  number: string
  gateway: string | null
  amount: string
  personId: string
  /** Undefined where the back office does not tell. */
  orderId: string | undefined
}

/** Whether a voucher was sold with an order number. */
export const isVoucherSale = async (tx: Db, service: Service, number: string): Promise<boolean> =>
  Boolean(
    await tx.row(
      sql`select true as sold from upstream_voucher_sale where service_id = ${service.id} and order_number = ${number}`,
    ),
  )

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
