import type { PricedOrder } from '../../../domain/orders/order-rules.ts'
import type { OrderInput } from '../../../domain/orders/orders.ts'
import type { OrderAddress } from '../../../domain/values/address.ts'
import { formatAmount } from '../../../domain/values/money.ts'
import type { FieldError } from '../../../errors/api-error.ts'
import { buildPayload, type Field, type Fields } from '../xml/payload.ts'
import { findElements, readAmount, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** An order, worked out, that is about to be placed. */
export interface NewOrder extends Pick<PricedOrder, 'lines' | 'freight' | 'total'> {
  number: string
  personId: string
  input: Pick<OrderInput, 'billingAddress' | 'deliveryAddress' | 'lines'>
  decimals: number
  /** The back office's identifier of each SKU. */
  skuIds: ReadonlyMap<string, string>
  /** Where it is picked up, by the back office's identifier. */
  pickupStoreId: string | undefined
  contact: OrderContact
  payments: Fields
}

/** Whom an order is for. */
export interface OrderContact {
  name: string
  email: string
  phones: { home: string | null; mobile: string | null; work: string | null }
}

/** The order in the guide's order of elements (payload version 2). Prices have the tax in them. */
export function buildOrderPayload(order: NewOrder): string {
  const { number, personId, input, pickupStoreId, contact, freight, payments } = order
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
      freight > 0n
        ? [
            ['Name', 'Freight'],
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
  if (!line || !priced) throw new Error('each line has been worked out')
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

/** A discount given by hand: every other kind names a promotion, a loyalty or a reward of the back office's own. */
const buildDiscount = ({ type, reason, amount }: { type: string; reason?: string | null; amount: string }): Field => [
  'Discount',
  [
    ['DiscountTypeId', 1],
    ['Description', reason ? `${type}: ${reason}` : type],
    ['Value', amount],
  ],
]

/**
 * Whether an order of the back office is this one, with or without its freight as a line: for the same person, the same units at
 * the same value, and the same total.
 */
export function isSameOrder(found: Xml, { personId, input, lines, decimals, skuIds, total, freight }: NewOrder) {
  const keys = (values: (string | null | undefined)[][]) => values.map(each => JSON.stringify(each)).sort()
  const wanted = input.lines.map(({ sku, quantity }, i) => [
    ...[skuIds.get(sku), String(quantity), formatAmount(lines[i]?.value ?? 0n, decimals)],
  ])
  const details = findElements(found, 'OrderDetails', 'OrderDetail')
  const unitsOf = (detail: Xml) => [
    ...[readText(detail, 'SkuId'), readAmount(detail, 0, 'Quantity'), readAmount(detail, decimals, 'Value')],
  ]
  const isFreight = (detail: Xml) =>
    freight > 0n && readAmount(detail, decimals, 'Value') === formatAmount(freight, decimals)
  const has = (rows: Xml[]) => keys(rows.map(unitsOf)).join() === keys(wanted).join()
  const place = details.findLastIndex(isFreight)
  return (
    readText(found, 'PersonId') === personId &&
    readAmount(found, decimals, 'TotalDue') === formatAmount(total, decimals) &&
    (has(details) || (place >= 0 && has(details.toSpliced(place, 1))))
  )
}

/** Letters of a country here. */
export const maxCountryLength = 20

/** What an order says that this system cannot take. */
export function checkOrder({ pickupStoreNumber, billingAddress, deliveryAddress }: OrderInput, freight: bigint) {
  const faults: FieldError[] = []
  const fault = (pointer: string, detail: string) => faults.push({ pointer, code: 'invalid_field', detail })
  for (const [pointer, { country }] of [
    ['/billingAddress', billingAddress],
    ['/deliveryAddress', deliveryAddress],
  ] as const)
    if (country.length > maxCountryLength)
      fault(`${pointer}/country`, `The back office takes at most ${maxCountryLength} characters here.`)
  if (pickupStoreNumber && freight > 0n) fault('/freight', 'What is picked up has no freight.')
  return faults
}
