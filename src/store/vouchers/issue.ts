import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { VoucherInput } from '../../domain/vouchers/vouchers.ts'
import { today } from './ledger.ts'

/** Returns today's date in the service's time zone, and the last day of a voucher issued today, as `YYYY-MM-DD`. */
export async function readVoucherDates(db: Db, service: Service) {
  const days = await db.row<{ today: string; expiryDate: string }>(sql`
    select ${today(service)}::text as today, (${today(service)} + make_interval(months => ${service.settings.voucherValidityMonths}))::date::text as "expiryDate"`)
  if (!days) throw new Error('select of voucher dates returned no row')
  return days
}

interface PendingVoucher {
  number: string
  pinHash: Buffer
  amount: string
  expiryDate: string
}

/** Inserts a voucher with an empty ledger. Returns false if the number is in use. */
export const insertPendingVoucher = async (
  tx: Db,
  service: Service,
  { number, pinHash, amount, expiryDate }: PendingVoucher,
): Promise<boolean> =>
  (await tx.run(sql`
    insert into voucher (service_id, number, pin_hash, state, currency, original_amount, balance, expiry_date)
    values (${service.id}, ${number}, ${pinHash}, 'pending', ${service.settings.currency}, ${amount}, 0, ${expiryDate})
    on conflict do nothing`)) > 0

/** Stores the sale of a voucher. Returns false if a sale with this order number exists. */
export const insertVoucherSale = async (
  tx: Db,
  service: Service,
  number: string,
  {
    gateway = null,
    orderNumber = null,
    senderName,
    receiverName,
    receiverEmail,
    mobile = null,
    deliveryDate = null,
    billingAddress,
  }: VoucherInput,
): Promise<boolean> =>
  (await tx.run(sql`
    insert into voucher_sale (service_id, number, gateway, order_number, sender_name, receiver_name, receiver_email, mobile, delivery_date, billing_address)
    values (${service.id}, ${number}, ${gateway}, ${orderNumber}, ${senderName}, ${receiverName}, ${receiverEmail}, ${mobile}, ${deliveryDate}, ${JSON.stringify(billingAddress)})
    on conflict (service_id, order_number) do nothing`)) > 0
