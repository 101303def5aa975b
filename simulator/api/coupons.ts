import { ok } from '../http/answers.ts'
import { createRejection } from '../http/errors.ts'
import { whole } from '../http/request.ts'
import type { Handler } from '../http/router.ts'
import { dateText, day } from '../shop/clock.ts'
import type { Coupon } from '../shop/records.ts'
import { cents } from '../shop/shop.ts'
import type { World } from '../world/world.ts'
import { array, el, fields } from '../xml/element.ts'
import { shape } from '../xml/order.ts'
import { at, every, type Payload, textAt } from '../xml/payload.ts'
import { decimal, flag, posted } from './posted.ts'

const redemptionShape = shape('RequestId PersonId CouponCode Reserved Transaction', {
  Transaction: shape('Detail', { Detail: shape('Key SkuId Quantity Price') }),
})

const isLocked = ({ lockedUntil }: Coupon, { clock }: World) => lockedUntil > clock.now()

/** The coupon of a code, if this person and this request may use it now. */
function usableCoupon(code: string, personId: number, requestId: string, world: World): Coupon {
  const coupon = world.shop.coupons.get(code)
  const today = dateText(world.clock.wall())
  if (!coupon) throw createRejection(5225, { detail: code })
  if (coupon.status !== 'Enabled') throw createRejection(5226, { detail: code })
  if (today < coupon.validFrom) throw createRejection(5227, { detail: code })
  if (today > coupon.validTo) throw createRejection(5228, { detail: code })
  if (coupon.redeemed) throw createRejection(5229, { detail: code })
  if (isLocked(coupon, world) && coupon.lockedBy !== requestId) throw createRejection(5230, { detail: code })
  if (coupon.personId && coupon.personId !== personId) throw createRejection(5231, { detail: code })
  return coupon
}

function detailElement(detail: Payload, coupon: Coupon, requestId: string, { shop }: World) {
  const skuId = whole(textAt(detail, 'SkuId')) ?? 0
  const [quantity, price] = [decimal(detail, 'Quantity') ?? 0, decimal(detail, 'Price') ?? 0]
  if (!shop.skus.has(skuId)) throw createRejection(5129, { detail: String(skuId) })
  const discount = cents((quantity * price * coupon.percentage) / 100)
  const line = () => fields({ SkuId: skuId, Price: price, Quantity: quantity })
  const redemption = el('Redemption', fields({ CouponCode: coupon.code, RequestId: requestId }))
  const discounts = array('Discounts', [
    el('Discount', [
      ...fields({ DiscountTypeId: 5, DiscountType: 'CouponDiscount', Percentage: coupon.percentage, Value: discount }),
      redemption,
    ]),
  ])
  return el('Detail', [
    el('Key', textAt(detail, 'Key')),
    ...line(),
    array('NewBreakdown', [
      el('NewDetail', [
        ...line(),
        ...fields({ Discount: discount, Value: cents(quantity * price - discount) }),
        discounts,
      ]),
    ]),
  ])
}

/** Checks a coupon, or reserves a unique one for 24 hours. The same request can reserve it again. */
export const redeemCoupon: Handler = (request, world) => {
  const { shop, clock } = world
  const payload = posted(request, world, 'CouponRedemption', redemptionShape)
  const requestId = (textAt(payload, 'RequestId') ?? '').toLowerCase()
  if (!/^[0-9a-f-]{32,}$/.test(requestId)) throw createRejection(5234, { detail: requestId })
  if (shop.finalisedCouponRequests.has(requestId)) throw createRejection(5233, { detail: requestId })
  const personId = whole(textAt(payload, 'PersonId')) ?? 0
  const coupon = usableCoupon(textAt(payload, 'CouponCode') ?? '', personId, requestId, world)
  const isReserved = flag(payload, 'Reserved', 5224) ?? false
  if (isReserved && coupon.type === 'Unique') {
    coupon.lockedBy = requestId
    coupon.lockedUntil = clock.now() + day
    world.note('coupon reserved', coupon.code, { request: requestId })
  }
  const details = every(at(payload, 'Transaction'), 'Detail')
  return ok(
    el('CouponRedemption', [
      ...fields({ RequestId: requestId, PersonId: personId, CouponCode: coupon.code, CouponName: coupon.name }),
      ...fields({ CouponDescription: `${coupon.percentage} % off`, Reserved: isReserved ? 'True' : 'False' }),
      details.length
        ? array(
            'Transaction',
            details.map(detail => detailElement(detail, coupon, requestId, world)),
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
  world.note('coupon released', coupon.code, { request: requestId })
  return ok()
}

/** Returns what uses up the coupon of an order, if a discount of its lines (type 5) redeems one. */
export function couponRedemption(lines: readonly Payload[], personId: number, world: World): () => void {
  const discounts = lines
    .flatMap(line => every(at(line, 'Discounts'), 'Discount'))
    .filter(discount => textAt(discount, 'DiscountTypeId') === '5')
  const redemptions = discounts.map(discount => {
    const redemption = at(discount, 'Redemption')
    if (!redemption) throw createRejection(5235)
    const [requestId, code] = [textAt(redemption, 'RequestId') ?? '', textAt(redemption, 'CouponCode') ?? '']
    if (!requestId && !code) throw createRejection(5236)
    return { requestId: requestId.toLowerCase(), code }
  })
  const [first] = redemptions
  if (!first) return () => undefined
  if (redemptions.some(redemption => redemption.requestId !== first.requestId || redemption.code !== first.code))
    throw createRejection(5237)
  const { requestId, code } = first
  if (world.shop.finalisedCouponRequests.has(requestId)) throw createRejection(5233, { detail: requestId })
  const coupon = usableCoupon(code, personId, requestId, world)
  if (coupon.type === 'Unique' && !isLocked(coupon, world)) throw createRejection(5234, { detail: requestId })
  return () => {
    world.shop.finalisedCouponRequests.add(requestId)
    coupon.redeemed = coupon.type === 'Unique'
    world.note('coupon redeemed', coupon.code, { request: requestId })
  }
}
