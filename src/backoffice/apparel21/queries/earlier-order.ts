import type { PricedOrder } from '../../../domain/orders/order-rules.ts'
import type { OrderInput } from '../../../domain/orders/orders.ts'
import { sum, toMinorUnits } from '../../../domain/orders/pricing.ts'
import { ApiError, type ErrorCode, type FieldError } from '../../../errors/api-error.ts'
import { findVariants, type SoldVariant } from '../../../store/orders/place.ts'
import { isRejection, NotApplied, type Write } from '../../../writes/write.ts'
import { findRetailApiError } from '../client/retail-api-error.ts'
import { type BackOfficeLine, parseOrder } from '../mapping/order-from-xml.ts'
import { InvalidRecord } from '../xml/invalid-record.ts'
import type { Xml } from '../xml/xml.ts'

/** An order of the back office, with the values that are stored. */
export interface EarlierOrder extends Pick<PricedOrder, 'lines' | 'freight' | 'total'> {
  id: string
  variants: ReadonlyMap<string, SoldVariant>
}

/** Errors that a retry can get although an earlier attempt succeeded, because prices, SKUs and vouchers change in between. */
const volatileErrors: ReadonlySet<ErrorCode> = new Set([
  ...([
    'coupon_unusable',
    'coupon_locked',
    'unknown_sku',
    'quote_expired',
    'payment_total_mismatch',
    'validation_id_incorrect',
    'voucher_locked',
  ] as const),
  ...(['voucher_unusable', 'voucher_must_be_used_in_full', 'insufficient_voucher_balance'] as const),
])

const isVolatile = ({ code, pointer = '' }: Partial<FieldError>) =>
  (code !== undefined && volatileErrors.has(code)) || /^\/lines\/\d+\/(price|discounts)$/.test(pointer)

/**
 * Returns the order that an earlier attempt at this write placed, although this attempt failed with `error`. Otherwise the caller would
 * believe the order was rejected, and place another one. The order is recognised by number, person, units and payments; its prices are
 * from the earlier attempt. `find` loads the order with this number and person. Returns undefined if there is no such order.
 */
export async function findEarlierOrder(
  write: Pick<Write, 'read' | 'service' | 'isKeyed' | 'previouslyInDoubt'>,
  input: OrderInput,
  { find, decimals, error }: { find: () => Promise<Xml | undefined>; decimals: number; error: unknown },
): Promise<EarlierOrder | undefined> {
  if (!canBeAfterSuccess(write, error)) return
  const { read, service } = write
  const candidate = await find()
  if (!candidate) return
  let order: ReturnType<typeof parseOrder>
  try {
    order = parseOrder(candidate, { defaultCurrency: service.settings.currency })
  } catch (parseError) {
    if (parseError instanceof InvalidRecord) return
    throw parseError
  }
  const { id, personId, freight } = order
  const total = sum(order.lines.map(line => line.value)) + freight
  const paid = sum(input.payments.map(payment => toMinorUnits(payment.amount, decimals)))
  const skus = input.lines.map(({ sku }) => sku)
  const currentVariants = await read(db => findVariants(db, service, skus, decimals))
  const variantsBySku = new Map(currentVariants.map(variant => [variant.sku, variant]))
  const lines = matchLines(input, order.lines, variantsBySku)
  if (!lines || personId !== input.customerId || paid !== total) return
  const variants = new Map(
    input.lines.map(({ sku }, i) => [sku, variantsBySku.get(sku) ?? toSoldVariant(sku, lines[i])]),
  )
  return { id, lines, freight, total, variants }
}

/**
 * True if this error can occur only because an earlier attempt succeeded. After an in-doubt attempt, any rejection can. Without one,
 * only volatile errors of a keyed write count, so that the back office isn't queried for every invalid request.
 */
function canBeAfterSuccess(
  { isKeyed, previouslyInDoubt }: Pick<Write, 'isKeyed' | 'previouslyInDoubt'>,
  error: unknown,
): boolean {
  if (error instanceof NotApplied) return true
  if (previouslyInDoubt()) return isRejection(error)
  if (!isKeyed || !(error instanceof ApiError) || findRetailApiError(error)) return false
  const errors: Partial<FieldError>[] = error.errors.length ? [...error.errors] : [error]
  return errors.every(isVolatile)
}

/** Returns the order's line for each input line, matched by SKU and quantity. Returns undefined if the lines differ. */
function matchLines(
  { lines }: OrderInput,
  orderLines: readonly BackOfficeLine[],
  variants: ReadonlyMap<string, SoldVariant>,
) {
  const unmatched = [...orderLines]
  const matched = lines.flatMap(({ sku, quantity }) => {
    const skuId = variants.get(sku)?.skuId
    const index = unmatched.findIndex(line => line.quantity === quantity && (skuId ?? line.skuId) === line.skuId)
    return index < 0 ? [] : unmatched.splice(index, 1)
  })
  return matched.length === lines.length && unmatched.length === 0 ? matched : undefined
}

/** Returns the variant of a SKU that is no longer known, from the order line. */
function toSoldVariant(sku: string, line: BackOfficeLine | undefined): SoldVariant {
  if (!line) throw new Error(`no order line was matched to SKU ${sku}`)
  const { skuId, productCode, productName, colourCode, colourName, sizeCode } = line
  return { sku, skuId, price: '0', productCode, productName, colourCode, colourName, sizeCode }
}
