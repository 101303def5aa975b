import {
  ApiError,
  type ErrorCode,
  type FieldError,
  notFound,
  type ProblemMembers,
  toApiError,
} from '../../../errors/api-error.ts'
import { convertFailure, Failure } from './failure.ts'
import { accountUnknown, couponRequestUnknown, noData, RetailApiError } from './retail-api-error.ts'

/** The subject of a call. The same error code has different meanings for different endpoints. */
export type Endpoint =
  | 'stores'
  | 'products'
  | 'stock'
  | 'persons'
  | 'references'
  | 'transactions'
  | 'orders'
  | 'carts'
  | 'freightOptions'
  | 'coupons'
  | 'returns'
  | 'voucher'
  | 'voucherValidation'
  | 'voucherLock'
  | 'rewards'

type Meaning = () => ApiError

/** Maps a code to an error of one request field. */
const fieldError =
  (pointer: string, detail: string, code: ErrorCode = 'invalid_field'): Meaning =>
  () => {
    const error: FieldError = { pointer, code, detail }
    return toApiError([error])
  }
const apiError =
  (code: ErrorCode, detail?: string, members: ProblemMembers = {}): Meaning =>
  () =>
    new ApiError(code, detail, { members })
const missingRecord =
  (entity: string): Meaning =>
  () =>
    notFound(entity)
const unusableVoucher = (reason: NonNullable<ProblemMembers['reason']>) =>
  apiError('voucher_unusable', undefined, { reason })

const commonMeanings: Readonly<Record<number, Meaning>> = {
  5014: apiError('invalid_field', 'A field is longer than the back office allows.'),
}

/** Codes of voucher validations and locks. Orders that are paid with a voucher return them too. */
const voucherMeanings: Readonly<Record<number, Meaning>> = {
  5053: apiError('voucher_not_accepted'),
  5054: unusableVoucher('redeemed'),
  5055: apiError('voucher_not_accepted'),
  5056: apiError('voucher_not_accepted'),
  5057: unusableVoucher('not issued'),
  5059: unusableVoucher('suspended'),
  5060: fieldError('/amount', "The back office doesn't accept this amount."),
  5061: apiError('validation_id_incorrect'),
  5062: apiError('insufficient_voucher_balance'),
  5065: unusableVoucher('expired'),
  5066: apiError('voucher_must_be_used_in_full'),
  5067: apiError('voucher_locked'),
  5071: apiError('voucher_not_accepted'),
  5219: apiError('voucher_unusable', 'The voucher has another currency.'),
}

/** Codes of coupons. Orders that redeem a coupon return them too. */
const couponMeanings: Readonly<Record<number, Meaning>> = {
  5224: apiError('coupon_unusable', "The back office doesn't accept the coupon."),
  5225: apiError('coupon_unusable', 'The back office has no coupon with this code.'),
  5226: apiError('coupon_unusable', 'The coupon is not enabled.'),
  5227: apiError('coupon_unusable', 'The coupon is not valid yet.'),
  5228: apiError('coupon_unusable', 'The coupon has expired.'),
  5229: apiError('coupon_unusable', 'The coupon has already been redeemed.'),
  5230: apiError('coupon_locked'),
  5231: apiError('coupon_unusable', 'The coupon belongs to another customer.'),
  5232: apiError('coupon_unusable', 'The coupon is not valid in this web shop.'),
  5233: apiError('coupon_unusable', 'An order has already redeemed this reservation.'),
  [couponRequestUnknown]: apiError('coupon_unusable', 'The reservation of the coupon has ended.'),
}

const fieldRequired = 'The back office requires this field.'

