import type { PricedOrder } from '../../../domain/orders/order-rules.ts'
import type { OrderInput } from '../../../domain/orders/orders.ts'
import type { ResolvedOrder } from '../../../domain/orders/quotes.ts'
import type { OrderAddress } from '../../../domain/values/address.ts'
import { formatAmount } from '../../../domain/values/money.ts'
import type { FieldError } from '../../../errors/api-error.ts'
import { buildPayload, type Field, type Fields } from '../xml/payload.ts'
import { findElements, readAmount, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** A validated and priced order that is about to be placed. */
export interface NewOrder extends Pick<PricedOrder, 'lines' | 'freight' | 'total'> {
  number: string
  personId: string
  input: Pick<ResolvedOrder, 'billingAddress' | 'deliveryAddress' | 'lines'>
  decimals: number
  /** The back office's identifier of each SKU. */
  skuIds: ReadonlyMap<string, string>
  /** The back office's identifier of the pickup store. */
  pickupStoreId: string | undefined
  contact: OrderContact
  /** The freight option of the order's quote. */
  freightOption?: { id: string; name: string } | undefined
  payments: Fields
}

/** The recipient of an order. */
export interface OrderContact {
  name: string
  email: string
  phones: { home: string | null; mobile: string | null; work: string | null }
}

/** Builds the payload (version 2) in the order of elements that the Retail API requires. Prices include tax. */
export function buildOrderPayload(order: NewOrder): string {
  const { number, personId, input, pickupStoreId, contact, freight, freightOption, payments } = order
  const { phones } = contact
  return buildPayload('Order', [
    ['OrderNumber', number],
    ['PersonId', personId],
    ['PickupStoreId', pickupStoreId],
    ['DespatchType', pickupStoreId && 'ClickAndCollect'],
    [
      'Addresses',
      [
        ['Billing', buildAddress(input.billingAddress, contact)],
        ['Delivery', buildAddress(input.deliveryAddress, contact)],
      ],
    ],
    [
      'Contacts',
      [
        ['Email', contact.email],
        [
          'Phones',
          [
            buildOptionalField('Home', phones.home),
            buildOptionalField('Mobile', phones.mobile),
            buildOptionalField('Work', phones.work),
          ],
        ],
      ],
    ],
    ['OrderDetails', input.lines.map((_, i) => buildLine(order, i))],
    [
      'SelectedFreightOption',
      freight > 0n || freightOption
        ? [
            ['Id', freightOption?.id],
            ['Name', freightOption?.name ?? 'Freight'],
            ['Value', formatAmount(freight, order.decimals)],
          ]
        : undefined,
    ],
    ['Payments', payments],
  ])
}

const buildOptionalField = (name: string, value: string | null | undefined): Field => [name, value ?? undefined]

const buildAddress = (address: { [name in keyof OrderAddress]?: string | null }, { name }: OrderContact): Field[] => [
  ['ContactName', address.contactName || name || undefined],
  buildOptionalField('CompanyName', address.companyName),
  buildOptionalField('AddressLine1', address.addressLine1),
  buildOptionalField('AddressLine2', address.addressLine2),
  buildOptionalField('City', address.city),
  buildOptionalField('State', address.state),
  buildOptionalField('Postcode', address.postcode),
  buildOptionalField('Country', address.country),
]

function buildLine({ input, lines, decimals, skuIds }: NewOrder, i: number): Field {
  const [line, priced] = [input.lines[i], lines[i]]
  if (!line || !priced) throw new Error(`order line ${i} has no price`)
  const discounts = (line.discounts ?? []).filter(({ amount }) => !/^[0.]*$/.test(amount))
  return [
    'OrderDetail',
    [
      ['SkuId', skuIds.get(line.sku)],
      ['Quantity', line.quantity],
      ['Price', formatAmount(priced.price, decimals)],
      ['Value', formatAmount(priced.value, decimals)],
      ['Discounts', discounts.length ? discounts.map(buildDiscount) : undefined],
    ],
  ]
}

type ResolvedDiscount = NonNullable<ResolvedOrder['lines'][number]['discounts']>[number]

/** The Retail API's codes for types of discounts. All types except `manual` refer to a discount of the back office, which a quote names. */
export const discountTypeIds = { manual: 1, promotion: 2, loyalty: 3, coupon: 5 } as const

/** Builds a discount of an order or a cart. A discount without a source is a manual one. */
export const buildDiscount = ({ type, reason, amount, source }: ResolvedDiscount): Field => [
  'Discount',
  [
    ['DiscountTypeId', source?.typeId ?? discountTypeIds.manual],
    ['PromoId', source?.typeId === discountTypeIds.promotion ? source.id : undefined],
    ['LoyaltyId', source?.typeId === discountTypeIds.loyalty ? source.id : undefined],
    ['Description', reason ? `${type}: ${reason}` : type],
    ['Value', amount],
    [
      'Redemption',
      source?.typeId === discountTypeIds.coupon
        ? [
            ['RequestId', source.id],
            ['CouponCode', source.code],
          ]
        : undefined,
    ],
  ],
]

/**
 * True if an order of the back office has the same person, units, values and total as this order. The freight can be an additional line.
 */
export function isSameOrder(candidate: Xml, { personId, input, lines, decimals, skuIds, total, freight }: NewOrder) {
  const toKeys = (values: (string | null | undefined)[][]) => values.map(value => JSON.stringify(value)).sort()
  const expected = input.lines.map(({ sku, quantity }, i) => [
    ...[skuIds.get(sku), String(quantity), formatAmount(lines[i]?.value ?? 0n, decimals)],
  ])
  const details = findElements(candidate, 'OrderDetails', 'OrderDetail')
  const toUnits = (detail: Xml) => [
    ...[readText(detail, 'SkuId'), readAmount(detail, 0, 'Quantity'), readAmount(detail, decimals, 'Value')],
  ]
  const isFreight = (detail: Xml) =>
    freight > 0n && readAmount(detail, decimals, 'Value') === formatAmount(freight, decimals)
  const matches = (rows: Xml[]) => toKeys(rows.map(toUnits)).join() === toKeys(expected).join()
  const freightIndex = details.findLastIndex(isFreight)
  return (
    readText(candidate, 'PersonId') === personId &&
    readAmount(candidate, decimals, 'TotalDue') === formatAmount(total, decimals) &&
    (matches(details) || (freightIndex >= 0 && matches(details.toSpliced(freightIndex, 1))))
  )
}

/** The longest country name that the back office accepts, in characters. */
export const maxCountryLength = 20

export const noOrderTaxesReason =
  'Prices include tax in the Retail API, and an order has no element for a tax on top. Orders with `taxLines` are rejected.'

/** Returns the field errors of values that the back office doesn't accept. */
export function checkOrder(
  { pickupStoreNumber, billingAddress, deliveryAddress, taxLines }: OrderInput,
  freight: bigint,
) {
  const errors: FieldError[] = taxLines?.length
    ? [{ pointer: '/taxLines', code: 'capability_unavailable', detail: noOrderTaxesReason }]
    : []
  const addError = (pointer: string, detail: string) => errors.push({ pointer, code: 'invalid_field', detail })
  for (const [pointer, { country }] of [
    ['/billingAddress', billingAddress],
    ['/deliveryAddress', deliveryAddress],
  ] as const)
    if (country.length > maxCountryLength)
      addError(`${pointer}/country`, `This field can have at most ${maxCountryLength} characters in the back office.`)
  if (pickupStoreNumber && freight > 0n) addError('/freight', "An order that is picked up can't have freight.")
  return errors
}
