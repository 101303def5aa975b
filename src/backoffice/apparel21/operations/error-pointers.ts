import type { OrderInput } from '../../../domain/orders/orders.ts'
import { withPointer } from '../../../domain/vouchers/redemption.ts'
import { ApiError, type ErrorCode } from '../../../errors/api-error.ts'
import type { Connection } from '../client/connection.ts'
import { findRetailApiError } from '../client/retail-api-error.ts'
import { findPointer } from '../mapping/field-pointer.ts'
import type { NewOrder } from '../mapping/order-to-xml.ts'

/** A text is too long; the words name its element. */
const textTooLong = 5014
/** An order's gateway, or SKU, is none; the words may name it. */
const unknownGateway = 5100
const unknownSku = 5129

/** The same error, with the place of a text of the body that the back office finds too long. */
export function pointToText(error: unknown, body: unknown): unknown {
  const refusal = findRetailApiError(error)
  if (refusal?.code !== textTooLong || !(error instanceof ApiError)) return error
  const place = findPointer(refusal.message, body)
  return place === undefined ? error : withPointer(place, error)
}

/** What an order is refused for, with its place in the body as far as the back office tells it. */
export function pointIntoOrder(
  error: unknown,
  { skuIds }: Pick<NewOrder, 'skuIds'>,
  input: OrderInput,
  { gateways = {} }: Pick<Connection, 'gateways'>,
): unknown {
  const refusal = findRetailApiError(error)
  if (!refusal || !(error instanceof ApiError)) return error
  const names = (name: string | undefined) => name !== undefined && splitWords(refusal.message).has(name)
  if (refusal.code === unknownSku) {
    const place = findIndexOfNamed(input.lines, ({ sku }) => names(skuIds.get(sku)))
    return place === undefined ? error : withPointer(`/lines/${place}/sku`, error)
  }
  if (refusal.code === unknownGateway) {
    const place = findIndexOfNamed(input.payments, ({ gateway }) => names(gateways[gateway]?.merchantId))
    return place === undefined ? error : withPointer(`/payments/${place}/gateway`, error)
  }
  return pointToText(pointToVoucher(error, input), input)
}

const splitWords = (text: string) => new Set(text.split(/[^\w-]+/))

/** The index of the entry that is meant: the first that the message names, or the only one. */
function findIndexOfNamed<T>(all: readonly T[], isNamed: (one: T) => boolean): number | undefined {
  const named = all.findIndex(isNamed)
  if (named >= 0) return named
  return all.length === 1 ? 0 : undefined
}

const voucherErrors: ReadonlySet<ErrorCode> = new Set([
  ...(['voucher_not_accepted', 'validation_id_incorrect', 'voucher_locked', 'voucher_unusable'] as const),
  ...(['voucher_must_be_used_in_full', 'insufficient_voucher_balance'] as const),
])

/** What is the matter with the only voucher that pays, with its place. */
function pointToVoucher(error: ApiError, { payments }: OrderInput): ApiError {
  const [place, other] = payments.flatMap(({ voucher }, i) => (voucher ? [i] : []))
  if (place === undefined || other !== undefined) return error
  return voucherErrors.has(error.code) ? withPointer(`/payments/${place}/voucher`, error) : error
}
