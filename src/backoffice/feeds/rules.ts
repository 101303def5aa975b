import type { Fault } from './fault.ts'
import type { Row } from './rows.ts'

/** What the columns of a row must keep among themselves; undefined where they do. */
export type Rule = (row: Row) => Fault | undefined

/** A SKU is named one way or the other. */
export const namesSku: Rule = ({ sku, skuId }) =>
  (sku ?? skuId) ? undefined : { column: 'sku', reason: 'is required where there is no skuId' }

/** An amount has twelve digits before the point; the price of all units is an amount. */
const largestAmount = 1e12

export const transactionRule: Rule = row => {
  const { quantity, price, discountAmount, discountType, discountReason, discountPercentage } = row
  if (Math.abs(Number(price) * Number(quantity)) >= largestAmount)
    return { column: 'price', reason: 'times the quantity is more than an amount can be' }
  if (!discountAmount && (discountType || discountReason || discountPercentage))
    return { column: 'discountAmount', reason: 'is required where there is a discount' }
  return
}

/** Points are whole, and few enough to be a number. */
export const lotRule: Rule = row => {
  if (row.kind !== 'points') return
  const column = ['total', 'redeemed', 'pending'].find(name => {
    const value = row[name]
    return typeof value === 'string' && !(Number.isInteger(Number(value)) && Number(value) <= 2_147_483_647)
  })
  return column === undefined ? undefined : { column, reason: 'is no whole number of points up to 2147483647' }
}
