import { Reason } from './reason.ts'
import type { Row } from './row.ts'

/** What the columns of a row must keep among themselves; undefined where they do. */
export type Rule = (row: Row) => Reason | undefined

/** A SKU is named one way or the other. */
export const namesSku: Rule = ({ sku, skuId }) =>
  (sku ?? skuId) ? undefined : new Reason('is required where there is no skuId', 'sku')

/** An amount has twelve digits before the point; the price of all units is an amount. */
const largestAmount = 1e12

export const transactionRule: Rule = row => {
  const { quantity, price, discountAmount, discountType, discountReason, discountPercentage } = row
  if (Math.abs(Number(price) * Number(quantity)) >= largestAmount)
    return new Reason('times the quantity is more than an amount can be', 'price')
  if (!discountAmount && (discountType || discountReason || discountPercentage))
    return new Reason('is required where there is a discount', 'discountAmount')
  return
}

/** Points are whole, and few enough to be a number. */
export const lotRule: Rule = row => {
  if (row.kind !== 'points') return
  const column = ['total', 'redeemed', 'pending'].find(name => {
    const value = row[name]
    return typeof value === 'string' && !(Number.isInteger(Number(value)) && Number(value) <= 2_147_483_647)
  })
  return column === undefined ? undefined : new Reason('is no whole number of points up to 2147483647', column)
}
