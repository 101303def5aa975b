import type { LineStatus } from '../../../domain/orders/orders.ts'
import { toMinorUnits } from '../../../domain/orders/pricing.ts'
import type { OrderAddress } from '../../../domain/values/address.ts'
import { getDecimals } from '../../../domain/values/money.ts'
import type { Connection } from '../client/connection.ts'
import { InvalidRecord } from '../xml/invalid-record.ts'
import { findElement, findElements, parseLocalTime, readAmount, readInteger, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** A line as the back office has it. Amounts in minor units. */
export interface BackOfficeLine {
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
export interface BackOfficeOrder {
  id: string
  number: string
  personId: string
  /** On the wall of the head office. */
  placedAt: string | null
  pickupStoreId: string | null
  billingAddress: OrderAddress
  deliveryAddress: OrderAddress
  currency: string
  decimals: number
  freight: bigint
  /** What was sold: without the freight, and without what was taken back in exchange. */
  lines: BackOfficeLine[]
  payments: { gateway: string; amount: string; reference: string | null; voucherNumber: string | null }[]
}

/** What identifies an order of the back office: of any answer that has one. */
export function readOrderIds(order: Xml) {
  const [id, number, personId] = [readText(order, 'Id'), readText(order, 'OrderNumber'), readText(order, 'PersonId')]
  if (!id || !number || !personId) throw new InvalidRecord('An order has no Id, number or person.')
  return { id, number, personId }
}

interface OrderContext {
  /** The currency of an order that names none. */
  defaultCurrency: string
  /** Our gateways, by their names, and the merchants that they are there. */
  gateways?: Connection['gateways']
}

/** An order that was placed elsewhere. */
export function parseOrder(order: Xml, { defaultCurrency: otherwise, gateways }: OrderContext): BackOfficeOrder {
  const currency = readText(order, 'Currency', 'Code')?.toUpperCase() ?? otherwise
  if (!/^[A-Z]{3}$/.test(currency)) throw new InvalidRecord('An order has a currency that cannot be one.')
  const decimals = getDecimals(currency)
  const freight = toMinorUnits(readNonNegativeAmount(order, decimals, 'SelectedFreightOption', 'Value'), decimals)
  const lines = getSoldLines(order).map(line => parseLine(line, decimals))
  const isFreight = ({ quantity, value }: BackOfficeLine) => freight > 0n && quantity === 1 && value === freight
  const place = lines.findLastIndex(isFreight)
  return {
    ...readOrderIds(order),
    placedAt: parseLocalTime(readText(order, 'OrderDateTime')),
    pickupStoreId: readText(order, 'PickupStoreId'),
    billingAddress: parseAddress(findElement(order, 'Addresses', 'Billing')),
    deliveryAddress: parseAddress(findElement(order, 'Addresses', 'Delivery')),
    currency,
    decimals,
    freight,
    lines: place < 0 ? lines : lines.toSpliced(place, 1),
    payments: findElements(order, 'Payments', 'PaymentDetail').map(payment => ({
      gateway: findGateway(payment, gateways),
      amount: readNonNegativeAmount(payment, decimals, 'Amount'),
      reference: readText(payment, 'Reference') ?? readText(payment, 'Stan'),
      voucherNumber: readText(payment, 'VoucherNumber'),
    })),
  }
}

/** Our name for how it was paid; where we have none, what it was paid with. A merchant's account there says nothing to anybody here. */
function findGateway(payment: Xml, gateways: Connection['gateways'] = {}) {
  const [merchantId, cardType] = [readText(payment, 'MerchantId'), readText(payment, 'CardType')]
  const ofMerchant = Object.entries(gateways).filter(
    ([, each]) => merchantId !== null && each.merchantId === merchantId,
  )
  const [name] = ofMerchant.find(([, each]) => each.cardType === cardType) ?? ofMerchant[0] ?? []
  return name ?? cardType ?? readText(payment, 'Origin') ?? 'unknown'
}

/** What is taken back in exchange has a negative quantity. */
const getSoldLines = (order: Xml) =>
  findElements(order, 'OrderDetails', 'OrderDetail').filter(line => (readInteger(line, 'Quantity') ?? 0) > 0)

/** An amount that is at least nothing. */
function readNonNegativeAmount(element: Xml, decimals: number, ...path: string[]): string {
  const found = readAmount(element, decimals, ...path)
  return found === null || found.startsWith('-') ? (decimals ? `0.${'0'.repeat(decimals)}` : '0') : found
}

function parseLine(line: Xml, decimals: number): BackOfficeLine {
  const [skuId, quantity] = [readText(line, 'SkuId'), readInteger(line, 'Quantity')]
  if (!skuId || quantity === null) throw new InvalidRecord('A line of an order has no SKU or quantity.')
  const productCode = readText(line, 'ProductCode') ?? skuId
  return {
    skuId,
    quantity,
    productCode,
    status: readStatus(line),
    price: toMinorUnits(readNonNegativeAmount(line, decimals, 'Price'), decimals),
    value: toMinorUnits(readNonNegativeAmount(line, decimals, 'Value'), decimals),
    barcode: readText(line, 'Barcode'),
    productName: readText(line, 'ProductName') ?? productCode,
    colourCode: readText(line, 'ColourCode'),
    colourName: readText(line, 'ColourName'),
    sizeCode: readText(line, 'SizeCode') ?? '-',
    discounts: findElements(line, 'Discounts', 'Discount').map(discount => ({
      type: 'discount',
      reason: readText(discount, 'Description'),
      amount: readNonNegativeAmount(discount, decimals, 'Value'),
    })),
  }
}

const statuses: Readonly<Record<string, LineStatus>> = {
  processing: 'processing',
  shipped: 'shipped',
  cancelled: 'cancelled',
  returned: 'returned',
}

const readStatus = (line: Xml): LineStatus => statuses[readText(line, 'Status')?.toLowerCase() ?? ''] ?? 'processing'

/** That of several lines as one: the first of these that one of them has. */
const byProgress = ['processing', 'shipped', 'returned', 'cancelled'] as const

interface StoredLine {
  sequence: number
  skuId: string
  quantity: number
}

/**
 * Where the back office sees each line of an order of ours, by its sequence: lines of the same SKU one after the other. Where head office
 * has split them, or changed how many are to be sent, they go together: none is done before all of the SKU are.
 */
export function readLineStatuses(order: Xml, lines: readonly StoredLine[]): Map<number, LineStatus> {
  const theirs = Map.groupBy(getSoldLines(order), line => readText(line, 'SkuId'))
  const ours = Map.groupBy(lines, line => line.skuId)
  return new Map(
    [...ours].flatMap(([skuId, mine]): [number, LineStatus][] => {
      const found = theirs.get(skuId) ?? []
      const isSame =
        found.length === mine.length &&
        mine.every(({ quantity }, i) => found[i] && readInteger(found[i], 'Quantity') === quantity)
      const statuses = found.map(readStatus)
      const together = byProgress.find(status => statuses.includes(status))
      return mine.flatMap(({ sequence }, i): [number, LineStatus][] => {
        const status = isSame ? statuses[i] : together
        return status ? [[sequence, status]] : []
      })
    }),
  )
}

function parseAddress(address: Xml | undefined): OrderAddress {
  return {
    contactName: readText(address, 'ContactName'),
    companyName: readText(address, 'CompanyName'),
    addressLine1: readText(address, 'AddressLine1'),
    addressLine2: readText(address, 'AddressLine2'),
    city: readText(address, 'City'),
    state: readText(address, 'State'),
    postcode: readText(address, 'Postcode'),
    country: readText(address, 'Country'),
  }
}

/** How many units of each SKU were sent to the shopper, and how many of those came back. */
export function countUnits(order: Xml): Map<string, { sent: number; back: number }> {
  const units = new Map<string, { sent: number; back: number }>()
  for (const line of getSoldLines(order)) {
    const [skuId, quantity, status] = [
      readText(line, 'SkuId') ?? '',
      readInteger(line, 'Quantity') ?? 0,
      readStatus(line),
    ]
    const { sent, back } = units.get(skuId) ?? { sent: 0, back: 0 }
    const isSent = status === 'shipped' || status === 'returned'
    units.set(skuId, { sent: sent + (isSent ? quantity : 0), back: back + (status === 'returned' ? quantity : 0) })
  }
  return units
}
