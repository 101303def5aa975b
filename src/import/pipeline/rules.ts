import type { Row } from './ingest.ts'
import { RowError } from './row-error.ts'

/** Checks a rule for several columns of a row. Returns undefined if the row obeys it. */
export type Rule = (row: Row) => RowError | undefined

/** Creates the check that amounts can't be negative. */
export const createNonNegativeCheck =
  (...columns: readonly string[]): Rule =>
  row => {
    const negative = columns.find(name => Number(row[name] ?? 0) < 0)
    return negative === undefined ? undefined : new RowError('must be at least 0', negative)
  }

export const checkSku: Rule = ({ sku, skuId }) =>
  (sku ?? skuId) ? undefined : new RowError('is required if the line has no skuId', 'sku')

/** An amount has at most twelve digits before the point. */
const maxAmount = 1e12

export const checkTransaction: Rule = row => {
  const { quantity, price, value, discountAmount, discountType, discountReason, discountPercentage } = row
  if (Math.abs(Number(price) * Number(quantity)) >= maxAmount)
    return new RowError('times the quantity must be less than 1,000,000,000,000', 'price')
  if (Math.sign(Number(value ?? 0)) === -Math.sign(Number(price) * Number(quantity)) && Number(value ?? 0) !== 0)
    return new RowError('must have the sign of quantity times price', 'value')
  if (!discountAmount && (discountType || discountReason || discountPercentage))
    return new RowError('is required if the line has a discount', 'discountAmount')
  return
}

const dayMs = 24 * 60 * 60 * 1_000
/** The first day of which electronic sales are plausible. Spreadsheets turn 0 into 1899, 1900, 1904 or 1970. */
const firstPlausibleDay = '1980-01-01'

/** Returns a day relative to tomorrow, because no time zone is more than 14 hours ahead of UTC. */
function getDay(years: number) {
  const tomorrow = new Date(Date.now() + dayMs)
  return `${tomorrow.getUTCFullYear() + years}${tomorrow.toISOString().slice(4, 10)}`
}

/** Returns the remark on a time that must be in the past. `last`: the last possible day. */
function describePastTime(value: string, last: string) {
  if (value < firstPlausibleDay) return 'is before 1980: check the date format'
  return value.slice(0, 10) > last ? 'is in the future: check the date format' : undefined
}

/** Returns the remark on a date or time that can't be true. Undefined: it is plausible. */
export type DescribeDoubt = (value: unknown) => string | undefined

/** Checks of dates and times, by the format of their column. Times are in the past: they are when something happened. */
const dateChecks: Readonly<Record<string, (timeZone: string) => (value: string) => string | undefined>> = {
  birthday() {
    const first = getDay(-120)
    return value => (value < first ? 'is more than 120 years ago: check the date format' : undefined)
  },
  date() {
    const last = getDay(100)
    return value => (value > last ? 'is more than 100 years ahead: check the date format' : undefined)
  },
  'local-time'(timeZone) {
    const last = getDay(0)
    const isSkipped = createGapCheck(timeZone)
    return value => {
      const doubt = describePastTime(value, last)
      if (doubt) return doubt
      return isSkipped(value) ? `doesn't exist in ${timeZone}, because clocks skip it: check the time zone` : undefined
    }
  },
}

/**
 * Returns a function that is true for a local time (`YYYY-MM-DD HH:MM:SS`) since 1980 that the clocks of a time zone skip. A day without a time
 * is stored as midnight, which some zones skip, so midnight always passes.
 */
function createGapCheck(timeZone: string) {
  const gaps = listGaps(timeZone)
  return (value: string): boolean =>
    gaps.get(value.slice(0, 10))?.some(([from, to]) => value >= from && value < to && !value.endsWith('00:00:00')) ??
    false
}

/** Returns the gaps of a time zone until tomorrow, by the days of their ends. No gap is longer than a day. */
function listGaps(timeZone: string) {
  const gaps = new Map<string, (readonly [from: string, to: string])[]>()
  const endMs = Date.now() + dayMs
  let change = Temporal.PlainDate.from(firstPlausibleDay).toZonedDateTime(timeZone).getTimeZoneTransition('next')
  while (change && change.epochMilliseconds < endMs) {
    const before = change.subtract({ nanoseconds: 1 }).toPlainDateTime().add({ nanoseconds: 1 })
    const [from, to] = [formatTime(before), formatTime(change.toPlainDateTime())]
    if (from < to)
      for (const day of new Set([from.slice(0, 10), to.slice(0, 10)]))
        gaps.set(day, [...(gaps.get(day) ?? []), [from, to]])
    change = change.getTimeZoneTransition('next')
  }
  return gaps
}

const formatTime = (time: Temporal.PlainDateTime) => time.toString({ smallestUnit: 'second' }).replace('T', ' ')

/** Creates the check of a date or time column. Returns undefined for other columns. */
export function createDateCheck(
  column: string,
  format: string | undefined,
  timeZone: string,
): DescribeDoubt | undefined {
  const check = dateChecks[format ?? '']?.(timeZone)
  if (!check) return
  return value => {
    const doubt = typeof value === 'string' ? check(value) : undefined
    return doubt && `${column} ${doubt}`
  }
}

