import { createHash } from 'node:crypto'
import { addressFields, orderColumns, toAddressColumn } from '../../domain/orders/order-row.ts'
import { computeAmountDue, computeLineValue, computeRefund, sum, toMinorUnits } from '../../domain/orders/pricing.ts'
import { formatAmount, getDecimals } from '../../domain/values/money.ts'
import type { ImportedLine, ImportedOrder } from '../../store/orders/imported-orders.ts'
import type { SoldVariant } from '../../store/orders/place.ts'
import type { Row } from './ingest.ts'
import { buildTaxLines, toDiscounts } from './inputs.ts'
import { RowError } from './row-error.ts'
import { isOrderLine } from './rules.ts'

/** Finds the items and stores of order rows. */
interface ItemLookup {
  item(row: Row): ReturnType<typeof toSoldItem>
  /** Returns null if no store has the number. */
  storeId(number: string): string | null
}

type LineAmounts = Pick<ImportedLine, 'status' | 'quantity' | 'price' | 'discounts' | 'value' | 'returned' | 'refunded'>

/** Rejects a row. Only its first error counts. */
type RejectRow = (row: Row, message: string, column: string, value?: unknown) => void

/** Groups consecutive rows with the same order number. */
export function groupByOrder(rows: readonly Row[]): Row[][] {
  const orders: Row[][] = []
  for (const row of rows) {
    const last = orders.at(-1)
    if (last?.[0]?.orderNumber === row.orderNumber) last?.push(row)
    else orders.push([row])
  }
  return orders
}

/** Converts rows to their order. If it is rejected, returns the error of each row. */
export function toOrder(
  rows: readonly Row[],
  items: ItemLookup & { customerId(email: string): string | undefined },
  currency: string,
): ImportedOrder | RowError[] {
  const errors = new Map<Row, RowError>()
  const reject: RejectRow = (row, ...error) => {
    if (!errors.has(row)) errors.set(row, new RowError(...error))
  }
  const decimals = getDecimals(currency)
  const header = getHeader(rows, reject)
  const email = toText(header.customerEmail)
  const customerId = toText(header.customerId) ?? (email === null ? undefined : items.customerId(email))
  if (customerId === undefined && email !== null) reject(header, 'unknown customer', 'customerEmail', email)
  const lines = toLines(rows, items, decimals, reject)
  const payments = toPayments(rows)
  const order = {
    number: String(header.orderNumber),
    id: toText(header.id),
    customerId: String(customerId),
    pickupStoreNumber: toText(header.pickupStoreNumber),
    placedAt: String(header.placedAt),
    billingAddress: toAddress(header, 'billing'),
    deliveryAddress: toAddress(header, 'delivery'),
    freight: toText(header.freight) ?? '0',
    taxLines:
      typeof header.tax === 'string' && pricesIncludeTax(header, lines, decimals)
        ? []
        : buildTaxLines(header.tax, header.taxName),
    total: toText(header.total) ?? '0',
  }
  if (!errors.size) checkSums(header, { ...order, lines, payments }, decimals, reject)
  if (errors.size) return rows.map(row => errors.get(row) ?? rejectedWithOrder)
  const digest = createHash('sha256').update(JSON.stringify(rows)).digest()
  return { ...order, lines, payments, digest, rows: rows.length }
}

/** True if the lines and the freight equal the total: then a tax is part of the prices. */
const pricesIncludeTax = (header: Row, lines: readonly ImportedLine[], decimals: number) =>
  sum([...lines.map(({ value }) => value), toText(header.freight) ?? '0'].map(text => toMinorUnits(text, decimals))) ===
  toMinorUnits(toText(header.total) ?? '0', decimals)

/** The error of a valid row in a rejected order. */
export const rejectedWithOrder = new RowError(
  'Another line of this order was rejected. An order is imported completely or not at all.',
)

const toText = (value: unknown) => (typeof value === 'string' ? value : null)

