import { createRejection } from '../http/errors.ts'
import { parseInteger } from '../http/request.ts'
import { respondOk } from '../http/responses.ts'
import type { Handler } from '../http/router.ts'
import { dayMs, formatDate } from '../shop/clock.ts'
import type { Coupon } from '../shop/records.ts'
import { roundToCents } from '../shop/shop.ts'
import type { World } from '../world/world.ts'
import { array, el, fields } from '../xml/element.ts'
import { shape } from '../xml/order.ts'
import { findElement, findElements, findText, type Payload } from '../xml/payload.ts'
import { readDecimal, readDocument, readFlag } from './posted.ts'

const redemptionShape = shape('RequestId PersonId CouponCode Reserved Transaction', {
  Transaction: shape('Detail', { Detail: shape('Key SkuId Quantity Price') }),
})

const isLocked = ({ lockedUntil }: Coupon, { clock }: World) => lockedUntil > clock.now()

/** Returns the coupon of a code. Throws if this person or this request can't use it now. */
function requireUsableCoupon(code: string, personId: number, requestId: string, world: World): Coupon {
  const coupon = world.shop.coupons.get(code)
  const today = formatDate(world.clock.wall())
  if (!coupon) throw createRejection(5225, { detail: code })
  if (coupon.status !== 'Enabled') throw createRejection(5226, { detail: code })
  if (today < coupon.validFrom) throw createRejection(5227, { detail: code })
  if (today > coupon.validTo) throw createRejection(5228, { detail: code })
  if (coupon.redeemed) throw createRejection(5229, { detail: code })
  if (isLocked(coupon, world) && coupon.lockedBy !== requestId) throw createRejection(5230, { detail: code })
  if (coupon.personId && coupon.personId !== personId) throw createRejection(5231, { detail: code })
  return coupon
}

function buildDetail(detail: Payload, coupon: Coupon, requestId: string, { shop }: World) {
  const skuId = parseInteger(findText(detail, 'SkuId')) ?? 0
  const [quantity, price] = [readDecimal(detail, 'Quantity') ?? 0, readDecimal(detail, 'Price') ?? 0]
  if (!shop.skus.has(skuId)) throw createRejection(5129, { detail: String(skuId) })
  const discount = roundToCents((quantity * price * coupon.percentage) / 100)
  const buildLineFields = () => fields({ SkuId: skuId, Price: price, Quantity: quantity })
  const redemption = el('Redemption', fields({ CouponCode: coupon.code, RequestId: requestId }))
  const discounts = array('Discounts', [
    el('Discount', [
      ...fields({ DiscountTypeId: 5, DiscountType: 'CouponDiscount', Percentage: coupon.percentage, Value: discount }),
      redemption,
    ]),
  ])
  return el('Detail', [
    el('Key', findText(detail, 'Key')),
    ...buildLineFields(),
    array('NewBreakdown', [
      el('NewDetail', [
        ...buildLineFields(),
        ...fields({ Discount: discount, Value: roundToCents(quantity * price - discount) }),
        discounts,
      ]),
    ]),
  ])
}

/** Checks a coupon, or reserves a unique one for 24 hours. The same request can reserve it again. */
export const redeemCoupon: Handler = (request, world) => {
  const { shop, clock } = world
  const payload = readDocument(request, world, 'CouponRedemption', redemptionShape)
  const requestId = (findText(payload, 'RequestId') ?? '').toLowerCase()
  if (!/^[0-9a-f-]{32,}$/.test(requestId)) throw createRejection(5234, { detail: requestId })
  if (shop.finalisedCouponRequests.has(requestId)) throw createRejection(5233, { detail: requestId })
  const personId = parseInteger(findText(payload, 'PersonId')) ?? 0
  const coupon = requireUsableCoupon(findText(payload, 'CouponCode') ?? '', personId, requestId, world)
  const isReserved = readFlag(payload, 'Reserved', 5224) ?? false
  if (isReserved && coupon.type === 'Unique') {
    coupon.lockedBy = requestId
    coupon.lockedUntil = clock.now() + dayMs
    world.recordEffect('coupon reserved', coupon.code, { request: requestId })
  }
  const details = findElements(findElement(payload, 'Transaction'), 'Detail')
  return respondOk(
    el('CouponRedemption', [
      ...fields({ RequestId: requestId, PersonId: personId, CouponCode: coupon.code, CouponName: coupon.name }),
      ...fields({ CouponDescription: `${coupon.percentage} % off`, Reserved: isReserved ? 'True' : 'False' }),
      details.length
        ? array(
            'Transaction',
            details.map(detail => buildDetail(detail, coupon, requestId, world)),
            { TotalRows: details.length },
          )
        : undefined,
      details.length ? el('Applied', coupon.percentage ? 'True' : 'False') : undefined,
    ]),
  )
}

export const releaseCoupon: Handler = ({ parameters }, world) => {
  const requestId = (parameters[0] ?? '').toLowerCase()
  if (world.shop.finalisedCouponRequests.has(requestId)) throw createRejection(5233, { detail: requestId })
  const coupon = [...world.shop.coupons.values()].find(({ lockedBy }) => lockedBy === requestId)
  if (!coupon) throw createRejection(5234, { detail: requestId })
  Object.assign(coupon, { lockedBy: '', lockedUntil: 0 })
  world.recordEffect('coupon released', coupon.code, { request: requestId })
  return respondOk()
}

/** Checks the coupon that a discount of type 5 redeems. Returns a function that redeems it, or that does nothing if the order has none. */
export function prepareRedemption(lines: readonly Payload[], personId: number, world: World): () => void {
  const discounts = lines
    .flatMap(line => findElements(findElement(line, 'Discounts'), 'Discount'))
    .filter(discount => findText(discount, 'DiscountTypeId') === '5')
  const redemptions = discounts.map(discount => {
    const redemption = findElement(discount, 'Redemption')
    if (!redemption) throw createRejection(5235)
    const [requestId, code] = [findText(redemption, 'RequestId') ?? '', findText(redemption, 'CouponCode') ?? '']
    if (!requestId && !code) throw createRejection(5236)
    return { requestId: requestId.toLowerCase(), code }
  })
  const [first] = redemptions
  if (!first) return () => undefined
  if (redemptions.some(redemption => redemption.requestId !== first.requestId || redemption.code !== first.code))
    throw createRejection(5237)
  const { requestId, code } = first
  if (world.shop.finalisedCouponRequests.has(requestId)) throw createRejection(5233, { detail: requestId })
  const coupon = requireUsableCoupon(code, personId, requestId, world)
  if (coupon.type === 'Unique' && !isLocked(coupon, world)) throw createRejection(5234, { detail: requestId })
  return () => {
    world.shop.finalisedCouponRequests.add(requestId)
    coupon.redeemed = coupon.type === 'Unique'
    world.recordEffect('coupon redeemed', coupon.code, { request: requestId })
  }
}
