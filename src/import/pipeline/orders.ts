import { createHash } from 'node:crypto'
import { addressFields, orderColumns, toAddressColumn } from '../../domain/orders/order-row.ts'
import { computeAmountDue, computeLineValue, computeRefund, sum, toMinorUnits } from '../../domain/orders/pricing.ts'
import { formatAmount, getDecimals } from '../../domain/values/money.ts'
import type { ImportedLine, ImportedOrder } from '../../store/orders/imported-orders.ts'
import type { SoldVariant } from '../../store/orders/place.ts'
import type { Row } from './ingest.ts'
import { discountsOf } from './inputs.ts'
import { RowError } from './row-error.ts'

/** What a line of an order is looked up for. */
export interface SoldItems {
  item(row: Row): ReturnType<typeof soldItem>
  /** Null where no store has the number. */
  storeId(number: string): string | null
}

/** What a line comes to. */
type Reckoned = Pick<ImportedLine, 'status' | 'quantity' | 'price' | 'discounts' | 'value' | 'returned' | 'refunded'>

/** Says why a row is rejected; the first reason counts. */
type Refuse = (row: Row, text: string, column: string, found?: unknown) => void

/** The rows of each order: those with its number that stand next to each other. */
export function rowsByOrder(rows: readonly Row[]): Row[][] {
  const orders: Row[][] = []
  for (const row of rows) {
    const last = orders.at(-1)
    if (last?.[0]?.orderNumber === row.orderNumber) last?.push(row)
    else orders.push([row])
  }
  return orders
}

/** The order that rows make up; or, where it is rejected, why each of them is. */
export function orderFrom(rows: readonly Row[], items: SoldItems, currency: string): ImportedOrder | RowError[] {
  const faults = new Map<Row, RowError>()
  const reject: Refuse = (row, ...why) => {
    if (!faults.has(row)) faults.set(row, new RowError(...why))
  }
  const decimals = getDecimals(currency)
  const header = headerOf(rows, reject)
  const lines = linesOf(rows, items, decimals, reject)
  const payments = paymentsOf(rows)
  const order = {
    number: String(header.orderNumber),
    id: textOf(header.id),
    customerId: String(header.customerId),
    pickupStoreNumber: textOf(header.pickupStoreNumber),
    placedAt: String(header.placedAt),
    billingAddress: addressOf(header, 'billing'),
    deliveryAddress: addressOf(header, 'delivery'),
    freight: textOf(header.freight) ?? '0',
    taxLines:
      typeof header.tax === 'string' && toMinorUnits(header.tax, decimals) !== 0n
        ? [{ name: textOf(header.taxName) ?? 'Tax', percentage: null, amount: header.tax }]
        : [],
    total: textOf(header.total) ?? '0',
  }
  if (!faults.size) judgeSums(header, { ...order, lines, payments }, decimals, reject)
  if (faults.size) return rows.map(row => faults.get(row) ?? ofRefusedOrder)
  const digest = createHash('sha256').update(JSON.stringify(rows)).digest()
  return { ...order, lines, payments, digest, rows: rows.length }
}

/** Why a row is rejected with which nothing is wrong. */
export const ofRefusedOrder = new RowError('Another line of this order is rejected; an order is taken as a whole.')

const textOf = (value: unknown) => (typeof value === 'string' ? value : null)

/** What the rows share: it stands in the first one, and in the others again or not at all. */
function headerOf(rows: readonly Row[], reject: Refuse): Row {
  const [first = {}] = rows
  for (const name of ['customerId', 'placedAt', 'total'])
    if (typeof first[name] !== 'string') reject(first, 'is required in the first line of an order', name)
  for (const row of rows)
    for (const name in orderColumns)
      if (typeof row[name] === 'string' && row[name] !== first[name])
        reject(row, 'is not what the first line of the order says', name)
  return first
}

const addressOf = (row: Row, prefix: string) =>
  Object.fromEntries(addressFields.map(field => [field, textOf(row[toAddressColumn(prefix, field)])]))

const isLine = ({ sku, skuId }: Row) => typeof (sku ?? skuId) === 'string'

function linesOf(rows: readonly Row[], items: SoldItems, decimals: number, reject: Refuse): ImportedLine[] {
  const seen = new Set<unknown>()
  return rows.filter(isLine).map((row, i) => {
    const { storeNumber } = row
    const sequence = row.sequence ?? i + 1
    if (seen.has(sequence)) reject(row, 'stands twice in the order', 'sequence', sequence)
    seen.add(sequence)
    const storeId = typeof storeNumber === 'string' ? items.storeId(storeNumber) : null
    return { sequence: Number(sequence), ...items.item(row), ...reckoned(row, decimals, reject), storeId }
  })
}

