import { ok } from '../http/answers.ts'
import { createRejection } from '../http/errors.ts'
import { type ApiRequest, whole } from '../http/request.ts'
import type { Handler } from '../http/router.ts'
import { isoText } from '../shop/clock.ts'
import type { Person, Sku } from '../shop/records.ts'
import { cents, sum } from '../shop/shop.ts'
import type { World } from '../world/world.ts'
import { array, type Element, el, fields } from '../xml/element.ts'
import { shape } from '../xml/order.ts'
import { at, every, type Payload, textAt } from '../xml/payload.ts'
import { addresses, contacts, decimal, posted } from './posted.ts'

const freight = shape('Id Name Value')
const cartShape = shape(
  'Id OrderNumber PersonId SyncedAt TotalQuantity TotalDiscount TotalDue TotalWeight Addresses Contacts CartDetails SelectedFreightOption FreightOptions',
  {
    Addresses: addresses,
    Contacts: contacts,
    CartDetails: shape('CartDetail', {
      CartDetail: shape(
        'Id Sequence ProductId ColourId SkuId ProductCode ProductName ColourCode ColourName SizeCode Quantity Price Discount Value UnitWeight Discounts ~TaxPercent',
        {
          Discounts: shape('Discount', {
            Discount: shape(
              'Id|ParentId|DiscountType DiscountTypeId PromoId LoyaltyId Sequence Description Percentage Value',
            ),
          }),
        },
      ),
    }),
    SelectedFreightOption: freight,
  },
)

interface CartDiscount {
  typeId: 1 | 2 | 3
  promoId: string
  loyaltyId: string
  description: string
  percentage: number
  value: number
}

interface CartLine {
  sku: Sku
  quantity: number
  price: number
  discounts: CartDiscount[]
  value: number
}

const typeNames = { 1: 'ManualDiscount', 2: 'PromotionDiscount', 3: 'LoyaltyDiscount' } as const

/** Discounts of the web site stay as they were sent. Those of promotions and loyalty are always worked out again. */
const manualDiscount = (payload: Payload): CartDiscount[] =>
  whole(textAt(payload, 'DiscountTypeId')) === 1
    ? [
        {
          typeId: 1,
          promoId: '',
          loyaltyId: '',
          description: textAt(payload, 'Description') ?? '',
          percentage: decimal(payload, 'Percentage') ?? 0,
          value: decimal(payload, 'Value') ?? 0,
        },
      ]
    : []

function lineFrom(payload: Payload, person: Person | undefined, { country }: ApiRequest, { shop }: World): CartLine {
  const skuId = textAt(payload, 'SkuId') ?? ''
  const sku = shop.skus.get(whole(skuId) ?? 0)
  // The guide lists no error for a SKU that isn't there. An order has this one.
  if (!sku) throw createRejection(5129, { detail: skuId })
  const quantity = decimal(payload, 'Quantity')
  if (!quantity) throw createRejection(5109, { detail: 'Quantity' })
  const { special } = sku.colour.style
  // The price of a gift voucher is not checked.
  const price =
    special === 'voucher' ? (decimal(payload, 'Price') ?? sku.price) : cents(sku.price * country.priceFactor)
  const discounts = every(at(payload, 'Discounts'), 'Discount').flatMap(manualDiscount)
  const remaining = () => cents(quantity * price - sum(discounts.map(({ value }) => value)))
  const take = (percentage: number, discount: Pick<CartDiscount, 'typeId' | 'promoId' | 'loyaltyId' | 'description'>) =>
    discounts.push({ ...discount, percentage, value: cents((remaining() * percentage) / 100) })
  const promotion = [...shop.promotions.values()].find(({ minimum }) => quantity >= minimum)
  if (promotion && !special) {
    const { id, name, percentage } = promotion
    take(percentage, { typeId: 2, promoId: String(id), loyaltyId: '', description: `Promotion ${name}` })
  }
  const card = person?.loyalties.find(({ active, typeId }) => active && shop.loyaltyPercents.has(typeId))
  if (card && !special)
    take(shop.loyaltyPercents.get(card.typeId) ?? 0, {
      typeId: 3,
      promoId: '',
      loyaltyId: String(card.id),
      description: 'Loyalty discount',
    })
  return { sku, quantity, price, discounts, value: remaining() }
}