/** Returns the first row, which has the fields of the order. The other rows can repeat them. */
function getHeader(rows: readonly Row[], reject: RejectRow): Row {
  const [first = {}] = rows
  for (const name of [first.customerEmail == null ? 'customerId' : 'customerEmail', 'placedAt', 'total'])
    if (typeof first[name] !== 'string') reject(first, 'is required in the first line of an order', name)
  for (const row of rows)
    for (const name in orderColumns)
      if (typeof row[name] === 'string' && row[name] !== first[name])
        reject(row, 'must be the same as in the first line of the order', name)
  return first
}

const toAddress = (row: Row, prefix: string) =>
  Object.fromEntries(addressFields.map(field => [field, toText(row[toAddressColumn(prefix, field)])]))

function toLines(rows: readonly Row[], items: ItemLookup, decimals: number, reject: RejectRow): ImportedLine[] {
  const seen = new Set<unknown>()
  const shares = spreadOrderDiscount(rows, decimals, reject)
  let refund = toMinorUnits(toText(rows[0]?.orderRefunded) ?? '0', decimals)
  return rows.filter(isOrderLine).map((row, i) => {
    const { storeNumber } = row
    const sequence = row.sequence ?? i + 1
    if (seen.has(sequence)) reject(row, 'must be unique within the order', 'sequence', sequence)
    seen.add(sequence)
    const storeId = typeof storeNumber === 'string' ? items.storeId(storeNumber) : null
    const amounts = computeLine(row, shares.get(row), decimals, reject)
    const refunded = toMinorUnits(amounts.refunded, decimals)
    const refundable = toMinorUnits(amounts.value, decimals) - refunded
    const share = refund < refundable ? refund : refundable
    refund -= share
    return {
      sequence: Number(sequence),
      ...items.item(row),
      ...amounts,
      refunded: formatAmount(refunded + share, decimals),
      storeId,
    }
  })
}

type Discount = ImportedLine['discounts'][number]

/**
 * Spreads the discount of an order over its lines in proportion to their values. Rounding differences go to the last lines, so the shares
 * equal the discount exactly.
 */
function spreadOrderDiscount(rows: readonly Row[], decimals: number, reject: RejectRow): Map<Row, Discount> {
  const shares = new Map<Row, Discount>()
  const [header = {}] = rows
  let rest = toMinorUnits(toText(header.orderDiscount) ?? '0', decimals)
  const values = rows.filter(isOrderLine).map(row => {
    const discounts = (toDiscounts(row) ?? []).map(({ amount }) => toMinorUnits(amount, decimals))
    return [
      row,
      computeLineValue(toMinorUnits(toText(row.price) ?? '0', decimals), Number(row.quantity), discounts),
    ] as const
  })
  let restValue = sum(values.map(([, value]) => value))
  if (rest > restValue)
    reject(header, 'must be at most the value of the lines', 'orderDiscount', formatAmount(restValue, decimals))
  for (const [row, value] of values) {
    const amount = restValue > 0n ? (rest * value) / restValue : 0n
    if (amount > 0n) {
      const reason = toText(header.orderDiscountReason)
      shares.set(row, { type: 'order', reason, amount: formatAmount(amount, decimals), percentage: null })
    }
    rest -= amount
    restValue -= value
  }
  return shares
}

