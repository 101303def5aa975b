import type { OrderInput } from '../../../domain/orders/orders.ts'
import { withPointer } from '../../../domain/vouchers/redemption.ts'
import { ApiError, type ErrorCode } from '../../../errors/api-error.ts'
import type { Connection } from '../client/connection.ts'
import { findRetailApiError } from '../client/retail-api-error.ts'
import type { NewOrder } from '../mapping/order-to-xml.ts'

/** The Retail API's code for a value that is too long. The message names its element. */
const textTooLong = 5014
/** The codes for an unknown gateway and SKU of an order. The message can name it. */
const unknownGateway = 5100
const unknownSku = 5129

/** Points the error at the field that is too long for the back office. Returns any other error unchanged. */
export function pointToTooLongText(error: unknown, body: unknown): unknown {
  const rejection = findRetailApiError(error)
  if (rejection?.code !== textTooLong || !(error instanceof ApiError)) return error
  const pointer = findPointer(rejection.message, body)
  return pointer === undefined ? error : withPointer(pointer, error)
}

/** Points an order's error at its field, as far as the back office names it. */
export function pointIntoOrder(
  error: unknown,
  { skuIds }: Pick<NewOrder, 'skuIds'>,
  input: OrderInput,
  { gateways = {} }: Pick<Connection, 'gateways'>,
): unknown {
  const rejection = findRetailApiError(error)
  if (!rejection || !(error instanceof ApiError)) return error
  const isInMessage = (name: string | undefined) => name !== undefined && splitWords(rejection.message).has(name)
  if (rejection.code === unknownSku) {
    const index = findIndexOfNamed(input.lines, ({ sku }) => isInMessage(skuIds.get(sku)))
    return index === undefined ? error : withPointer(`/lines/${index}/sku`, error)
  }
  if (rejection.code === unknownGateway) {
    const index = findIndexOfNamed(input.payments, ({ gateway }) => isInMessage(gateways[gateway]?.merchantId))
    return index === undefined ? error : withPointer(`/payments/${index}/gateway`, error)
  }
  return pointToTooLongText(pointToVoucher(error, input), input)
}

const splitWords = (text: string) => new Set(text.split(/[^\w-]+/))

/** Returns the index of the first entry that the message names, or of the only entry. Otherwise returns undefined. */
function findIndexOfNamed<T>(entries: readonly T[], isNamed: (entry: T) => boolean): number | undefined {
  const namedIndex = entries.findIndex(isNamed)
  if (namedIndex >= 0) return namedIndex
  return entries.length === 1 ? 0 : undefined
}

const voucherErrors: ReadonlySet<ErrorCode> = new Set([
  ...(['voucher_not_accepted', 'validation_id_incorrect', 'voucher_locked', 'voucher_unusable'] as const),
  ...(['voucher_must_be_used_in_full', 'insufficient_voucher_balance'] as const),
])

/** Points a voucher error at the voucher, if only one voucher pays for the order. */
function pointToVoucher(error: ApiError, { payments }: OrderInput): ApiError {
  const [index, furtherIndex] = payments.flatMap(({ voucher }, i) => (voucher ? [i] : []))
  if (index === undefined || furtherIndex !== undefined) return error
  return voucherErrors.has(error.code) ? withPointer(`/payments/${index}/voucher`, error) : error
}

/** Fields of request bodies whose name differs from the element's. Some bodies use the element's name, so both are searched. */
const fieldNames: Readonly<Record<string, string>> = {
  Description: 'reason',
  Email: 'receiverEmail',
  EmailSubject: 'subject',
  OrderNumber: 'returnNumber',
  PersonalisedMessage: 'message',
  ReturnReasonNotes: 'notes',
  Stan: 'reference',
}

/** Returns the pointer of the body's field whose element a message names. If several match, returns the longest value's. Returns undefined if none matches. */
function findPointer(message: string, body: unknown): string | undefined {
  const elements = message.match(/\b[A-Z]\w*/g) ?? []
  const names = new Set(
    elements.flatMap(name => [name.charAt(0).toLowerCase() + name.slice(1), fieldNames[name] ?? name]),
  )
  const [longest] = listStrings(body, '')
    .filter(({ pointer }) => names.has(pointer.slice(pointer.lastIndexOf('/') + 1)))
    .sort((a, b) => b.length - a.length)
  return longest?.pointer
}

function listStrings(value: unknown, pointer: string): { pointer: string; length: number }[] {
  if (typeof value === 'string') return [{ pointer, length: value.length }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => listStrings(member, `${pointer}/${name}`))
}
