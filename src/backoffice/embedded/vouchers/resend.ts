import { formatAmount, getDecimals } from '../../../domain/values/money.ts'
import { generatePin } from '../../../domain/vouchers/number.ts'
import { checkUsable } from '../../../domain/vouchers/redemption.ts'
import type { Voucher } from '../../../domain/vouchers/vouchers.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { lockUnsentEmail, queueVoucherEmail, retryEmailsIn, supersedeEmails } from '../../../store/mail/emails.ts'
import { lockVoucherPersons, readVoucherPersons } from '../../../store/vouchers/ledger.ts'
import { changeReceiverEmail } from '../../../store/vouchers/persons.ts'
import { hashPin, updatePin } from '../../../store/vouchers/pin.ts'
import { endValidation, endValidationWithLock } from '../../../store/vouchers/validation.ts'
import { readVoucher } from '../../../store/vouchers/vouchers.ts'
import type { WithTransaction, Write } from '../../../writes/write.ts'
import { lockCurrentVoucher } from './transitions.ts'

interface ResendRequest {
  number: string
  /** A new address. Without one, the voucher goes to the previous address. */
  receiverEmail?: string | null | undefined
}

/**
 * Sends a voucher again. Returns undefined if it does not exist. `requireAllowed` throws if it is too early.
 * An email that was never sent is sent unchanged while its content is stored. Otherwise the voucher gets a new PIN: the old one is stored
 * as a hash only, and a previous receiver must not be able to use the voucher. The old PIN and its validation become invalid. A lock stays.
 */
export async function resendVoucher(
  { tx, keys, service }: WithTransaction<Pick<Write, 'keys' | 'service'>>,
  { number, receiverEmail }: ResendRequest,
  requireAllowed: () => Promise<void>,
): Promise<Voucher | undefined> {
  const voucher = await lockCurrentVoucher(tx, service, number)
  if (!voucher) return
  const { settings } = service
  const error = checkUsable(voucher, settings)
  if (error) throw error
  await lockVoucherPersons(tx, service, number)
  const persons = await readVoucherPersons(tx, service, number)
  if (!persons?.receiverEmail || persons.receiverName === null || persons.senderName === null)
    throw new ApiError(
      'capability_unavailable',
      "The receiver is unknown: the voucher wasn't issued by Tillbridge, or the receiver was erased.",
    )
  await requireAllowed()
  const to = receiverEmail ?? persons.receiverEmail
  const unsent = await lockUnsentEmail(tx, keys, service, number)
  if (unsent && unsent.mail.receiverEmail === to) {
    await retryEmailsIn(tx, service, unsent.id)
    return readVoucher(tx, service, number)
  }
  const pin = generatePin()
  await supersedeEmails(tx, service, number)
  await updatePin(tx, service, number, hashPin(keys, service, number, pin))
  const end = voucher.state === 'locked' ? endValidationWithLock : endValidation
  await end(tx, service, number)
  if (to !== persons.receiverEmail) await changeReceiverEmail(tx, service, number, to)
  await queueVoucherEmail(tx, keys, service, {
    message: null,
    subject: 'Your gift voucher, with a new PIN',
    ...unsent?.mail,
    number,
    pin,
    amount: formatAmount(voucher.balance, getDecimals(voucher.currency)),
    currency: voucher.currency,
    expiryDate: persons.expiryDate,
    receiverName: persons.receiverName,
    receiverEmail: to,
    senderName: persons.senderName,
    deliveryDate: persons.deliveryDate,
    renewed: unsent === undefined,
  })
  return readVoucher(tx, service, number)
}
