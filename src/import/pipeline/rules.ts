import type { Row } from './ingest.ts'
import { RowError } from './row-error.ts'

/** What the columns of a row must keep among themselves; undefined where they do. */
export type Rule = (row: Row) => RowError | undefined

/** A SKU is named one way or the other. */
export const namesSku: Rule = ({ sku, skuId }) =>
  (sku ?? skuId) ? undefined : new RowError('is required where there is no skuId', 'sku')

/** An amount has twelve digits before the point; the price of all units is an amount. */
const largestAmount = 1e12

export const transactionRule: Rule = row => {
  const { quantity, price, discountAmount, discountType, discountReason, discountPercentage } = row
  if (Math.abs(Number(price) * Number(quantity)) >= largestAmount)
    return new RowError('times the quantity is more than an amount can be', 'price')
  if (!discountAmount && (discountType || discountReason || discountPercentage))
    return new RowError('is required where there is a discount', 'discountAmount')
  return
}

const amountsOfOrder = [
  ...['total', 'freight', 'price', 'discountAmount', 'value', 'refunded', 'paymentAmount'],
] as const

/** A row of an order is a line, a payment, or both; amounts are not negative: what came back is told apart. */
export const orderRule: Rule = row => {
  const isLine = (row.sku ?? row.skuId) != null
  const isPayment = row.paymentAmount != null
  if (!isLine && !isPayment) return new RowError('has neither a SKU nor a paymentAmount')
  for (const name of isLine ? ['quantity', 'price'] : [])
    if (row[name] == null) return new RowError('is required where there is a SKU', name)
  if (isPayment && row.paymentGateway == null)
    return new RowError('is required where there is a payment', 'paymentGateway')
  const negative = amountsOfOrder.find(name => Number(row[name] ?? 0) < 0)
  if (negative) return new RowError('is less than 0', negative)
  return isLine ? transactionRule(row) : undefined
}

/** What is left of a voucher is what it was issued for, or less. */
export const voucherRule: Rule = ({ balance, originalAmount, status }) => {
  const left = Number(balance)
  const original = Number(originalAmount ?? left)
  if (left < 0) return new RowError('is less than 0', 'balance')
  if (left > original) return new RowError('is more than it was issued for', 'balance')
  if (status === 'redeemed' && left > 0) return new RowError('is redeemed, while something is left', 'status')
  if (status === 'pending' && left < original) return new RowError('is pending, while something was drawn', 'status')
  return
}

/** Points are whole, and few enough to be a number. */
export const lotRule: Rule = row => {
  if (row.kind !== 'points') return
  const column = ['total', 'redeemed', 'pending'].find(name => {
    const value = row[name]
    return typeof value === 'string' && !(Number.isInteger(Number(value)) && Number(value) <= 2_147_483_647)
  })
  return column === undefined ? undefined : new RowError('is no whole number of points up to 2147483647', column)
}
