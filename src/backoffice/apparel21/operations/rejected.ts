import type { OrderInput } from '../../../domain/orders/orders.ts'
import { pointedAt } from '../../../domain/vouchers/redemption.ts'
import { ApiError, type ErrorCode } from '../../../errors/api-error.ts'
import type { Connection } from '../client/connection.ts'
import { refusalBehind } from '../client/rejection.ts'
import type { PlacedOrder } from '../mapping/order-to-xml.ts'
import { placeOfText } from '../mapping/pointer-of-element.ts'

/** A text is too long; the words name its element. */
const tooLong = 5014
/** An order's gateway, or SKU, is none; the words may name it. */
const noGateway = 5100
const noSku = 5129

/** The same error, with the place of a text of the body that the back office finds too long. */
export function atText(error: unknown, body: unknown): unknown {
  const refusal = refusalBehind(error)
  if (refusal?.code !== tooLong || !(error instanceof ApiError)) return error
  const place = placeOfText(refusal.message, body)
  return place === undefined ? error : pointedAt(place, error)
}

/** What an order is refused for, with its place in the body as far as the back office tells it. */
export function atOrder(
  error: unknown,
  { skuIds }: Pick<PlacedOrder, 'skuIds'>,
  input: OrderInput,
  { gateways = {} }: Pick<Connection, 'gateways'>,
): unknown {
  const refusal = refusalBehind(error)
  if (!refusal || !(error instanceof ApiError)) return error
  const names = (name: string | undefined) => name !== undefined && wordsOf(refusal.message).has(name)
  if (refusal.code === noSku) {
    const place = theOne(input.lines, ({ sku }) => names(skuIds.get(sku)))
    return place === undefined ? error : pointedAt(`/lines/${place}/sku`, error)
  }
  if (refusal.code === noGateway) {
    const place = theOne(input.payments, ({ gateway }) => names(gateways[gateway]?.merchantId))
    return place === undefined ? error : pointedAt(`/payments/${place}/gateway`, error)
  }
  return atText(atVoucher(error, input), input)
}

const wordsOf = (text: string) => new Set(text.split(/[^\w-]+/))

/** The index of the entry that is meant: the first that the message names, or the only one. */
function theOne<T>(all: readonly T[], isNamed: (one: T) => boolean): number | undefined {
  const named = all.findIndex(isNamed)
  if (named >= 0) return named
  return all.length === 1 ? 0 : undefined
}

const ofVouchers: ReadonlySet<ErrorCode> = new Set([
  ...(['voucher_not_accepted', 'validation_id_incorrect', 'voucher_locked', 'voucher_unusable'] as const),
  ...(['voucher_must_be_used_in_full', 'insufficient_voucher_balance'] as const),
])

/** What is the matter with the only voucher that pays, with its place. */
function atVoucher(error: ApiError, { payments }: OrderInput): ApiError {
  const [place, other] = payments.flatMap(({ voucher }, i) => (voucher ? [i] : []))
  if (place === undefined || other !== undefined) return error
  return ofVouchers.has(error.code) ? pointedAt(`/payments/${place}/voucher`, error) : error
}
