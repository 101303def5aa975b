// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { IssuedVoucher, ReadVoucher, SendingAgain, ValidatedVoucher, Voucher, VoucherInput, VoucherLedger, VoucherLock, VoucherOpening, VoucherValidation } from '../shapes/vouchers.ts'

/** Look up, lock, redeem and issue gift vouchers. */
export interface VouchersApi {
  /** Look up a voucher. The PIN travels in a header, never in the URL. With an `amount` the voucher is validated too, as by `POST /vouchers/validate`. An unknown number and a wrong PIN are one and the same answer; after 5 wrong PINs a voucher refuses for a growing time, the right PIN too. */
  get(number: string, query: {
    /** What is to be paid with it. */
    amount?: string | undefined
  }, options: CallOptions & {
    /** The PIN that goes with the number. */
    voucherPin: string
    /** The IP address of the shopper for whom this is asked: wrong PINs are counted by it, and not by the address of the web shop. Only accounts that are trusted to name shoppers are heeded; any other is counted by its own address. */
    shopperAddress?: string | undefined
  }): Promise<ReadVoucher>
  /** Look up a voucher. An unknown number and a wrong PIN are one and the same answer; after 5 wrong PINs a voucher refuses for a growing time, the right PIN too. */
  lookUp(body: VoucherOpening, options?: WriteOptions & {
    /** The IP address of the shopper for whom this is asked: wrong PINs are counted by it, and not by the address of the web shop. Only accounts that are trusted to name shoppers are heeded; any other is counted by its own address. */
    shopperAddress?: string | undefined
  }): Promise<Voucher>
  /** Validate a voucher. The `validationId` takes the place of the one before it, unless somebody holds the voucher: then it is `voucher_locked`, and the holder is not disturbed. An unknown number and a wrong PIN are one and the same answer; after 5 wrong PINs a voucher refuses for a growing time, the right PIN too. In the answer to a trial null, unless the body says it: `validationId`. */
  validate(body: VoucherValidation, options?: WriteOptions & {
    /** The IP address of the shopper for whom this is asked: wrong PINs are counted by it, and not by the address of the web shop. Only accounts that are trusted to name shoppers are heeded; any other is counted by its own address. */
    shopperAddress?: string | undefined
  }): Promise<ValidatedVoucher>
  /** Lock a voucher (POST). With a `validationId`; or with the `pin`, which validates the voucher first, and answers with the `validationId`: whoever holds it renews the lock, pays or gives the voucher back with that. Only one holder: whoever else validates, or validated before the holder did, gets `voucher_locked`. The same validation may lock again, which counts from now on; 0 seconds give the voucher back. A lock that has run out is none. An unknown number and a wrong PIN are one and the same answer; after 5 wrong PINs a voucher refuses for a growing time, the right PIN too. In the answer to a trial null, unless the body says it: `validationId`. */
  lock(number: string, body: VoucherLock, options?: WriteOptions & {
    /** The IP address of the shopper for whom this is asked: wrong PINs are counted by it, and not by the address of the web shop. Only accounts that are trusted to name shoppers are heeded; any other is counted by its own address. */
    shopperAddress?: string | undefined
  }): Promise<ReadVoucher>
  /** Issue a voucher. 201 with number and PIN; 202 and the status `pending` where the back office makes them later, and sends them itself: `Location` is the order then. Repeated with the same `Idempotency-Key` it answers with the same PIN. In the answer to a trial null, unless the body says it: `number`, `pin`, `orderNumber`. */
  issue(body: VoucherInput, options?: WriteOptions): Promise<IssuedVoucher>
  /** Get a voucher's ledger. Whom it is for, and what has become of its e-mails, too. For admins, who need no PIN; with a head office that keeps the vouchers it is 409. */
  ledger(number: string, options?: CallOptions): Promise<VoucherLedger>
  /** Suspend a voucher. One that is suspended stays as it is. What was validated before counts no more. For admins, who need no PIN; with a head office that keeps the vouchers it is 409. */
  suspend(number: string, options?: WriteOptions): Promise<Voucher>
  /** Resume a voucher. One that is active stays as it is. What was validated before counts no more. For admins, who need no PIN; with a head office that keeps the vouchers it is 409. */
  resume(number: string, options?: WriteOptions): Promise<Voucher>
  /** Unlock a voucher. One that is active stays as it is. What was validated before counts no more. For admins, who need no PIN; with a head office that keeps the vouchers it is 409. */
  release(number: string, options?: WriteOptions): Promise<Voucher>
  /** Resend a voucher email. An e-mail that never left goes out as it was written, at once or on its day, as long as what it says is kept (`wordsKept`). Otherwise, and for another address, the voucher has a new PIN, which nobody but the receiver is told: the one before opens it no more, and a sale that holds it goes on. At most once a minute, and 5 times in 24 hours. For admins, who need no PIN; with a head office that keeps the vouchers it is 409. */
  sendAgain(number: string, body: SendingAgain, options?: WriteOptions): Promise<Voucher>
}

export const vouchers = (call: Calls): VouchersApi => ({
  get: (number, query, options) => call.get(`/vouchers/${segment(number)}`, query, options),
  lookUp: (body, options) => call.post('/vouchers/lookup', body, options),
  validate: (body, options) => call.post('/vouchers/validate', body, options),
  lock: (number, body, options) => call.putOnce(`/vouchers/${segment(number)}/lock`, body, options),
  issue: (body, options) => call.post('/vouchers', body, options),
  ledger: (number, options) => call.get(`/vouchers/${segment(number)}/ledger`, {}, options),
  suspend: (number, options) => call.post(`/vouchers/${segment(number)}/suspend`, undefined, options),
  resume: (number, options) => call.post(`/vouchers/${segment(number)}/resume`, undefined, options),
  release: (number, options) => call.post(`/vouchers/${segment(number)}/release`, undefined, options),
  sendAgain: (number, body, options) => call.post(`/vouchers/${segment(number)}/send-again`, body, options),
})
