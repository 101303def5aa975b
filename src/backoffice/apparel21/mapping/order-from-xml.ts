import type { LineStatus } from '../../../domain/orders/orders.ts'
import { toMinorUnits } from '../../../domain/orders/pricing.ts'
import type { OrderAddress } from '../../../domain/values/address.ts'
import { formatAmount, getDecimals } from '../../../domain/values/money.ts'
import type { Connection } from '../client/connection.ts'
import { InvalidRecord } from '../xml/invalid-record.ts'
import { findElement, findElements, parseLocalTime, readAmount, readInteger, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** An order line of the back office. Amounts are in minor units. */
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

/** An order of the back office. */
export interface BackOfficeOrder {
  id: string
  number: string
  personId: string
  /** In the back office's local time, as `YYYY-MM-DDTHH:MM:SS`. */
  placedAt: string | null
  pickupStoreId: string | null
  billingAddress: OrderAddress
  deliveryAddress: OrderAddress
  currency: string
  decimals: number
  freight: bigint
  /** The sold lines (`getSoldLines`), without the freight line. */
  lines: BackOfficeLine[]
  payments: { gateway: string; amount: string; reference: string | null; voucherNumber: string | null }[]
}

/** Reads the identifiers of an order. Throws `InvalidRecord` if one is missing. */
export function readOrderIds(order: Xml) {
  const [id, number, personId] = [readText(order, 'Id'), readText(order, 'OrderNumber'), readText(order, 'PersonId')]
  if (!id || !number || !personId) throw new InvalidRecord('An order must have an Id, an OrderNumber and a PersonId.')
  return { id, number, personId }
}

interface OrderContext {
  /** The currency of an order without a currency. */
  defaultCurrency: string
  /** The back office's merchants by gateway name. */
  gateways?: Connection['gateways']
  /** The back office's time zone. */
  timeZone?: string
}

/** Parses an order of the back office, which Tillbridge has not stored. Throws `InvalidRecord` if it is malformed. */
export function parseOrder(order: Xml, { defaultCurrency, gateways, timeZone }: OrderContext): BackOfficeOrder {
  const currency = readText(order, 'Currency', 'Code')?.toUpperCase() ?? defaultCurrency
  if (!/^[A-Z]{3}$/.test(currency)) throw new InvalidRecord('An order has an invalid currency.')
  const decimals = getDecimals(currency)
  const freight = toMinorUnits(readNonNegativeAmount(order, decimals, 'SelectedFreightOption', 'Value'), decimals)
  const lines = getSoldLines(order).map(line => parseLine(line, decimals))
  // The freight is an unmarked line with a SKU of its own, after the products: the last line of one unit with the freight's value.
  // Hazard: if an order has no such line, a product with exactly this value is omitted.
  const isFreight = ({ quantity, value }: BackOfficeLine) => freight > 0n && quantity === 1 && value === freight
  const freightIndex = lines.findLastIndex(isFreight)
  return {
    ...readOrderIds(order),
    placedAt: parseLocalTime(readText(order, 'OrderDateTime'), timeZone),
    pickupStoreId: readText(order, 'PickupStoreId'),
    billingAddress: parseAddress(findElement(order, 'Addresses', 'Billing')),
    deliveryAddress: parseAddress(findElement(order, 'Addresses', 'Delivery')),
    currency,
    decimals,
    freight,
    lines: freightIndex < 0 ? lines : lines.toSpliced(freightIndex, 1),
    payments: findElements(order, 'Payments', 'PaymentDetail').map(payment => ({
      gateway: findGateway(payment, gateways),
      amount: readNonNegativeAmount(payment, decimals, 'Amount'),
      reference: readText(payment, 'Reference') ?? readText(payment, 'Stan'),
      voucherNumber: readText(payment, 'VoucherNumber'),
    })),
  }
}

/** Returns the gateway name of a payment. Falls back to the card type, because a merchant's account number means nothing to callers. */
function findGateway(payment: Xml, gateways: Connection['gateways'] = {}) {
  const [merchantId, cardType] = [readText(payment, 'MerchantId'), readText(payment, 'CardType')]
  const candidates = Object.entries(gateways).filter(
    ([, gateway]) => merchantId !== null && gateway.merchantId === merchantId,
  )
  const [name] = candidates.find(([, gateway]) => gateway.cardType === cardType) ?? candidates[0] ?? []
  return name ?? cardType ?? readText(payment, 'Origin') ?? 'unknown'
}

interface SoldLine {
  element: Xml
  skuId: string | null
  quantity: number
  status: LineStatus
}

/** Returns the lines with a positive quantity. Items that the customer gave back in an exchange have a negative one. */
const getSoldLines = (order: Xml): SoldLine[] =>
  findElements(order, 'OrderDetails', 'OrderDetail').flatMap(element => {
    const quantity = readInteger(element, 'Quantity') ?? 0
    return quantity > 0 ? [{ element, skuId: readText(element, 'SkuId'), quantity, status: readStatus(element) }] : []
  })

/** Reads an amount. Returns 0 if it is missing or negative. */
function readNonNegativeAmount(element: Xml, decimals: number, ...path: string[]): string {
  const amount = readAmount(element, decimals, ...path)
  return amount === null || amount.startsWith('-') ? formatAmount(0n, decimals) : amount
}

function parseLine({ element, skuId, quantity, status }: SoldLine, decimals: number): BackOfficeLine {
  if (!skuId) throw new InvalidRecord('A line of an order has no SKU.')
  const productCode = readText(element, 'ProductCode') ?? skuId
  return {
    skuId,
    quantity,
    productCode,
    status,
    price: toMinorUnits(readNonNegativeAmount(element, decimals, 'Price'), decimals),
    value: toMinorUnits(readNonNegativeAmount(element, decimals, 'Value'), decimals),
    barcode: readText(element, 'Barcode'),
    productName: readText(element, 'ProductName') ?? productCode,
    colourCode: readText(element, 'ColourCode'),
    colourName: readText(element, 'ColourName'),
    // A product without sizes has this code too.
    sizeCode: readText(element, 'SizeCode') ?? '-',
    discounts: findElements(element, 'Discounts', 'Discount').map(discount => ({
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

/** The least advanced status first. Lines that share a status get the least advanced one, so they count as shipped only when all are. */
const statusPrecedence = ['processing', 'shipped', 'returned', 'cancelled'] as const

interface StoredLine {
  sequence: number
  skuId: string
  quantity: number
}

/**
 * Returns the status of each stored line by sequence. Lines of the same SKU are matched in order. If the back office has split them or
 * changed a quantity, all lines of the SKU share one status. A line whose SKU the back office's order no longer has gets none.
 */
export function readLineStatuses(order: Xml, lines: readonly StoredLine[]): Map<number, LineStatus> {
  const currentBySku = Map.groupBy(getSoldLines(order), line => line.skuId)
  const storedBySku = Map.groupBy(lines, line => line.skuId)
  return new Map(
    [...storedBySku].flatMap(([skuId, stored]): [number, LineStatus][] => {
      const current = currentBySku.get(skuId) ?? []
      const isUnchanged =
        current.length === stored.length && stored.every(({ quantity }, i) => current[i]?.quantity === quantity)
      const shared = statusPrecedence.find(status => current.some(line => line.status === status))
      return stored.flatMap(({ sequence }, i): [number, LineStatus][] => {
        const status = isUnchanged ? current[i]?.status : shared
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

/** Counts the shipped and returned units of each SKU. A returned unit counts as shipped too. */
export function countUnits(order: Xml): Map<string, { shipped: number; returned: number }> {
  const units = new Map<string, { shipped: number; returned: number }>()
  for (const { skuId: sku, quantity, status } of getSoldLines(order)) {
    const skuId = sku ?? ''
    const { shipped, returned } = units.get(skuId) ?? { shipped: 0, returned: 0 }
    const isShipped = status === 'shipped' || status === 'returned'
    units.set(skuId, {
      shipped: shipped + (isShipped ? quantity : 0),
      returned: returned + (status === 'returned' ? quantity : 0),
    })
  }
  return units
}