/** What a line comes to, and what of it came back. */
function reckoned(row: Row, decimals: number, reject: Refuse): Reckoned {
  const shown = (minor: bigint) => formatAmount(minor, decimals)
  const given = (column: string) => (typeof row[column] === 'string' ? toMinorUnits(row[column], decimals) : undefined)
  const quantity = Number(row.quantity)
  const price = given('price') ?? 0n
  const off = (discountsOf(row) ?? []).map(discount => ({
    ...discount,
    amount: toMinorUnits(discount.amount, decimals),
  }))
  const due = computeLineValue(
    price,
    quantity,
    off.map(discount => discount.amount),
  )
  const discounts = off.map(discount => ({ ...discount, amount: shown(discount.amount) }))
  const value = given('value') ?? due
  // Who tells only what was paid has given a discount.
  if (!discounts.length && value < due)
    discounts.push({ type: 'discount', reason: null, amount: shown(due - value), percentage: null })
  else if (value !== due) reject(row, 'is not the price of the units less the discount', 'value', shown(due))
  if (value < 0n) reject(row, 'is more than the line costs', 'discountAmount')

  const { status = 'shipped' } = row as { status?: ImportedLine['status'] }
  const isSold = status === 'shipped' || status === 'returned'
  const returned = Number(row.returned ?? (status === 'returned' ? quantity : 0))
  if (returned > quantity) reject(row, 'is more than the quantity', 'returned')
  if (returned > 0 && !isSold) reject(row, `is more than 0 while the line is ${status}`, 'returned')
  if (returned < quantity && status === 'returned')
    reject(row, 'is less than the quantity: a line is returned once all of it is, and shipped before', 'returned')
  const refunded = given('refunded') ?? computeRefund({ value, quantity, returned: 0, refunded: 0n }, returned)
  if (refunded > value) reject(row, 'is more than was paid for the line', 'refunded')
  return {
    status: isSold ? (returned === quantity ? 'returned' : 'shipped') : status,
    quantity,
    price: shown(price),
    discounts,
    value: shown(value),
    returned,
    refunded: shown(refunded),
  }
}

/** What a row calls the item that was sold; what it does not say, as the product has it now. */
export function soldItem(row: Row, variant: SoldVariant | undefined) {
  const said = (column: string) => textOf(row[column])
  const sku = variant?.sku ?? said('sku') ?? said('skuId') ?? ''
  return {
    skuId: variant?.skuId ?? said('skuId') ?? sku,
    sku,
    productCode: said('productCode') ?? variant?.productCode ?? sku,
    productName: said('productName') ?? variant?.productName ?? sku,
    colourCode: said('colourCode') ?? variant?.colourCode ?? null,
    colourName: said('colourName') ?? variant?.colourName ?? null,
    sizeCode: said('sizeCode') ?? variant?.sizeCode ?? '-',
  }
}

/** The payments of an order: one that several rows repeat is one. */
function paymentsOf(rows: readonly Row[]): ImportedOrder['payments'] {
  const payments = rows.flatMap(row =>
    typeof row.paymentAmount === 'string'
      ? {
          gateway: String(row.paymentGateway),
          amount: row.paymentAmount,
          reference: textOf(row.paymentReference),
          voucherNumber: textOf(row.paymentVoucher),
        }
      : [],
  )
  return [...new Map(payments.map(payment => [JSON.stringify(payment), payment])).values()]
}

/** An order says what it comes to, so that one of which a line is missing is not taken for the whole. */
function judgeSums(
  header: Row,
  {
    lines,
    freight,
    taxLines,
    total,
    payments,
  }: Pick<ImportedOrder, 'lines' | 'freight' | 'taxLines' | 'total' | 'payments'>,
  decimals: number,
  reject: Refuse,
) {
  const minor = (text: string) => toMinorUnits(text, decimals)
  const due = computeAmountDue(
    lines.map(line => minor(line.value)),
    minor(freight),
    taxLines.map(({ amount }) => minor(amount)),
  )
  const paid = sum(payments.map(payment => minor(payment.amount)))
  if (!lines.length) reject(header, 'has no line that names a SKU', 'orderNumber')
  else if (due !== minor(total))
    reject(header, 'must be the sum of lines, freight and tax', 'total', formatAmount(due, decimals))
  else if (payments.length && paid !== due)
    reject(
      header,
      'is not what is due, taken together',
      'paymentAmount',
      `${formatAmount(paid, decimals)}, not ${formatAmount(due, decimals)}`,
    )
}
