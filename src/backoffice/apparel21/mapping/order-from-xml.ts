import type { LineStatus } from '../../../domain/orders/orders.ts'
import { units } from '../../../domain/orders/pricing.ts'
import type { OrderAddress } from '../../../domain/values/address.ts'
import { decimalsOf } from '../../../domain/values/money.ts'
import type { Connection } from '../client/connection.ts'
import { Untranslatable } from '../xml/untranslatable.ts'
import { at, every, money, text, wallIn, whole } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** A line as the back office has it. Amounts in minor units. */
export interface ReadLine {
  skuId: string
  status: LineStatus
  quantity: number
  price: bigint
  value: bigint
  barcode: string | null
  productCode: string
  productName: string
  colourCode: string | null
  colourName: string | null
  sizeCode: string
  discounts: { type: string; reason: string | null; amount: string }[]
}

/** An order as the back office has it. */
export interface ReadOrder {
  id: string
  number: string
  personId: string
  /** On the wall of the head office. */
  placed: string | null
  pickupStoreId: string | null
  billingAddress: OrderAddress
  deliveryAddress: OrderAddress
  currency: string
  decimals: number
  freight: bigint
  /** What was sold: without the freight, and without what was taken back in exchange. */
  lines: ReadLine[]
  payments: { gateway: string; amount: string; reference: string | null; voucherNumber: string | null }[]
}

/** What identifies an order of the back office: of any answer that has one. */
export function orderIds(order: Xml) {
  const [id, number, personId] = [text(order, 'Id'), text(order, 'OrderNumber'), text(order, 'PersonId')]
  if (!id || !number || !personId) throw new Untranslatable('An order has no Id, number or person.')
  return { id, number, personId }
}

interface Names {
  /** The currency of an order that names none. */
  otherwise: string
  /** Our gateways, by their names, and the merchants that they are there. */
  gateways?: Connection['gateways']
}

/** An order that was placed elsewhere. */
export function orderFrom(order: Xml, { otherwise, gateways }: Names): ReadOrder {
  const currency = text(order, 'Currency', 'Code')?.toUpperCase() ?? otherwise
  if (!/^[A-Z]{3}$/.test(currency)) throw new Untranslatable('An order has a currency that cannot be one.')
  const decimals = decimalsOf(currency)
  const freight = units(amountIn(order, decimals, 'SelectedFreightOption', 'Value'), decimals)
  const lines = soldLines(order).map(line => lineFrom(line, decimals))
  const isFreight = ({ quantity, value }: ReadLine) => freight > 0n && quantity === 1 && value === freight
  const place = lines.findLastIndex(isFreight)
  return {
    ...orderIds(order),
    placed: wallIn(text(order, 'OrderDateTime')),
    pickupStoreId: text(order, 'PickupStoreId'),
    billingAddress: addressFrom(at(order, 'Addresses', 'Billing')),
    deliveryAddress: addressFrom(at(order, 'Addresses', 'Delivery')),
    currency,
    decimals,
    freight,
    lines: place < 0 ? lines : lines.toSpliced(place, 1),
    payments: every(order, 'Payments', 'PaymentDetail').map(payment => ({
      gateway: gatewayOf(payment, gateways),
      amount: amountIn(payment, decimals, 'Amount'),
      reference: text(payment, 'Reference') ?? text(payment, 'Stan'),
      voucherNumber: text(payment, 'VoucherNumber'),
    })),
  }
}

/** Our name for how it was paid; where we have none, what it was paid with. A merchant's account there says nothing to anybody here. */
function gatewayOf(payment: Xml, gateways: Connection['gateways'] = {}) {
  const [merchantId, cardType] = [text(payment, 'MerchantId'), text(payment, 'CardType')]
  const ofMerchant = Object.entries(gateways).filter(
    ([, each]) => merchantId !== null && each.merchantId === merchantId,
  )
  const [name] = ofMerchant.find(([, each]) => each.cardType === cardType) ?? ofMerchant[0] ?? []
  return name ?? cardType ?? text(payment, 'Origin') ?? 'unknown'
}

