import type { RetailTransaction } from '../../../domain/orders/transactions.ts'
import type { SyncRows } from '../../../domain/sync/port.ts'
import { decimalsOf } from '../../../domain/values/money.ts'
import { Untranslatable } from '../xml/untranslatable.ts'
import { decimal, every, localTime, money, percent, text, units, whole } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

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

const transactionIdOf = (transaction: Xml): string => {
  const id = text(transaction, 'Id')
  if (!id) throw new Untranslatable('A transaction has no Id.')
  return id
}

/**
 * One row a line of a customer's transaction. `storeNumber` is what this system calls `StoreCode`: a store's number, or its code.
 * Identifiers of SKUs are not in it.
 */
export function transactionRowsFrom(transaction: Xml, customerId: string, currency: string): Row[] {
  const id = transactionIdOf(transaction)
  const saleDate = localTime(transaction, 'SaleDate')
  if (!saleDate) throw new Untranslatable('A transaction has no SaleDate.')
  const given = text(transaction, 'Currency', 'Code')?.toUpperCase() ?? ''
  const paidIn = currencies.has(given) ? given : currency
  const number = text(transaction, 'Number')
  const header: Row['header'] = {
    id,
    number,
    saleDate,
    customerId,
    currency: paidIn,
    orderNumber: text(transaction, 'OrderNumber'),
    channel: channels[number?.charAt(0).toUpperCase() ?? ''] ?? 'store',
    type: types[text(transaction, 'Type')?.toLowerCase().replaceAll(/\s+/g, ' ') ?? ''] ?? 'sale',
    storeNumber: text(transaction, 'StoreCode'),
    storeName: text(transaction, 'StoreName'),
  }
  const lines = every(transaction, 'Details', 'Detail').map(detail => ({
    header,
    line: lineFrom(detail, decimalsOf(paidIn)),
  }))
  if (!lines.length) throw new Untranslatable('A transaction has no line.')
  return lines
}

function lineFrom(detail: Xml, decimals: number): Row['line'] {
  const [id, quantity] = [text(detail, 'Id'), units(detail, 'Quantity')]
  const [price, value] = [money(detail, decimals, 'Price'), money(detail, decimals, 'Value')]
  if (!id || quantity === null || price === null || value === null)
    throw new Untranslatable('A line of a transaction has no identifier, quantity, price or value.')
  return {
    id,
    quantity,
    price,
    value,
    sequence: whole(detail, 'Sequence'),
    productCode: text(detail, 'ProductCode'),
    productName: text(detail, 'ProductName'),
    colourCode: text(detail, 'ColourCode'),
    colourName: text(detail, 'ColourName'),
    sizeCode: text(detail, 'SizeCode'),
    // Orders call it TaxPercent.
    taxPercent: percent(detail, 'TaxPercentage') ?? percent(detail, 'TaxPercent'),
    discounts: every(detail, 'Discounts', 'Discount').flatMap(discount => discountFrom(discount, decimals) ?? []),
  }
}

function discountFrom(discount: Xml, decimals: number): Discount | undefined {
  const amount = money(discount, decimals, 'Amount')
  if (amount === null || decimal(discount, 'Amount') === '0') return
  return {
    type: text(discount, 'Type')?.toLowerCase() ?? 'discount',
    reason: text(discount, 'Reason'),
    amount,
    percentage: percent(discount, 'Percentage'),
  }
}
