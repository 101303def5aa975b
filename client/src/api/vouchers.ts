// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { IssuedVoucher, ReadVoucher, ValidatedVoucher, Voucher, VoucherInput, VoucherLedger, VoucherLock, VoucherOpening, VoucherResend, VoucherValidation } from '../shapes/vouchers.ts'

/** Look up, lock, redeem and issue gift vouchers. */
export interface VouchersApi {
  /** Get a voucher. Send the PIN in the header, never in the URL. With `amount`, the voucher is validated too, as by `POST /vouchers/validate`. An unknown number and a wrong PIN get the same response. After 5 wrong PINs, the voucher rejects every PIN for a growing time. */
  get(number: string, query: {
    /** The amount to pay. */
    amount?: string | undefined
  }, options: CallOptions & {
    /** The PIN of the voucher. */
    voucherPin: string
    /** The IP address of the shopper. For a trusted account, wrong PINs count against this address instead of the address of the web shop. For any other account, the header is ignored. */
    shopperIp?: string | undefined
  }): Promise<ReadVoucher>
  /** Look up a voucher. An unknown number and a wrong PIN get the same response. After 5 wrong PINs, the voucher rejects every PIN for a growing time. */
  lookUp(body: VoucherOpening, options?: WriteOptions & {
    /** The IP address of the shopper. For a trusted account, wrong PINs count against this address instead of the address of the web shop. For any other account, the header is ignored. */
    shopperIp?: string | undefined
  }): Promise<Voucher>
  /** Validate a voucher. The new `validationId` replaces the previous one. If another client has locked the voucher: 409 `voucher_locked`, and the lock stays. An unknown number and a wrong PIN get the same response. After 5 wrong PINs, the voucher rejects every PIN for a growing time. Null in a dry run unless sent: `validationId`. */
  validate(body: VoucherValidation, options?: WriteOptions & {
    /** The IP address of the shopper. For a trusted account, wrong PINs count against this address instead of the address of the web shop. For any other account, the header is ignored. */
    shopperIp?: string | undefined
  }): Promise<ValidatedVoucher>
  /** Lock a voucher. With a `validationId`, or with the `pin`, which validates the voucher first and returns a `validationId`. Use it to renew the lock, to pay or to unlock. Only one client can hold the lock: others get 409 `voucher_locked`. The same validation can renew the lock, starting now. `lockSeconds: 0` unlocks. An unknown number and a wrong PIN get the same response. After 5 wrong PINs, the voucher rejects every PIN for a growing time. Null in a dry run unless sent: `validationId`. */
  lock(number: string, body: VoucherLock, options?: WriteOptions & {
    /** The IP address of the shopper. For a trusted account, wrong PINs count against this address instead of the address of the web shop. For any other account, the header is ignored. */
    shopperIp?: string | undefined
  }): Promise<ReadVoucher>
  /** Issue a voucher. 201 with number and PIN. 202 with the status `pending` if the back office creates them later and sends them itself: `Location` is then the order. A retry with the same `Idempotency-Key` returns the same PIN. Null in a dry run unless sent: `number`, `pin`, `orderNumber`. */
  issue(body: VoucherInput, options?: WriteOptions): Promise<IssuedVoucher>
  /** Get a voucher's ledger. The voucher with its receiver, emails and ledger. The PIN is not needed. If the back office keeps the vouchers: 409 `capability_unavailable`. */
  ledger(number: string, options?: CallOptions): Promise<VoucherLedger>
  /** Suspend a voucher. Changes nothing if the voucher is already suspended. Ends earlier validations. The PIN is not needed. If the back office keeps the vouchers: 409 `capability_unavailable`. */
  suspend(number: string, options?: WriteOptions): Promise<Voucher>
  /** Resume a voucher. Changes nothing if the voucher is already active. Ends earlier validations. The PIN is not needed. If the back office keeps the vouchers: 409 `capability_unavailable`. */
  resume(number: string, options?: WriteOptions): Promise<Voucher>
  /** Unlock a voucher. Changes nothing if the voucher is already active. Ends earlier validations. The PIN is not needed. If the back office keeps the vouchers: 409 `capability_unavailable`. */
  unlock(number: string, options?: WriteOptions): Promise<Voucher>
  /** Resend a voucher email. If the content of the last unsent email is still stored (`isContentStored`), it is sent as it was. Otherwise, or with another `receiverEmail`, the voucher gets a new PIN, which only the receiver gets. The previous PIN stops working, and a current lock stays. At most once a minute and 5 times in 24 hours. The PIN is not needed. If the back office keeps the vouchers: 409 `capability_unavailable`. */
  resend(number: string, body: VoucherResend, options?: WriteOptions): Promise<Voucher>
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
  unlock: (number, options) => call.post(`/vouchers/${segment(number)}/unlock`, undefined, options),
  resend: (number, body, options) => call.post(`/vouchers/${segment(number)}/resend`, body, options),
})
