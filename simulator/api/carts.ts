import { createRejection } from '../http/errors.ts'
import { type ApiRequest, parseInteger } from '../http/request.ts'
import { respondOk } from '../http/responses.ts'
import type { Handler } from '../http/router.ts'
import { formatIso } from '../shop/clock.ts'
import type { Person, Sku } from '../shop/records.ts'
import { roundToCents, sumAmounts } from '../shop/shop.ts'
import type { World } from '../world/world.ts'
import { array, type Element, el, fields } from '../xml/element.ts'
import { shape } from '../xml/order.ts'
import { findElement, findElements, findText, type Payload } from '../xml/payload.ts'
import { addressesShape, contactsShape, readDecimal, readDocument } from './posted.ts'

const freight = shape('Id Name Value')
const cartShape = shape(
  'Id OrderNumber PersonId SyncedAt TotalQuantity TotalDiscount TotalDue TotalWeight Addresses Contacts CartDetails SelectedFreightOption FreightOptions',
  {
    Addresses: addressesShape,
    Contacts: contactsShape,
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

/** Reads the discounts of the web site. Discounts of promotions and loyalty are skipped, because the cart computes them again. */
const readManualDiscounts = (payload: Payload): CartDiscount[] =>
  parseInteger(findText(payload, 'DiscountTypeId')) === 1
    ? [
        {
          typeId: 1,
          promoId: '',
          loyaltyId: '',
          description: findText(payload, 'Description') ?? '',
          percentage: readDecimal(payload, 'Percentage') ?? 0,
          value: readDecimal(payload, 'Value') ?? 0,
        },
      ]
    : []

function readLine(payload: Payload, person: Person | undefined, { country }: ApiRequest, { shop }: World): CartLine {
  const skuId = findText(payload, 'SkuId') ?? ''
  const sku = shop.skus.get(parseInteger(skuId) ?? 0)
  // The guide lists no error for an unknown SKU in a cart. This is the error of an order.
  if (!sku) throw createRejection(5129, { detail: skuId })
  const quantity = readDecimal(payload, 'Quantity')
  if (!quantity) throw createRejection(5109, { detail: 'Quantity' })
  const { special } = sku.colour.style
  // The price of a gift voucher is not checked.
  const price =
    special === 'voucher' ? (readDecimal(payload, 'Price') ?? sku.price) : roundToCents(sku.price * country.priceFactor)
  const discounts = findElements(findElement(payload, 'Discounts'), 'Discount').flatMap(readManualDiscounts)
  const computeRemaining = () => roundToCents(quantity * price - sumAmounts(discounts.map(({ value }) => value)))
  const addDiscount = (
    percentage: number,
    discount: Pick<CartDiscount, 'typeId' | 'promoId' | 'loyaltyId' | 'description'>,
  ) => discounts.push({ ...discount, percentage, value: roundToCents((computeRemaining() * percentage) / 100) })
  const promotion = [...shop.promotions.values()].find(({ minimum }) => quantity >= minimum)
  if (promotion && !special) {
    const { id, name, percentage } = promotion
    addDiscount(percentage, { typeId: 2, promoId: String(id), loyaltyId: '', description: `Promotion ${name}` })
  }
  const card = person?.loyalties.find(({ active, typeId }) => active && shop.loyaltyPercents.has(typeId))
  if (card && !special)
    addDiscount(shop.loyaltyPercents.get(card.typeId) ?? 0, {
      typeId: 3,
      promoId: '',
      loyaltyId: String(card.id),
      description: 'Loyalty discount',
    })
  return { sku, quantity, price, discounts, value: computeRemaining() }
}

function buildLine({ sku, quantity, price, discounts, value }: CartLine, position: number, taxPercent: number) {
  const { colour } = sku
  return el('CartDetail', [
    ...fields({ Id: position, ProductId: colour.style.id, ColourId: colour.id, SkuId: sku.id }),
    ...fields({ ProductCode: colour.style.code, ProductName: colour.style.name, ColourCode: colour.code }),
    ...fields({ ColourName: colour.name, SizeCode: sku.size, Quantity: quantity, Price: price }),
    ...fields({
      Discount: sumAmounts(discounts.map(discount => discount.value)),
      Value: value,
      UnitWeight: sku.weight ?? 0,
    }),
    discounts.length
      ? array(
          'Discounts',
          discounts.map((discount, i) => buildDiscount(discount, i, position)),
        )
      : undefined,
    el('TaxPercent', taxPercent),
  ])
}

const buildDiscount = (discount: CartDiscount, i: number, parent: number): Element =>
  el('Discount', [
    ...fields({ Id: i + 1, ParentId: parent, DiscountType: typeNames[discount.typeId] }),
    ...fields({ DiscountTypeId: discount.typeId, PromoId: discount.promoId, LoyaltyId: discount.loyaltyId }),
    ...fields({ Sequence: i, Description: discount.description, Percentage: discount.percentage }),
    el('Value', discount.value),
  ])

/** Prices a cart: current prices, promotions, loyalty discounts and freight. Stores nothing. */
export const priceCart: Handler = (request, world) => {
  const { shop, clock } = world
  const payload = readDocument(request, world, 'Cart', cartShape)
  const person = shop.persons.get(parseInteger(findText(payload, 'PersonId')) ?? 0)
  const details = findElements(findElement(payload, 'CartDetails'), 'CartDetail')
  if (!details.length) throw createRejection(5033)
  const lines = details.map(detail => readLine(detail, person, request, world))
  const freightOption = shop.freightOptions.get(parseInteger(findText(payload, 'SelectedFreightOption', 'Id')) ?? 0)
  const { taxPercent } = request.country
  const due = roundToCents(sumAmounts(lines.map(({ value }) => value)) + (freightOption?.value ?? 0))
  return respondOk(
    el('Cart', [
      el('Id', findText(payload, 'Id')),
      el('PersonId', person?.id),
      ...fields({
        SyncedAt: formatIso(clock.wall()),
        TotalQuantity: sumAmounts(lines.map(({ quantity }) => quantity)),
      }),
      el('TotalTax', roundToCents((due * taxPercent) / (100 + taxPercent))),
      el('TotalDiscount', sumAmounts(lines.flatMap(({ discounts }) => discounts.map(({ value }) => value)))),
      ...fields({
        TotalDue: due,
        TotalWeight: sumAmounts(lines.map(({ sku, quantity }) => (sku.weight ?? 0) * quantity)),
      }),
      array(
        'CartDetails',
        lines.map((line, i) => buildLine(line, i + 1, taxPercent)),
        { TotalRows: lines.length },
      ),
      el(
        'SelectedFreightOption',
        fields({ Id: freightOption?.id, Name: freightOption?.name, Value: freightOption?.value ?? 0 }),
      ),
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

const buildNamed = (name: string, { id, code, text, url }: { id: number; code: string; text: string; url?: string }) =>
  el(name, [...fields({ Id: id, Code: code, Name: text }), url === undefined ? undefined : el('Url', url)])

/** Lists the active freight options, without prices. Payload versions before 4 have none. */
export const listFreightOptions: Handler = ({ version }, { shop }) =>
  respondOk(
    array(
      'FreightOptions',
      version < 4
        ? []
        : [...shop.freightOptions.values()].map(({ id, name, carrier, serviceType, sla }) =>
            el('FreightOption', [
              ...fields({ Id: id, Name: name }),
              buildNamed('Carrier', carrier),
              buildNamed('ServiceType', serviceType),
              buildNamed('SLA', sla),
            ]),
          ),
    ),
  )