/** What is taken back in exchange has a negative quantity. */
const soldLines = (order: Xml) =>
  every(order, 'OrderDetails', 'OrderDetail').filter(line => (whole(line, 'Quantity') ?? 0) > 0)

/** An amount that is at least nothing. */
function amountIn(element: Xml, decimals: number, ...path: string[]): string {
  const found = money(element, decimals, ...path)
  return found === null || found.startsWith('-') ? (decimals ? `0.${'0'.repeat(decimals)}` : '0') : found
}

function lineFrom(line: Xml, decimals: number): ReadLine {
  const [skuId, quantity] = [text(line, 'SkuId'), whole(line, 'Quantity')]
  if (!skuId || quantity === null) throw new Untranslatable('A line of an order has no SKU or quantity.')
  const productCode = text(line, 'ProductCode') ?? skuId
  return {
    skuId,
    quantity,
    productCode,
    status: statusOf(line),
    price: units(amountIn(line, decimals, 'Price'), decimals),
    value: units(amountIn(line, decimals, 'Value'), decimals),
    barcode: text(line, 'Barcode'),
    productName: text(line, 'ProductName') ?? productCode,
    colourCode: text(line, 'ColourCode'),
    colourName: text(line, 'ColourName'),
    sizeCode: text(line, 'SizeCode') ?? '-',
    discounts: every(line, 'Discounts', 'Discount').map(discount => ({
      type: 'discount',
      reason: text(discount, 'Description'),
      amount: amountIn(discount, decimals, 'Value'),
    })),
  }
}

const statuses: Readonly<Record<string, LineStatus>> = {
  processing: 'processing',
  shipped: 'shipped',
  cancelled: 'cancelled',
  returned: 'returned',
}

const statusOf = (line: Xml): LineStatus => statuses[text(line, 'Status')?.toLowerCase() ?? ''] ?? 'processing'

/** That of several lines as one: the first of these that one of them has. */
const byProgress = ['processing', 'shipped', 'returned', 'cancelled'] as const

interface OurLine {
  sequence: number
  skuId: string
  quantity: number
}

/**
 * Where the back office sees each line of an order of ours, by its sequence: lines of the same SKU one after the other. Where head office
 * has split them, or changed how many are to be sent, they go together: none is done before all of the SKU are.
 */
export function statusesIn(order: Xml, lines: readonly OurLine[]): Map<number, LineStatus> {
  const theirs = Map.groupBy(soldLines(order), line => text(line, 'SkuId'))
  const ours = Map.groupBy(lines, line => line.skuId)
  return new Map(
    [...ours].flatMap(([skuId, mine]): [number, LineStatus][] => {
      const found = theirs.get(skuId) ?? []
      const isSame =
        found.length === mine.length &&
        mine.every(({ quantity }, i) => found[i] && whole(found[i], 'Quantity') === quantity)
      const statuses = found.map(statusOf)
      const together = byProgress.find(status => statuses.includes(status))
      return mine.flatMap(({ sequence }, i): [number, LineStatus][] => {
        const status = isSame ? statuses[i] : together
        return status ? [[sequence, status]] : []
      })
    }),
  )
}

function addressFrom(address: Xml | undefined): OrderAddress {
  return {
    contactName: text(address, 'ContactName'),
    companyName: text(address, 'CompanyName'),
    addressLine1: text(address, 'AddressLine1'),
    addressLine2: text(address, 'AddressLine2'),
    city: text(address, 'City'),
    state: text(address, 'State'),
    postcode: text(address, 'Postcode'),
    country: text(address, 'Country'),
  }
}

/** How many units of each SKU were sent to the shopper, and how many of those came back. */
export function unitsIn(order: Xml): Map<string, { sent: number; back: number }> {
  const units = new Map<string, { sent: number; back: number }>()
  for (const line of soldLines(order)) {
    const [skuId, quantity, status] = [text(line, 'SkuId') ?? '', whole(line, 'Quantity') ?? 0, statusOf(line)]
    const { sent, back } = units.get(skuId) ?? { sent: 0, back: 0 }
    const isSent = status === 'shipped' || status === 'returned'
    units.set(skuId, { sent: sent + (isSent ? quantity : 0), back: back + (status === 'returned' ? quantity : 0) })
  }
  return units
}
