import type { PricedOrder } from '../../../domain/orders/order-rules.ts'
import type { OrderInput } from '../../../domain/orders/orders.ts'
import { sum, toMinorUnits } from '../../../domain/orders/pricing.ts'
import { ApiError, type ErrorCode, type FieldError } from '../../../errors/api-error.ts'
import { type SoldVariant, variantsOf } from '../../../store/orders/place.ts'
import { isRejection, NotApplied, type Write } from '../../../writes/write.ts'
import { findRetailApiError } from '../client/retail-api-error.ts'
import { type BackOfficeLine, parseOrder } from '../mapping/order-from-xml.ts'
import { InvalidRecord } from '../xml/invalid-record.ts'
import type { Xml } from '../xml/xml.ts'

/** An order that the back office has, as far as our tables need it. */
export interface EarlierOrder extends Pick<PricedOrder, 'lines' | 'freight' | 'total'> {
  id: string
  variants: ReadonlyMap<string, SoldVariant>
}

/** What a request is often refused for that an earlier attempt was not: prices, SKUs and vouchers change in between. */
const volatileErrors: ReadonlySet<ErrorCode> = new Set([
  ...(['unknown_sku', 'payment_total_mismatch', 'validation_id_incorrect', 'voucher_locked'] as const),
  ...(['voucher_unusable', 'voucher_must_be_used_in_full', 'insufficient_voucher_balance'] as const),
])

const isVolatile = ({ code, pointer = '' }: Partial<FieldError>) =>
  (code !== undefined && volatileErrors.has(code)) || /^\/lines\/\d+\/(price|discounts)$/.test(pointer)

/**
 * The order that an earlier attempt at this write has placed, whose outcome nobody knew, where `error` is what it would be refused for
 * now: whoever is told that it was refused would place another one. It is known by its number, person, units and payments; its
 * prices are those of that attempt. `find` looks for the order with the number, for this person. Undefined: there is none.
 */
export async function findEarlierOrder(
  write: Pick<Write, 'read' | 'service' | 'isKeyed' | 'wasOpen'>,
  input: OrderInput,
  { find, decimals, error }: { find: () => Promise<Xml | undefined>; decimals: number; error: unknown },
): Promise<EarlierOrder | undefined> {
  if (!canBeAfterSuccess(write, error)) return
  const { read, service } = write
  const found = await find()
  if (!found) return
  let order: ReturnType<typeof parseOrder>
  try {
    order = parseOrder(found, { defaultCurrency: service.settings.currency })
  } catch (fault) {
    if (fault instanceof InvalidRecord) return
    throw fault
  }
  const { id, personId, freight } = order
  const total = sum(order.lines.map(line => line.value)) + freight
  const paid = sum(input.payments.map(payment => toMinorUnits(payment.amount, decimals)))
  const skus = input.lines.map(({ sku }) => sku)
  const variantsNow = await read(db => variantsOf(db, service, skus, decimals))
  const known = new Map(variantsNow.map(variant => [variant.sku, variant]))
  const lines = matchLines(input, order.lines, known)
  if (!lines || personId !== input.customerId || paid !== total) return
  const variants = new Map(input.lines.map(({ sku }, i) => [sku, known.get(sku) ?? toSoldVariant(sku, lines[i])]))
  return { id, lines, freight, total, variants }
}

/**
 * Whether a write may come to this only because an earlier attempt at it was carried out: after one that was left open, whatever it is
 * refused for. One that was given up may have been carried out later, but the back office is not asked about everybody's slips.
 */
function canBeAfterSuccess({ isKeyed, wasOpen }: Pick<Write, 'isKeyed' | 'wasOpen'>, error: unknown): boolean {
  if (error instanceof NotApplied) return true
  if (wasOpen()) return isRejection(error)
  if (!isKeyed || !(error instanceof ApiError) || findRetailApiError(error)) return false
  const faults: Partial<FieldError>[] = error.errors.length ? [...error.errors] : [error]
  return faults.every(isVolatile)
}

/** The line of the order for each one of the input, of the same SKU where that is still known; undefined: they are not the same. */
function matchLines({ lines }: OrderInput, read: readonly BackOfficeLine[], known: ReadonlyMap<string, SoldVariant>) {
  const left = [...read]
  const found = lines.flatMap(({ sku, quantity }) => {
    const skuId = known.get(sku)?.skuId
    const place = left.findIndex(line => line.quantity === quantity && (skuId ?? line.skuId) === line.skuId)
    return place < 0 ? [] : left.splice(place, 1)
  })
  return found.length === lines.length && left.length === 0 ? found : undefined
}

/** A SKU that is not known any more, as it was sold. */
function toSoldVariant(sku: string, line: BackOfficeLine | undefined): SoldVariant {
  if (!line) throw new Error('each line was found')
  const { skuId, productCode, productName, colourCode, colourName, sizeCode } = line
  return { sku, skuId, price: '0', productCode, productName, colourCode, colourName, sizeCode }
}
