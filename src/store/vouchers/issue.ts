import { type Db, sql } from '../../db.ts'
import { makePin, makeVoucherNumber } from '../../domain/vouchers/number.ts'
import type { IssuedVoucher, VoucherInput } from '../../domain/vouchers/vouchers.ts'
import { ApiError, faulty } from '../../errors.ts'
import type { Keys } from '../../secrets.ts'
import type { Service } from '../../settings.ts'
import { queueVoucherMail } from '../running/mails.ts'
import { today } from './ledger.ts'
import { pinHash } from './pin.ts'
import { readVoucher } from './vouchers.ts'

/** The day it is in the service's time zone, and the last day of a voucher that is made on it: `YYYY-MM-DD`. */
export async function voucherDays(db: Db, service: Service) {
  const days = await db.row<{ today: string; expiryDate: string }>(sql`
    select ${today(service)}::text as today, (${today(service)} + make_interval(months => ${service.settings.voucherValidityMonths}))::date::text as "expiryDate"`)
  if (!days) throw new Error('a row of values has a row')
  return days
}

/** Whether some variant has this SKU. */
export const isSku = async (db: Db, service: Service, sku: string | null) =>
  (await db.run(sql`select from variant where service_id = ${service.id} and sku = ${sku}`)) > 0

/** Makes an active voucher with its ledger, and queues the e-mail that tells its receiver of it: all of it, or nothing. */
export async function issueVoucher(
  tx: Db,
  keys: Keys,
  service: Service,
  input: VoucherInput & { expiryDate: string },
): Promise<IssuedVoucher> {
  const { amount, expiryDate, orderNumber = null } = input
  const { currency } = service.settings
  const pin = makePin()
  const number = await insertVoucher(tx, service, { amount, expiryDate }, number => pinHash(keys, service, number, pin))
  await tx.run(sql`
    insert into voucher_entry (service_id, number, entry, kind, amount, state, order_number)
    values (${service.id}, ${number}, 1, 'issue', ${amount}, 'active', ${orderNumber})`)
  await keepSale(tx, service, number, input)
  await queueVoucherMail(tx, keys, service, {
    number,
    pin,
    amount,
    currency,
    expiryDate,
    receiverName: input.receiverName,
    receiverEmail: input.receiverEmail,
    senderName: input.senderName,
    message: input.message ?? null,
    subject: input.subject,
    deliveryDate: input.deliveryDate ?? null,
  })
  const voucher = await readVoucher(tx, service, number)
  if (!voucher) throw new Error('a voucher that was made is there')
  return { ...voucher, pin, orderNumber }
}

/** Inserts a voucher under a number that no other has; a number that is taken is drawn anew. */
export async function insertVoucher(
  tx: Db,
  service: Service,
  { amount, expiryDate }: { amount: string; expiryDate: string },
  hashFor: (number: string) => Buffer,
  draw: () => string = makeVoucherNumber,
): Promise<string> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const number = draw()
    const inserted = await tx.run(sql`
      insert into voucher (service_id, number, pin_hash, state, currency, original_amount, balance, expiry_date)
      values (${service.id}, ${number}, ${hashFor(number)}, 'pending', ${service.settings.currency}, ${amount}, 0, ${expiryDate})
      on conflict do nothing`)
    if (inserted) return number
  }
  throw new Error('ten random numbers in a row were taken')
}

/** An order is sold once: its number also guards against a repeat without an Idempotency-Key. */
async function keepSale(tx: Db, service: Service, number: string, input: VoucherInput) {
  const {
    gateway,
    orderNumber = null,
    senderName,
    receiverName,
    receiverEmail,
    mobile = null,
    deliveryDate = null,
  } = input
  const kept = await tx.run(sql`
    insert into voucher_sale (service_id, number, gateway, order_number, sender_name, receiver_name, receiver_email, mobile, delivery_date, billing_address)
    values (${service.id}, ${number}, ${gateway}, ${orderNumber}, ${senderName}, ${receiverName}, ${receiverEmail}, ${mobile}, ${deliveryDate}, ${JSON.stringify(input.billingAddress)})
    on conflict (service_id, order_number) do nothing`)
  if (kept) return
  const code = 'order_number_taken'
  throw faulty([{ pointer: '/orderNumber', code, detail: new ApiError(code).message }])
}