/** Computes the amounts of a line, and what was returned. */
function computeLine(row: Row, share: Discount | undefined, decimals: number, reject: RejectRow): LineAmounts {
  const format = (minor: bigint) => formatAmount(minor, decimals)
  const getAmount = (column: string) =>
    typeof row[column] === 'string' ? toMinorUnits(row[column], decimals) : undefined
  const quantity = Number(row.quantity)
  const price = getAmount('price') ?? 0n
  const ownDiscounts = [...(toDiscounts(row) ?? []), ...(share ? [share] : [])].map(discount => ({
    ...discount,
    amount: toMinorUnits(discount.amount, decimals),
  }))
  const due = computeLineValue(
    price,
    quantity,
    ownDiscounts.map(discount => discount.amount),
  )
  const discounts = ownDiscounts.map(discount => ({ ...discount, amount: format(discount.amount) }))
  const value = getAmount('value') ?? due
  // A lower value without a discount implies one.
  if (!discounts.length && value < due)
    discounts.push({ type: 'discount', reason: null, amount: format(due - value), percentage: null })
  else if (value !== due) reject(row, 'must be quantity times price minus the discount', 'value', format(due))
  if (value < 0n) reject(row, 'must be at most quantity times price', 'discountAmount')

  const { status = 'shipped' } = row as { status?: ImportedLine['status'] }
  const isSold = status === 'shipped' || status === 'returned'
  const returned = Number(row.returned ?? (status === 'returned' ? quantity : 0))
  if (returned > quantity) reject(row, 'must be at most the quantity', 'returned')
  if (returned > 0 && !isSold) reject(row, `must be 0 if the line is ${status}`, 'returned')
  if (returned < quantity && status === 'returned')
    reject(row, 'must be the quantity if the line is returned. A line with a partial return is shipped', 'returned')
  const refunded = getAmount('refunded') ?? computeRefund({ value, quantity, returned: 0, refunded: 0n }, returned)
  if (refunded > value) reject(row, 'must be at most the value of the line', 'refunded')
  return {
    status: isSold ? (returned === quantity ? 'returned' : 'shipped') : status,
    quantity,
    price: format(price),
    discounts,
    value: format(value),
    returned,
    refunded: format(refunded),
  }
}

/** Returns the sold item of a row. Missing fields come from the product. */
export function toSoldItem(row: Row, variant: SoldVariant | undefined) {
  const getText = (column: string) => toText(row[column])
  const sku =
    variant?.sku ?? getText('sku') ?? getText('skuId') ?? [...(getText('productName') ?? '')].slice(0, 100).join('')
  return {
    skuId: variant?.skuId ?? getText('skuId') ?? sku,
    sku,
    productCode: getText('productCode') ?? variant?.productCode ?? sku,
    productName: getText('productName') ?? variant?.productName ?? sku,
    colourCode: getText('colourCode') ?? variant?.colourCode ?? null,
    colourName: getText('colourName') ?? variant?.colourName ?? null,
    sizeCode: getText('sizeCode') ?? variant?.sizeCode ?? '-',
  }
}

/** Returns the payments of an order. Equal payments of several rows are one. */
function toPayments(rows: readonly Row[]): ImportedOrder['payments'] {
  const payments = rows.flatMap(row =>
    typeof row.paymentAmount === 'string'
      ? {
          gateway: String(row.paymentGateway),
          amount: row.paymentAmount,
          reference: toText(row.paymentReference),
          voucherNumber: toText(row.paymentVoucher),
        }
      : [],
  )
  return [...new Map(payments.map(payment => [JSON.stringify(payment), payment])).values()]
}

/** Names the column that an export with another total usually has, and that is missing. */
function explainDifference(header: Row, difference: bigint): string {
  if (difference < 0n && header.orderDiscount === undefined)
    return ' (a discount of the order belongs in orderDiscount)'
  return difference > 0n && header.tax === undefined ? ' (tax on top of the prices belongs in tax)' : ''
}

/** Checks the total, so that an order with missing lines is rejected. */
function checkSums(
  header: Row,
  {
    lines,
    freight,
    taxLines,
    total,
    payments,
  }: Pick<ImportedOrder, 'lines' | 'freight' | 'taxLines' | 'total' | 'payments'>,
  decimals: number,
  reject: RejectRow,
) {
  const toMinor = (text: string) => toMinorUnits(text, decimals)
  const due = computeAmountDue(
    lines.map(line => toMinor(line.value)),
    toMinor(freight),
    taxLines.map(({ amount }) => toMinor(amount)),
  )
  const paid = sum(payments.map(payment => toMinor(payment.amount)))
  if (!lines.length) reject(header, 'must have a line with a SKU or a productName', 'orderNumber')
  else if (due !== toMinor(total))
    reject(
      header,
      `must be the sum of lines, freight and tax${explainDifference(header, toMinor(total) - due)}`,
      'total',
      formatAmount(due, decimals),
    )
  else if (payments.length && paid !== due)
    reject(
      header,
      'must add up to the total of the order',
      'paymentAmount',
      `${formatAmount(paid, decimals)}, not ${formatAmount(due, decimals)}`,
    )
}
