import type { Db } from '../../../database/db.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { findMissingSettings, getGateway, validateIssue } from '../../../domain/vouchers/issue.ts'
import { generatePin, generateVoucherNumber } from '../../../domain/vouchers/number.ts'
import { withPointer } from '../../../domain/vouchers/redemption.ts'
import type { IssuedVoucher, VoucherInput } from '../../../domain/vouchers/vouchers.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { throwIfAny } from '../../../errors/throw-if-any.ts'
import { queueVoucherEmail } from '../../../store/mail/emails.ts'
import { listGatewayNames } from '../../../store/tenancy/gateways.ts'
import { insertPendingVoucher, insertVoucherSale, readVoucherDates } from '../../../store/vouchers/issue.ts'
import { addEntry } from '../../../store/vouchers/ledger.ts'
import { hashPin } from '../../../store/vouchers/pin.ts'
import { readVoucher } from '../../../store/vouchers/vouchers.ts'
import { getWriter, type WithTransaction } from '../../../writes/write.ts'
import { findGiftCardSkuId } from '../../vouchers/gift-card.ts'

/** Creates an active voucher with its ledger and sale, and queues the email to its receiver, in one transaction. */
export async function issueVoucher(write: WithTransaction, input: VoucherInput): Promise<IssuedVoucher> {
  const { tx, keys, service } = write
  const expiryDate = await validateInput(tx, service, input)
  const { amount, orderNumber = null } = input
  const pin = generatePin()
  const number = await insertVoucher(tx, service, { amount, expiryDate }, drawn => hashPin(keys, service, drawn, pin))
  const [, isSold, , voucher] = await Promise.all([
    addEntry(tx, service, number, { kind: 'issue', amount, state: 'active', orderNumber, writer: getWriter(write) }),
    insertVoucherSale(tx, service, number, { ...input, gateway: getGateway(input, service.settings) }),
    queueVoucherEmail(tx, keys, service, {
      number,
      pin,
      amount,
      currency: service.settings.currency,
      expiryDate,
      receiverName: input.receiverName,
      receiverEmail: input.receiverEmail,
      senderName: input.senderName,
      message: input.message ?? null,
      subject: input.subject,
      deliveryDate: input.deliveryDate ?? null,
    }),
    readVoucher(tx, service, number),
  ])
  // The unique order number also prevents a duplicate if the client retries without an idempotency key.
  if (!isSold) throw withPointer('/orderNumber', new ApiError('order_number_taken'))
  if (!voucher) throw new Error('inserted voucher not found')
  return { ...voucher, pin, orderNumber }
}

/** Validates a new voucher. Throws all errors at once. Returns its expiry date. */
async function validateInput(tx: Db, service: Service, input: VoucherInput): Promise<string> {
  const { settings } = service
  const [days, giftCard, gateways] = await Promise.all([
    readVoucherDates(tx, service),
    findGiftCardSkuId(tx, service),
    listGatewayNames(tx, service),
  ])
  throwIfAny([
    ...findMissingSettings(settings, giftCard !== undefined),
    ...validateIssue(input, settings, { gateways, ...days }),
  ])
  return days.expiryDate
}

/** Inserts a voucher under a new random number. Retries with another number if one is taken. */
export async function insertVoucher(
  tx: Db,
  service: Service,
  values: { amount: string; expiryDate: string },
  hashPinFor: (number: string) => Buffer,
  generateNumber: () => string = generateVoucherNumber,
): Promise<string> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const number = generateNumber()
    if (await insertPendingVoucher(tx, service, { ...values, number, pinHash: hashPinFor(number) })) return number
  }
  throw new Error('ten random numbers in a row were taken')
}
