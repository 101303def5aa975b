import { type Db, sql } from '../../db.ts'
import type { Service } from '../../settings.ts'

interface Begun {
  number: string
  gateway: string | null
  amount: string
}

/** Notes that a voucher is sold with an order number; false where one was. Of two at once the second waits for the first. */
export const beginVoucherSale = async (
  tx: Db,
  service: Service,
  { number, gateway, amount }: Begun,
): Promise<boolean> =>
  (await tx.run(sql`
    insert into upstream_voucher_sale (service_id, order_number, gateway, amount, currency)
    values (${service.id}, ${number}, ${gateway}, ${amount}, ${service.settings.currency})
    on conflict do nothing`)) > 0

interface Finished {
  number: string
  personId: string
  orderId: string | undefined
}

/** Notes which order of the back office it has become. */
export const finishVoucherSale = (tx: Db, service: Service, { number, personId, orderId }: Finished) =>
  tx.run(sql`
    update upstream_voucher_sale set order_id = ${orderId ?? null}, customer_id = ${personId}
     where service_id = ${service.id} and order_number = ${number}`)
