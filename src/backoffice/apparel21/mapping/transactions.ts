import type { RetailTransaction } from '../../../domain/orders/transactions.ts'
import type { SyncRows } from '../../../domain/sync/port.ts'
import { getDecimals } from '../../../domain/values/money.ts'
import { InvalidRecord } from '../xml/invalid-record.ts'
import {
  findElements,
  readAmount,
  readDecimal,
  readInteger,
  readLocalTime,
  readPercentage,
  readQuantity,
  readText,
} from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { readTrackingUrl } from './shipments.ts'

type Row = SyncRows['transactions']
type Discount = NonNullable<Row['line']['discounts']>[number]

const channels: Readonly<Record<string, RetailTransaction['channel']>> = { W: 'web', H: 'headOffice', D: 'store' }

const types: Readonly<Record<string, RetailTransaction['type']>> = {
  sale: 'sale',
  layby: 'layby',
  'layby update': 'laybyUpdate',
  'special order': 'specialOrder',
  'special order update': 'specialOrderUpdate',
}

const currencies = new Set(Intl.supportedValuesOf('currency'))

const readTransactionId = (transaction: Xml): string => {
  const id = readText(transaction, 'Id')
  if (!id) throw new InvalidRecord('A transaction has no Id.')
  return id
}

/**
 * Parses a customer's transaction, one row per line. `storeNumber` is the Retail API's `StoreCode`: the store's number or its code.
 * The Retail API doesn't return SKU identifiers.
 */
export function parseTransaction(transaction: Xml, customerId: string, currency: string): Row[] {
  const id = readTransactionId(transaction)
  const saleDate = readLocalTime(transaction, 'SaleDate')
  if (!saleDate) throw new InvalidRecord('A transaction has no SaleDate.')
  const code = readText(transaction, 'Currency', 'Code')?.toUpperCase() ?? ''
  const paidCurrency = currencies.has(code) ? code : currency
  const number = readText(transaction, 'Number')
  const header: Row['header'] = {
    id,
    number,
    saleDate,
    customerId,
    currency: paidCurrency,
    orderNumber: readText(transaction, 'OrderNumber'),
    channel: channels[number?.charAt(0).toUpperCase() ?? ''] ?? 'store',
    type: types[readText(transaction, 'Type')?.toLowerCase().replaceAll(/\s+/g, ' ') ?? ''] ?? 'sale',
    storeNumber: readText(transaction, 'StoreCode'),
    storeName: readText(transaction, 'StoreName'),
    ...readTracking(transaction),
  }
  const lines = findElements(transaction, 'Details', 'Detail').map(detail => ({
    header,
    line: parseLine(detail, getDecimals(paidCurrency)),
  }))
  if (!lines.length) throw new InvalidRecord('A transaction has no line.')
  return lines
}

/** Returns the carrier and the tracking of a web sale. Absent elements are left out. */
function readTracking(transaction: Xml): Pick<Row['header'], 'carrier' | 'trackingNumber' | 'trackingUrl'> {
  const [carrier, trackingNumber] = [readText(transaction, 'Carrier'), readText(transaction, 'ConNote')]
  const trackingUrl = readTrackingUrl(readText(transaction, 'CarrierUrl'))
  return { ...(carrier && { carrier }), ...(trackingNumber && { trackingNumber }), ...(trackingUrl && { trackingUrl }) }
}

function parseLine(detail: Xml, decimals: number): Row['line'] {
  const [id, quantity] = [readText(detail, 'Id'), readQuantity(detail, 'Quantity')]
  const [price, value] = [readAmount(detail, decimals, 'Price'), readAmount(detail, decimals, 'Value')]
  if (!id || quantity === null || price === null || value === null)
    throw new InvalidRecord('A line of a transaction has no identifier, quantity, price or value.')
  return {
    id,
    quantity,
    price,
    value,
    sequence: readInteger(detail, 'Sequence'),
    productCode: readText(detail, 'ProductCode'),
    productName: readText(detail, 'ProductName'),
    colourCode: readText(detail, 'ColourCode'),
    colourName: readText(detail, 'ColourName'),
    sizeCode: readText(detail, 'SizeCode'),
    // Orders use the name TaxPercent.
    taxPercent: readPercentage(detail, 'TaxPercentage') ?? readPercentage(detail, 'TaxPercent'),
    discounts: findElements(detail, 'Discounts', 'Discount').flatMap(
      discount => parseDiscount(discount, decimals) ?? [],
    ),
  }
}

function parseDiscount(discount: Xml, decimals: number): Discount | undefined {
  const amount = readAmount(discount, decimals, 'Amount')
  if (amount === null || readDecimal(discount, 'Amount') === '0') return
  return {
    type: readText(discount, 'Type')?.toLowerCase() ?? 'discount',
    reason: readText(discount, 'Reason'),
    amount,
    percentage: readPercentage(discount, 'Percentage'),
  }
}
