import type { OrderAddress } from '../../../domain/address.ts'
import { decimalsOf } from '../../../domain/money.ts'
import type { LineStatus } from '../../../domain/orders/orders.ts'
import { units } from '../../../domain/orders/pricing.ts'
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

/** An order that was placed elsewhere. `otherwise` is the currency of one that names none. */
export function orderFrom(order: Xml, otherwise: string): ReadOrder {
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
      gateway: text(payment, 'MerchantId') ?? text(payment, 'CardType') ?? text(payment, 'Origin') ?? 'unknown',
      amount: amountIn(payment, decimals, 'Amount'),
      reference: text(payment, 'Reference') ?? text(payment, 'Stan'),
      voucherNumber: text(payment, 'VoucherNumber'),
    })),
  }
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

/** Where the back office sees each line of an order of ours, by its sequence: lines of the same SKU one after the other. */
export function statusesIn(order: Xml, lines: readonly { sequence: number; skuId: string }[]): Map<number, LineStatus> {
  const open = soldLines(order)
  return new Map(
    lines.flatMap(({ sequence, skuId }): [number, LineStatus][] => {
      const place = open.findIndex(line => text(line, 'SkuId') === skuId)
      const [line] = place < 0 ? [] : open.splice(place, 1)
      return line ? [[sequence, statusOf(line)]] : []
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
