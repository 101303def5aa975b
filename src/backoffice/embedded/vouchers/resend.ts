import { formatAmount, getDecimals } from '../../../domain/values/money.ts'
import { generatePin } from '../../../domain/vouchers/number.ts'
import { checkUsable } from '../../../domain/vouchers/redemption.ts'
import type { Voucher } from '../../../domain/vouchers/vouchers.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { queueVoucherMail, retryWithin, supersedeMails, takeUnsent } from '../../../store/mail/mails.ts'
import { lockVoucherPersons, readVoucherPersons } from '../../../store/vouchers/ledger.ts'
import { changeReceiverEmail } from '../../../store/vouchers/persons.ts'
import { hashPin, updatePin } from '../../../store/vouchers/pin.ts'
import { endValidation, endValidationWithLock } from '../../../store/vouchers/validation.ts'
import { readVoucher } from '../../../store/vouchers/vouchers.ts'
import type { WithTransaction, Write } from '../../../writes/write.ts'
import { takeVoucher } from './transitions.ts'

/** What there is to know of a sending: which voucher, and where to, if it is not where it went before. */
interface Sending {
  number: string
  receiverEmail?: string | null | undefined
}

/**
 * Sends a voucher to its receiver again. An e-mail that never left goes out as it is, as long as its words are kept. Of any other nobody knows the PIN any more, and
 * one for another address must not be told by both: then the voucher has a new PIN, and the one before, and what was validated with it,
 * opens it no more; a current lock stays. `mayBe` throws where it is not time yet. Undefined: there is no such voucher.
 */
export async function resendVoucher(
  { tx, keys, service }: WithTransaction<Pick<Write, 'keys' | 'service'>>,
  { number, receiverEmail }: Sending,
  mayBe: () => Promise<void>,
): Promise<Voucher | undefined> {
  const voucher = await takeVoucher(tx, service, number)
  if (!voucher) return
  const { settings } = service
  const against = checkUsable(voucher, settings)
  if (against) throw against
  await lockVoucherPersons(tx, service, number)
  const persons = await readVoucherPersons(tx, service, number)
  if (!persons?.receiverEmail || persons.receiverName === null || persons.senderName === null)
    throw new ApiError(
      'capability_unavailable',
      "The receiver is unknown: the voucher wasn't issued by Tillbridge, or the receiver was erased.",
    )
  await mayBe()
  const to = receiverEmail ?? persons.receiverEmail
  const unsent = await takeUnsent(tx, keys, service, number)
  if (unsent && unsent.mail.receiverEmail === to) {
    await retryWithin(tx, service, unsent.id)
    return readVoucher(tx, service, number)
  }
  const pin = generatePin()
  await supersedeMails(tx, service, number)
  await updatePin(tx, service, number, hashPin(keys, service, number, pin))
  const end = voucher.state === 'locked' ? endValidationWithLock : endValidation
  await end(tx, service, number)
  if (to !== persons.receiverEmail) await changeReceiverEmail(tx, service, number, to)
  await queueVoucherMail(tx, keys, service, {
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