function lineElement({ sku, quantity, price, discounts, value }: CartLine, position: number, taxPercent: number) {
  const { colour } = sku
  return el('CartDetail', [
    ...fields({ Id: position, ProductId: colour.style.id, ColourId: colour.id, SkuId: sku.id }),
    ...fields({ ProductCode: colour.style.code, ProductName: colour.style.name, ColourCode: colour.code }),
    ...fields({ ColourName: colour.name, SizeCode: sku.size, Quantity: quantity, Price: price }),
    ...fields({ Discount: sum(discounts.map(discount => discount.value)), Value: value, UnitWeight: sku.weight ?? 0 }),
    discounts.length
      ? array(
          'Discounts',
          discounts.map((discount, i) => discountElement(discount, i, position)),
        )
      : undefined,
    el('TaxPercent', taxPercent),
  ])
}

const discountElement = (discount: CartDiscount, i: number, parent: number): Element =>
  el('Discount', [
    ...fields({ Id: i + 1, ParentId: parent, DiscountType: typeNames[discount.typeId] }),
    ...fields({ DiscountTypeId: discount.typeId, PromoId: discount.promoId, LoyaltyId: discount.loyaltyId }),
    ...fields({ Sequence: i, Description: discount.description, Percentage: discount.percentage }),
    el('Value', discount.value),
  ])

/** Prices a cart: current prices, promotions, loyalty discounts and freight. Nothing of it is stored. */
export const priceCart: Handler = (request, world) => {
  const { shop, clock } = world
  const payload = posted(request, world, 'Cart', cartShape)
  const person = shop.persons.get(whole(textAt(payload, 'PersonId')) ?? 0)
  const details = every(at(payload, 'CartDetails'), 'CartDetail')
  if (!details.length) throw createRejection(5033)
  const lines = details.map(detail => lineFrom(detail, person, request, world))
  const chosen = shop.freightOptions.get(whole(textAt(payload, 'SelectedFreightOption', 'Id')) ?? 0)
  const { taxPercent } = request.country
  const due = cents(sum(lines.map(({ value }) => value)) + (chosen?.value ?? 0))
  return ok(
    el('Cart', [
      el('Id', textAt(payload, 'Id')),
      el('PersonId', person?.id),
      ...fields({ SyncedAt: isoText(clock.wall()), TotalQuantity: sum(lines.map(({ quantity }) => quantity)) }),
      el('TotalTax', cents((due * taxPercent) / (100 + taxPercent))),
      el('TotalDiscount', sum(lines.flatMap(({ discounts }) => discounts.map(({ value }) => value)))),
      ...fields({ TotalDue: due, TotalWeight: sum(lines.map(({ sku, quantity }) => (sku.weight ?? 0) * quantity)) }),
      array(
        'CartDetails',
        lines.map((line, i) => lineElement(line, i + 1, taxPercent)),
        { TotalRows: lines.length },
      ),
      el('SelectedFreightOption', fields({ Id: chosen?.id, Name: chosen?.name, Value: chosen?.value ?? 0 })),
      el(
        'FreightOptions',
        [...shop.freightOptions.values()].map(({ id, name, value }) =>
          el('FreightType', fields({ Id: id, Name: name, Value: value })),
        ),
      ),
      el('TaxAdjustment', 0),
    ]),
  )
}

const named = (name: string, { id, code, text, url }: { id: number; code: string; text: string; url?: string }) =>
  el(name, [...fields({ Id: id, Code: code, Name: text }), url === undefined ? undefined : el('Url', url)])

/** The active freight options, without prices. They came with payload version 4. */
export const allFreightOptions: Handler = ({ version }, { shop }) =>
  ok(
    array(
      'FreightOptions',
      version < 4
        ? []
        : [...shop.freightOptions.values()].map(({ id, name, carrier, serviceType, sla }) =>
            el('FreightOption', [
              ...fields({ Id: id, Name: name }),
              named('Carrier', carrier),
              named('ServiceType', serviceType),
              named('SLA', sla),
            ]),
          ),
    ),
  )
