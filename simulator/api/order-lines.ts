import { createRejection } from '../http/errors.ts'
import { parseInteger } from '../http/request.ts'
import type { LineDiscount, OrderLine } from '../shop/sales.ts'
import { createId, roundToCents, sumAmounts } from '../shop/shop.ts'
import type { World } from '../world/world.ts'
import { shape } from '../xml/order.ts'
import { findElement, findElements, findText, type Payload } from '../xml/payload.ts'
import { readDecimal, readFlag, readText } from './posted.ts'

// TaxPercent can be anywhere: in a sample of the guide it is last, in the guide's table it follows Value.
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
  world.shop.referenceTypes.get(typeId)?.references.has(parseInteger(id) ?? 0) === true

function readDiscount(payload: Payload, quantity: number, world: World): LineDiscount {
  const typeId = parseInteger(findText(payload, 'DiscountTypeId')) ?? 0
  const reasonId = findText(payload, 'ReasonId') ?? ''
  const promoId = findText(payload, 'PromoId') ?? ''
  const value = readDecimal(payload, 'Value') ?? 0
  if (typeId < 1 || typeId > 5) throw createRejection(5109, { detail: 'DiscountTypeId' })
  if (reasonId && (typeId === 2 || typeId === 3)) throw createRejection(5113)
  if (reasonId && !isReference(world, 271, reasonId)) throw createRejection(5089, { detail: reasonId })
  if (typeId === 2 && !promoId) throw createRejection(5146)
  if (value !== 0 && value > 0 !== quantity > 0) throw createRejection(5145)
  const description = readText(payload, 'Description', 250)
  return { typeId, reasonId, promoId, loyaltyId: findText(payload, 'LoyaltyId') ?? '', description, value }
}

function requireReason(line: { quantity: number; returnReasonId: string }, value: number, world: World): void {
  if (line.quantity > 0 && line.returnReasonId) throw createRejection(5086)
  if (line.quantity > 0) return
  if (!line.returnReasonId) throw createRejection(5084)
  if (!isReference(world, 272, line.returnReasonId)) throw createRejection(5085)
  if (value > 0) throw createRejection(5088)
}

/** Reads a posted line. Throws an error response if its value doesn't match price, quantity, discounts and tax. */
export function readOrderLine(payload: Payload, sequence: number, pricing: Pricing, world: World): OrderLine {
  const sku = world.shop.skus.get(parseInteger(findText(payload, 'SkuId')) ?? 0)
  if (!sku) throw createRejection(5129, { detail: findText(payload, 'SkuId') ?? '' })
  const quantity = readDecimal(payload, 'Quantity')
  const price = readDecimal(payload, 'Price')
  if (!quantity || price === undefined) throw createRejection(5109, { detail: quantity ? 'Price' : 'Quantity' })
  const tax = readDecimal(payload, 'TaxPercent')
  if (pricing.useSubmittedTaxRates && tax === undefined) throw createRejection(5186)
  const taxPercent = tax ?? pricing.taxPercent
  const customisation = readText(payload, 'Customisation', 100)
  if (/\p{Extended_Pictographic}/u.test(customisation)) throw createRejection(5246)
  const discounts = findElements(findElement(payload, 'Discounts'), 'Discount').map(discount =>
    readDiscount(discount, quantity, world),
  )
  const net = quantity * price - sumAmounts(discounts.map(discount => discount.value))
  const value = readDecimal(payload, 'Value')
  const expected = roundToCents(pricing.pricesIncludeTax ? net : net * (1 + taxPercent / 100))
  if (value === undefined || Math.abs(value - expected) > 0.005)
    throw createRejection(5094, { detail: `line ${sequence + 1}` })
  const returnReasonId = findText(payload, 'ReturnReasonId') ?? ''
  requireReason({ quantity, returnReasonId }, value, world)
  return {
    id: createId(world.shop, 'line'),
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
    giftWrap: readFlag(payload, 'GiftWrap', 5107) ?? false,
    giftWrapMessage: readText(payload, 'GiftWrapMessage', 1_000),
    senderName: readText(payload, 'SenderName', 50),
    receiverName: readText(payload, 'ReceiverName', 50),
    returnReasonNotes: readText(payload, 'ReturnReasonNotes', 250),
  }
}
