import { type Db, sql } from '../../db.ts'
import type { Service } from '../../settings.ts'

/** The back office's identifier of the SKU that gift vouchers are sold as: named as shoppers know it, or by that very identifier. */
export async function giftCardSkuId(db: Db, service: Service, sku: string): Promise<string | undefined> {
  const found = await db.row<{ skuId: string }>(sql`
    select sku_id as "skuId" from variant where service_id = ${service.id} and (sku = ${sku} or sku_id = ${sku}) order by sku = ${sku} desc limit 1`)
  // The web store need not export it. An identifier that there is not is refused when it is sold.
  return found?.skuId ?? (/^\d{1,18}$/.test(sku) ? sku : undefined)
}

interface Begun {
  number: string
  gateway: string
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