/** Returns a remark if a product costs more than it originally did. */
export const listProductDoubts = ({ price, originalPrice }: Row): string[] =>
  originalPrice != null && Number(originalPrice) < Number(price) ? ['originalPrice is less than price'] : []

/** Returns remarks about a line of a sale that a back office reports. Its discounts can have a basis of their own, so they aren't compared. */
export function listReportedSaleDoubts({ saleDate, quantity, price, value }: Row): string[] {
  const dateDoubt = describePastTime(String(saleDate), getDay(0))
  const doubts = dateDoubt ? [`saleDate ${dateDoubt}`] : []
  const gross = Number(price) * Number(quantity)
  if (Number(quantity) === 0) doubts.push('quantity is 0')
  if (Number(price) < 0) doubts.push('price is negative: returns have a negative quantity')
  if (Number(value) && Math.sign(Number(value)) === -Math.sign(gross))
    doubts.push('value has another sign than quantity times price')
  else if (Math.abs(Number(value)) > Math.abs(gross) + getTolerance(quantity))
    doubts.push('value is more than quantity times price')
  return doubts
}

/** The price can be rounded, so the value can differ by half a unit of its last decimal for each item. */
const getTolerance = (quantity: unknown) => 0.02 + 0.005 * Math.abs(Number(quantity))

/** Returns remarks about signs, dates and sums of a sale that can't be true, but that tills write for corrections. */
export function listSaleDoubts(row: Row): string[] {
  const doubts: string[] = []
  if (Number(row.quantity) === 0) doubts.push('quantity is 0')
  const gross = Number(row.price) * Number(row.quantity)
  const discount = Number(row.discountAmount ?? 0)
  if (Number(row.price) < 0) doubts.push('price is negative: returns have a negative quantity')
  if (discount && Math.sign(discount) === -Math.sign(gross))
    doubts.push('discountAmount has another sign than quantity times price')
  else if (Math.abs(discount) > Math.abs(gross) + 0.01) doubts.push('discountAmount is more than quantity times price')
  if (row.value != null && Math.abs(gross - discount - Number(row.value)) > getTolerance(row.quantity))
    doubts.push('value differs from quantity times price minus the discount')
  return doubts
}

const checkOrderAmounts = createNonNegativeCheck(
  ...['total', 'freight', 'orderDiscount', 'orderRefunded'],
  ...['price', 'discountAmount', 'value', 'refunded', 'paymentAmount'],
)

/** True if a row of an order has a line: an item with a SKU, or one with a name and a quantity, such as a custom item. */
export const isOrderLine = ({ sku, skuId, productName, quantity }: Row) =>
  (sku ?? skuId ?? (quantity == null ? null : productName)) != null

/** A row of an order is a line, a payment or both. Its amounts can't be negative, because returns have their own columns. */
export const checkOrder: Rule = row => {
  const isLine = isOrderLine(row)
  const isPayment = row.paymentAmount != null
  if (!isLine && !isPayment) return new RowError('must have a SKU, a productName with a quantity, or a paymentAmount')
  for (const name of isLine ? ['quantity', 'price'] : [])
    if (row[name] == null) return new RowError('is required if the line has a SKU or a productName', name)
  if (isPayment && row.paymentGateway == null)
    return new RowError('is required if the line has a payment', 'paymentGateway')
  return checkOrderAmounts(row) ?? (isLine ? checkTransaction(row) : undefined)
}

/** A balance above the original amount is possible: the voucher was loaded again. */
export const checkVoucher: Rule = ({ balance, originalAmount, status }) => {
  const amount = Number(balance)
  const original = Number(originalAmount ?? amount)
  if (amount < 0) return new RowError('must be at least 0', 'balance')
  if (status === 'redeemed' && amount > 0)
    return new RowError("can't be redeemed if the balance is more than 0", 'status')
  if (status === 'pending' && amount !== original)
    return new RowError("can't be pending if the balance differs from the original amount", 'status')
  return
}

const checkLotAmounts = createNonNegativeCheck('total', 'redeemed', 'pending')

/** Points are integers, and no more of a lot can be used than it has. */
export const checkLot: Rule = row => {
  const negative = checkLotAmounts(row)
  if (negative) return negative
  if (Number(row.redeemed ?? 0) + Number(row.pending ?? 0) > Number(row.total))
    return new RowError('must be at least the sum of redeemed and pending', 'total')
  if (row.expiryDate != null && String(row.expiryDate) < String(row.createdAt).slice(0, 10))
    return new RowError("can't be before createdAt", 'expiryDate')
  if (row.kind !== 'points') return
  const column = ['total', 'redeemed', 'pending'].find(name => {
    const value = row[name]
    return typeof value === 'string' && !(Number.isInteger(Number(value)) && Number(value) <= 2_147_483_647)
  })
  return column === undefined ? undefined : new RowError('must be an integer of at most 2147483647 points', column)
}
