import type { FreightOption } from '../../../domain/orders/freight-options.ts'
import { toMinorUnits } from '../../../domain/orders/pricing.ts'
import { computeValue, type OrderQuote, type OrderQuoteInput, type QuotedLine } from '../../../domain/orders/quotes.ts'
import { InvalidRecord } from '../xml/invalid-record.ts'
import { buildPayload } from '../xml/payload.ts'
import { findElement, findElements, readAmount, readInteger, readPercentage, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { buildDiscount, discountTypeIds } from './order-to-xml.ts'

/** Builds a cart that is to be priced. `skuIds`: the back office's identifier of each SKU. */
export const buildCartPayload = (input: OrderQuoteInput, skuIds: ReadonlyMap<string, string>): string =>
  buildPayload('Cart', [
    ['PersonId', input.customerId || undefined],
    [
      'CartDetails',
      input.lines.map(({ sku, quantity, discounts }) => [
        'CartDetail',
        [
          ['SkuId', skuIds.get(sku)],
          ['Quantity', quantity],
          ['Discounts', discounts?.length ? discounts.map(buildDiscount) : undefined],
        ],
      ]),
    ],
    ['SelectedFreightOption', input.freightOptionId ? [['Id', input.freightOptionId]] : undefined],
  ])

/** A cart that the back office has priced. */
interface PricedCart {
  lines: QuotedLine[]
  freightOptions: OrderQuote['freightOptions']
  /** The selected freight option. Undefined if none was selected, or if its identifier or amount is invalid. */
  freightOption: OrderQuote['freightOptions'][number] | undefined
}

/**
 * Parses a priced cart. Throws `InvalidRecord` if its units differ from the request, or if a line doesn't add up: an order with
 * such a line would be rejected.
 */
export function parseCart(
  root: Xml,
  input: OrderQuoteInput,
  skuIds: ReadonlyMap<string, string>,
  decimals: number,
): PricedCart {
  const lines = parseLines(findElements(root, 'CartDetails', 'CartDetail'), input, skuIds, decimals)
  const freightOptions = findElements(root, 'FreightOptions', 'FreightType').flatMap(element => {
    const option = parseFreight(element, decimals)
    return option ? [option] : []
  })
  const selected = findElement(root, 'SelectedFreightOption')
  return { lines, freightOptions, freightOption: selected && parseFreight(selected, decimals) }
}

/** The lines of a request whose priced lines are parsed. */
export type CartInput = { lines: readonly Pick<OrderQuoteInput['lines'][number], 'sku' | 'quantity' | 'discounts'>[] }

/** Parses priced lines. Throws `InvalidRecord` as `parseCart` does. */
export function parseLines(
  details: readonly Xml[],
  input: CartInput,
  skuIds: ReadonlyMap<string, string>,
  decimals: number,
): QuotedLine[] {
  const skuBySkuId = new Map([...skuIds].map(([sku, skuId]) => [skuId, sku]))
  const unitsLeft = new Map<string, number>()
  for (const { sku, quantity } of input.lines) unitsLeft.set(sku, (unitsLeft.get(sku) ?? 0) + quantity)
  // A manual discount of a line must be one of the request with the same amount. Each is matched once and then removed from this list.
  const unmatchedDiscounts = input.lines.flatMap(({ discounts }) => discounts ?? [])
  const lines = details.map(detail => {
    const sku = skuBySkuId.get(readText(detail, 'SkuId') ?? '')
    const quantity = readInteger(detail, 'Quantity') ?? 0
    const price = readAmount(detail, decimals, 'Price')
    if (sku === undefined || price === null || price.startsWith('-') || quantity < 1)
      throw new InvalidRecord('A line of a cart has no valid SKU, price or quantity.')
    unitsLeft.set(sku, (unitsLeft.get(sku) ?? 0) - quantity)
    const discounts = findElements(detail, 'Discounts', 'Discount').map(discount =>
      parseDiscount(discount, unmatchedDiscounts, decimals),
    )
    const line: QuotedLine = { sku, quantity, price, discounts }
    const value = readAmount(detail, decimals, 'Value')
    if (value === null || toMinorUnits(value, decimals) !== computeValue(line, decimals))
      throw new InvalidRecord('The value of a line of a cart is not its price less its discounts.')
    return line
  })
  if ([...unitsLeft.values()].some(units => units !== 0))
    throw new InvalidRecord('The units of a cart differ from those of the request.')
  return lines
}

function parseDiscount(
  discount: Xml,
  unmatchedDiscounts: NonNullable<OrderQuoteInput['lines'][number]['discounts']>,
  decimals: number,
) {
  const amount = readAmount(discount, decimals, 'Value')
  if (amount === null || amount.startsWith('-')) throw new InvalidRecord('A discount of a cart has no valid amount.')
  const typeId = readInteger(discount, 'DiscountTypeId')
  const requestId = readText(discount, 'Redemption', 'RequestId')
  const code = readText(discount, 'Redemption', 'CouponCode')
  if (typeId === discountTypeIds.coupon && requestId && code)
    return {
      type: 'coupon',
      reason: code.slice(0, 100),
      amount,
      percentage: readPercentage(discount, 'Percentage'),
      source: { typeId, id: requestId, code },
    }
  const { promotion, loyalty } = discountTypeIds
  const id = readText(discount, typeId === promotion ? 'PromoId' : 'LoyaltyId') ?? readText(discount, 'loyaltyId')
  if ((typeId === promotion || typeId === loyalty) && id)
    return {
      type: typeId === promotion ? 'promotion' : 'loyalty',
      reason: readText(discount, 'Description')?.slice(0, 100) ?? null,
      amount,
      percentage: readPercentage(discount, 'Percentage'),
      source: { typeId, id },
    }
  const index = unmatchedDiscounts.findIndex(
    unmatched => toMinorUnits(unmatched.amount, decimals) === toMinorUnits(amount, decimals),
  )
  const matching = unmatchedDiscounts[index]
  // The back office would reject an order with a discount that is neither its own nor in the request.
  if (typeId !== discountTypeIds.manual || !matching)
    throw new InvalidRecord('A discount of a cart has an unknown type or source.')
  unmatchedDiscounts.splice(index, 1)
  return matching
}

function parseFreight(element: Xml, decimals: number) {
  const [id, amount] = [readText(element, 'Id'), readAmount(element, decimals, 'Value')]
  if (!id || amount === null || amount.startsWith('-')) return
  return { id, name: readText(element, 'Name') ?? id, amount }
}

/** Parses the list of freight options. Those without an identifier are left out. */
export const parseFreightOptions = (root: Xml | undefined): FreightOption[] =>
  findElements(root, 'FreightOption').flatMap(option => {
    const id = readText(option, 'Id')
    if (!id) return []
    return [
      {
        id,
        name: readText(option, 'Name') ?? id,
        carrier: readText(option, 'Carrier', 'Name'),
        serviceType: readText(option, 'ServiceType', 'Name'),
        serviceLevel: readText(option, 'SLA', 'Name'),
      },
    ]
  })
