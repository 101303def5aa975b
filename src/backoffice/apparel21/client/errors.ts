import {
  ApiError,
  type ErrorCode,
  type FieldError,
  notFound,
  type ProblemMembers,
  toApiError,
} from '../../../errors/api-error.ts'
import { apiErrorOf, Failure } from './failure.ts'
import { accountUnknown, noData, Refusal } from './rejection.ts'

/** What a call is about: the same code means one thing here and another there. */
export type Endpoint =
  | 'stores'
  | 'products'
  | 'stock'
  | 'persons'
  | 'references'
  | 'transactions'
  | 'orders'
  | 'returns'
  | 'voucher'
  | 'voucherValidation'
  | 'voucherLock'
  | 'rewards'

type Meaning = () => ApiError

/** A rule of the domain that a field of the request breaks. */
const field =
  (pointer: string, detail: string, code: ErrorCode = 'invalid_field'): Meaning =>
  () => {
    const fault: FieldError = { pointer, code, detail }
    return toApiError([fault])
  }
const plain =
  (code: ErrorCode, detail?: string, members: ProblemMembers = {}): Meaning =>
  () =>
    new ApiError(code, detail, { members })
const missing =
  (kind: string): Meaning =>
  () =>
    notFound(kind)
const unusable = (reason: NonNullable<ProblemMembers['reason']>) => plain('voucher_unusable', undefined, { reason })

const everywhere: Readonly<Record<number, Meaning>> = {
  5014: plain('invalid_field', 'A text is longer than the back office can take.'),
}

/** What opens a voucher, and what keeps it from being used; of order payments too. */
const vouchers: Readonly<Record<number, Meaning>> = {
  5053: plain('voucher_not_accepted'),
  5054: unusable('redeemed'),
  5055: plain('voucher_not_accepted'),
  5056: plain('voucher_not_accepted'),
  5057: unusable('not issued'),
  5059: unusable('suspended'),
  5060: field('/amount', 'The back office cannot take this amount.'),
  5061: plain('validation_id_incorrect'),
  5062: plain('insufficient_voucher_balance'),
  5065: unusable('expired'),
  5066: plain('voucher_must_be_used_in_full'),
  5067: plain('voucher_locked'),
  5071: plain('voucher_not_accepted'),
  5219: plain('voucher_unusable', 'The voucher is of another currency.'),
}

const notOnCard = 'The back office asks for this field.'

/** Meanings by what the call is about. A code that is not here is a fault of the installation, or a surprise: 502. */
const meanings: Readonly<Record<Endpoint, Readonly<Record<number, Meaning>>>> = {
  stores: { [noData]: missing('store'), 5081: missing('store') },
  products: { [noData]: missing('product') },
  stock: { [noData]: missing('stock'), 5081: missing('stock'), 5147: missing('store') },
  references: { [noData]: missing('reference') },
  transactions: { [noData]: missing('customer') },
  persons: {
    [noData]: missing('customer'),
    5000: field('/surname', notOnCard),
    5001: field('/firstname', notOnCard),
    5004: field('/contact/email', notOnCard),
    5005: field('/address', notOnCard),
    5006: field('/contact/email', 'Somebody else has this e-mail address in the back office.', 'email_taken'),
    5010: plain('concurrent_update'),
    5089: field('/references', 'The back office does not know a value of a reference.'),
    5090: field('/references', 'A value belongs to another type of reference.'),
    5091: field('/references', 'The back office asks for a type of reference that is not given.'),
    5099: field('/dateOfBirth', 'The back office cannot take this date.'),
    5111: field('/privacy', 'The back office cannot take this value.'),
    5144: field('/dateOfBirth', 'The back office cannot take this date.'),
  },
  orders: {
    ...vouchers,
    [noData]: missing('order'),
    5004: field('/customerId', 'The back office asks for an e-mail address of the customer.'),
    5005: field('/billingAddress', notOnCard),
    5021: field('/deliveryAddress', notOnCard),
    5026: field('/payments', 'The back office sees another total due.', 'payment_total_mismatch'),
    5052: field('/orderNumber', 'There is an order with this number already.', 'order_number_taken'),
    5069: field('/receiverEmail', 'The back office cannot take this address.'),
    5070: field('/payments', 'A voucher is named twice.'),
    5072: field('/receiverName', notOnCard),
    5073: plain('voucher_not_configured', 'Vouchers of the voucher type cannot be sold online.'),
    5074: plain('voucher_not_configured', 'The back office does not know the voucher type.'),
    5075: field('/subject', 'The back office cannot take this subject.'),
    5076: plain('voucher_not_configured', 'The voucher type is not set.'),
    5082: field('/pickupStoreNumber', 'Nothing can be picked up there.'),
    5094: field('/lines', 'A price is not the one of the back office.'),
    5100: field('/payments', 'The back office does not know a gateway.', 'unknown_gateway'),
    5119: field('/pickupStoreNumber', notOnCard),
    5123: field('/freight', 'What is picked up has no freight.'),
    5129: field('/lines', 'The back office does not sell a SKU.', 'unknown_sku'),
    5220: field('/pickupStoreNumber', 'Nothing can be picked up there.'),
    5246: field('/message', 'The back office cannot take a character of this text.'),
  },
  returns: {
    [noData]: missing('order'),
    5052: field('/returnNumber', 'There is a return with this number already.', 'order_number_taken'),
    5084: field('/lines', 'A return needs a reason.'),
    5085: field('/lines', 'The back office does not know a reason (5085).'),
    5087: field('/lines', 'The back office does not take this order back.'),
    5133: missing('order'),
    5139: field('/lines', 'The back office does not find a SKU on the order (5139).', 'sku_not_on_order'),
    5140: field('/lines', 'The back office cannot take a quantity back (5140).'),
    5143: field('/lines', 'The back office cannot take a quantity back (5143).'),
  },
  voucher: { ...vouchers, [noData]: plain('voucher_not_accepted') },
  voucherValidation: { ...vouchers, [noData]: plain('voucher_not_accepted') },
  voucherLock: { ...vouchers, [noData]: plain('validation_id_incorrect') },
  rewards: {
    [noData]: missing('reward account'),
    [accountUnknown]: missing('reward account'),
    5162: missing('reward programme'),
  },
}

/** What a caller is told of the `Refusal` or the `Failure` that a call came to; anything else is itself. */
export const apiErrorFrom = (error: unknown, endpoint: Endpoint, isWrite: boolean): unknown =>
  error instanceof Refusal
    ? apiErrorFor(endpoint, error)
    : error instanceof Failure
      ? apiErrorOf(error, isWrite)
      : error

/** Its code and words stay in `cause`. */
function apiErrorFor(endpoint: Endpoint, refusal: Refusal): ApiError {
  const code = refusal.code ?? 0
  const meaning = meanings[endpoint][code] ?? everywhere[code]
  const error = meaning ? meaning() : new ApiError('back_office_error')
  error.cause = refusal
  return error
}