/** The meaning of each code by endpoint. Other codes are errors of the installation, or unexpected: 502. */
const meanings: Readonly<Record<Endpoint, Readonly<Record<number, Meaning>>>> = {
  stores: { [noData]: missingRecord('store'), 5081: missingRecord('store') },
  products: { [noData]: missingRecord('product') },
  stock: { [noData]: missingRecord('stock'), 5081: missingRecord('stock'), 5147: missingRecord('store') },
  references: { [noData]: missingRecord('reference') },
  transactions: { [noData]: missingRecord('customer') },
  persons: {
    [noData]: missingRecord('customer'),
    5000: fieldError('/surname', fieldRequired),
    5001: fieldError('/firstname', fieldRequired),
    5004: fieldError('/contact/email', fieldRequired),
    5005: fieldError('/address', fieldRequired),
    5006: fieldError('/contact/email', 'Another person in the back office has this email address.', 'email_taken'),
    5010: apiError('concurrent_update'),
    5089: fieldError('/references', "The back office doesn't have a value of these references."),
    5090: fieldError('/references', 'A reference value belongs to another reference type.'),
    5091: fieldError('/references', 'The back office requires a reference type that is missing.'),
    5099: fieldError('/dateOfBirth', "The back office doesn't accept this date."),
    5111: fieldError('/privacy', "The back office doesn't accept this value."),
    5144: fieldError('/dateOfBirth', "The back office doesn't accept this date."),
  },
  orders: {
    ...voucherMeanings,
    ...couponMeanings,
    [noData]: missingRecord('order'),
    5004: fieldError('/customerId', 'The customer must have an email address in the back office.'),
    5005: fieldError('/billingAddress', fieldRequired),
    5021: fieldError('/deliveryAddress', fieldRequired),
    5026: fieldError('/payments', 'The back office computes another total due.', 'payment_total_mismatch'),
    5052: fieldError('/orderNumber', 'Another order already has this number.', 'order_number_taken'),
    5069: fieldError('/receiverEmail', "The back office doesn't accept this address."),
    5070: fieldError('/payments', 'A voucher can pay only once per order.'),
    5072: fieldError('/receiverName', fieldRequired),
    5073: apiError('voucher_not_configured', "Vouchers of this voucher type can't be sold online."),
    5074: apiError('voucher_not_configured', "The back office doesn't have this voucher type."),
    5075: fieldError('/subject', "The back office doesn't accept this subject."),
    5076: apiError('voucher_not_configured', 'The voucher type is not set.'),
    5082: fieldError('/pickupStoreNumber', "Orders can't be picked up in this store."),
    5094: fieldError('/lines', 'A price differs from the back office.'),
    5100: fieldError('/payments', "The back office doesn't have a gateway of this order.", 'unknown_gateway'),
    5119: fieldError('/pickupStoreNumber', fieldRequired),
    5123: fieldError('/freight', "An order that is picked up can't have freight."),
    5129: fieldError('/lines', "The back office doesn't sell a SKU of this order.", 'unknown_sku'),
    5220: fieldError('/pickupStoreNumber', "Orders can't be picked up in this store."),
    5246: fieldError('/message', 'This field has a character that the back office rejects.'),
  },
  carts: {
    5033: fieldError('/lines', fieldRequired),
    5109: fieldError('/lines', "The back office doesn't accept a quantity of these lines."),
    5129: fieldError('/lines', "The back office doesn't sell a SKU of these lines.", 'unknown_sku'),
  },
  freightOptions: {},
  coupons: {
    ...couponMeanings,
    5129: fieldError('/lines', "The back office doesn't sell a SKU of these lines.", 'unknown_sku'),
  },
  returns: {
    [noData]: missingRecord('order'),
    5052: fieldError('/returnNumber', 'Another return already has this number.', 'order_number_taken'),
    5084: fieldError('/lines', 'Each line must have a return reason.'),
    5085: fieldError('/lines', "The back office doesn't have a return reason (5085)."),
    5087: fieldError('/lines', "The back office doesn't accept returns of this order."),
    5133: missingRecord('order'),
    5139: fieldError('/lines', 'A SKU is not on the order in the back office (5139).', 'sku_not_on_order'),
    5140: fieldError('/lines', "The back office doesn't accept a returned quantity (5140)."),
    5143: fieldError('/lines', "The back office doesn't accept a returned quantity (5143)."),
  },
  // An unknown number gets the same error as a wrong PIN, so that the response doesn't show which numbers exist.
  voucher: { ...voucherMeanings, [noData]: apiError('voucher_not_accepted') },
  voucherValidation: { ...voucherMeanings, [noData]: apiError('voucher_not_accepted') },
  voucherLock: { ...voucherMeanings, [noData]: apiError('validation_id_incorrect') },
  rewards: {
    [noData]: missingRecord('reward account'),
    [accountUnknown]: missingRecord('reward account'),
    5156: fieldError('/points', "The account doesn't have enough points.", 'insufficient_rewards'),
    5157: fieldError('/amount', "The account doesn't have enough rewards.", 'insufficient_rewards'),
    5162: missingRecord('reward program'),
    5167: apiError('capability_unavailable', "The back office doesn't permit this reward account in the web store."),
    5168: apiError('capability_unavailable', "The back office doesn't permit this reward program in the web store."),
    5169: apiError('concurrent_update'),
    5239: fieldError('', "The spend is less than the program's minimum for a redemption."),
  },
}

/** Converts a `RetailApiError` or a `Failure` into the `ApiError` that the caller gets. Returns any other error unchanged. */
export const translateError = (error: unknown, endpoint: Endpoint, isWrite: boolean): unknown =>
  error instanceof RetailApiError
    ? translateRetailApiError(endpoint, error)
    : error instanceof Failure
      ? convertFailure(error, isWrite)
      : error

/** Returns the error of a write that the Retail API would reject with this code. For checks before the write, such as a dry run. */
export const createRejection = (endpoint: Endpoint, code: number): ApiError =>
  translateRetailApiError(endpoint, new RetailApiError(400, code, ''))

/** Keeps the Retail API's code and message in `cause`. */
function translateRetailApiError(endpoint: Endpoint, cause: RetailApiError): ApiError {
  const code = cause.code ?? 0
  const meaning = meanings[endpoint][code] ?? commonMeanings[code]
  const error = meaning ? meaning() : new ApiError('back_office_error')
  error.cause = cause
  return error
}
