import { createRejection } from '../http/errors.ts'
import { whole } from '../http/request.ts'
import type { LineDiscount, OrderLine } from '../shop/sales.ts'
import { cents, next, sum } from '../shop/shop.ts'
import type { World } from '../world/world.ts'
import { shape } from '../xml/order.ts'
import { at, every, type Payload, textAt } from '../xml/payload.ts'
import { decimal, flag, text } from './posted.ts'

// A sample of the guide has TaxPercent last, its table after Value.
export const lineShape = shape(
  'SkuId Quantity Price Value ~TaxPercent Customisation GiftWrap GiftWrapMessage SenderName|ReceiverName ExtraVoucherInformation ReturnReasonId ReturnReasonNotes NonReturnable Discounts ThirdPartyCouponCode ThirdPartyCouponSource',
  {
    ExtraVoucherInformation: shape('VoucherType VoucherNumber EmailSubject Email PersonalisedMessage DeliveryDate'),
    Discounts: shape('Discount', {
      Discount: shape(
        'DiscountTypeId ReasonId PromoId LoyaltyId Description Value WebDiscount WebPromotion WebCampaign WebCoupon Redemption',
      ),
    }),
  },
)

/** The pricing rules of the complete order. */
export interface Pricing {
  pricesIncludeTax: boolean
  useSubmittedTaxRates: boolean
  taxPercent: number
}

const isReference = (world: World, typeId: number, id: string) =>
  world.shop.referenceTypes.get(typeId)?.references.has(whole(id) ?? 0) === true

function discountFrom(payload: Payload, quantity: number, world: World): LineDiscount {
  const typeId = whole(textAt(payload, 'DiscountTypeId')) ?? 0
  const reasonId = textAt(payload, 'ReasonId') ?? ''
  const promoId = textAt(payload, 'PromoId') ?? ''
  const value = decimal(payload, 'Value') ?? 0
  if (typeId < 1 || typeId > 5) throw createRejection(5109, { detail: 'DiscountTypeId' })
  if (reasonId && (typeId === 2 || typeId === 3)) throw createRejection(5113)
  if (reasonId && !isReference(world, 271, reasonId)) throw createRejection(5089, { detail: reasonId })
  if (typeId === 2 && !promoId) throw createRejection(5146)
  if (value !== 0 && value > 0 !== quantity > 0) throw createRejection(5145)
  const description = text(payload, 'Description', 250)
  return { typeId, reasonId, promoId, loyaltyId: textAt(payload, 'LoyaltyId') ?? '', description, value }
}

function requireReason(line: { quantity: number; returnReasonId: string }, value: number, world: World): void {
  if (line.quantity > 0 && line.returnReasonId) throw createRejection(5086)
  if (line.quantity > 0) return
  if (!line.returnReasonId) throw createRejection(5084)
  if (!isReference(world, 272, line.returnReasonId)) throw createRejection(5085)
  if (value > 0) throw createRejection(5088)
}

/** Reads a posted line. Its value must match price, quantity, discounts and tax. */
export function lineFrom(payload: Payload, sequence: number, pricing: Pricing, world: World): OrderLine {
  const sku = world.shop.skus.get(whole(textAt(payload, 'SkuId')) ?? 0)
  if (!sku) throw createRejection(5129, { detail: textAt(payload, 'SkuId') ?? '' })
  const quantity = decimal(payload, 'Quantity')
  const price = decimal(payload, 'Price')
  if (!quantity || price === undefined) throw createRejection(5109, { detail: quantity ? 'Price' : 'Quantity' })
  const tax = decimal(payload, 'TaxPercent')
  if (pricing.useSubmittedTaxRates && tax === undefined) throw createRejection(5186)
  const taxPercent = tax ?? pricing.taxPercent
  const customisation = text(payload, 'Customisation', 100)
  if (/\p{Extended_Pictographic}/u.test(customisation)) throw createRejection(5246)
  const discounts = every(at(payload, 'Discounts'), 'Discount').map(discount => discountFrom(discount, quantity, world))
  const net = quantity * price - sum(discounts.map(discount => discount.value))
  const value = decimal(payload, 'Value')
  const expected = cents(pricing.pricesIncludeTax ? net : net * (1 + taxPercent / 100))
  if (value === undefined || Math.abs(value - expected) > 0.005)
    throw createRejection(5094, { detail: `line ${sequence + 1}` })
  const returnReasonId = textAt(payload, 'ReturnReasonId') ?? ''
  requireReason({ quantity, returnReasonId }, value, world)
  return {
    id: next(world.shop, 'line'),
    sequence,
    skuId: sku.id,
    quantity,
    price,
    value,
    taxPercent,
    discounts,
    customisation,
    returnReasonId,
    status: 'Processing',
    carrier: '',
    conNote: '',
    giftWrap: flag(payload, 'GiftWrap', 5107) ?? false,
    giftWrapMessage: text(payload, 'GiftWrapMessage', 1_000),
    senderName: text(payload, 'SenderName', 50),
    receiverName: text(payload, 'ReceiverName', 50),
    returnReasonNotes: text(payload, 'ReturnReasonNotes', 250),
  }
}
