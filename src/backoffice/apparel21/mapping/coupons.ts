import type { QuotedLine } from '../../../domain/orders/quotes.ts'
import { buildPayload } from '../xml/payload.ts'
import { findElements, readBoolean, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { type CartInput, parseLines } from './carts.ts'

interface CouponRequest {
  requestId: string
  customerId: string
  code: string
  isReserved: boolean
  lines?: readonly { sku: string; quantity: number; price: string }[]
}

/** Builds the payload that checks or reserves a coupon. `skuIds`: the back office's identifier of each SKU. */
export const buildCouponPayload = (
  { requestId, customerId, code, isReserved, lines = [] }: CouponRequest,
  skuIds: ReadonlyMap<string, string> = new Map(),
) =>
  buildPayload('CouponRedemption', [
    ['RequestId', requestId],
    ['PersonId', customerId],
    ['CouponCode', code],
    ['Reserved', isReserved],
    [
      'Transaction',
      lines.map(({ sku, quantity, price }, i) => [
        'Detail',
        [
          ['Key', i + 1],
          ['SkuId', skuIds.get(sku)],
          ['Quantity', quantity],
          ['Price', price],
        ],
      ]),
    ],
  ])

export const parseCoupon = (root: Xml, code: string) => ({
  code,
  name: readText(root, 'CouponName'),
  description: readText(root, 'CouponDescription'),
})

/** True if the items meet the conditions of the coupon. */
export const appliesToLines = (root: Xml) =>
  readBoolean(root, 'Applied') === true && findElements(root, 'Transaction', 'Detail').length > 0

/** Parses the lines with their discounts. Throws `InvalidRecord` as `parseCart` does. */
export const parseCouponLines = (
  root: Xml,
  input: CartInput,
  skuIds: ReadonlyMap<string, string>,
  decimals: number,
): QuotedLine[] => {
  const details = findElements(root, 'Transaction', 'Detail').flatMap(detail =>
    findElements(detail, 'NewBreakdown', 'NewDetail'),
  )
  return parseLines(details, input, skuIds, decimals)
}
