import type { Static } from 'typebox'
import type { ProductRow } from '../../../src/domain/catalog/products.ts'
import type { CustomerRow } from '../../../src/domain/customers/customers.ts'
import type { TransactionRow } from '../../../src/domain/orders/transactions.ts'
import { parseAmount } from '../../../src/domain/values/money.ts'
import { multiplyPrice } from './accounts.ts'
import { type Folders, openFile, readSource } from './csv.ts'
import { type Line, UciCounts } from './uci-counts.ts'

const path = 'uci-online-retail/online_retail.csv.gz'

/** The name and price of a stock code. */
interface Item {
  name: string
  price: string
  /** True if name and price are from a sale. False if they are from a correction. */
  isFromSale: boolean
}

/**
 * Converts each row to a line of a transaction, including credit notes and corrections. Amounts with too
 * many decimals stay unchanged, so that the import must reject them. All lines have the time of their invoice's first row.
 */
export async function convertUci(folders: Folders) {
  const file = openFile<Static<typeof TransactionRow>>(folders, 'transactions-uci.csv.gz', 'transactions', [
    'id',
    'number',
    'channel',
    'type',
    'saleDate',
    'customerId',
    'lineId',
    'sequence',
    'sku',
    'productCode',
    'productName',
    'sizeCode',
    'quantity',
    'price',
    'value',
  ])
  const counts = new UciCounts()
  const items = new Map<string, Item>()
  const countries = new Map<string, string>()
  const columns = [
    'InvoiceNo',
    'StockCode',
    'Description',
    'Quantity',
    'InvoiceDate',
    'UnitPrice',
    'CustomerID',
    'Country',
  ] as const
  for await (const row of readSource(folders, path, columns)) {
    const line: Line = {
      invoice: row.InvoiceNo,
      code: row.StockCode,
      description: row.Description,
      quantity: Number(row.Quantity),
      time: row.InvoiceDate,
      price: row.UnitPrice,
      // Customer IDs look like "17850.0", because the column once contained decimals.
      customer: row.CustomerID.replace(/\.0$/, ''),
      country: row.Country,
    }
    const { sequence, time } = counts.count(line)
    storeItem(items, line)
    if (line.customer && !countries.has(line.customer)) countries.set(line.customer, line.country)
    const value = multiplyPrice(line.price, line.quantity)
    await file.write(
      {
        id: `UCI-${line.invoice}`,
        number: line.invoice,
        channel: 'web',
        type: 'sale',
        saleDate: time,
        ...(line.customer && { customerId: `UCI-${line.customer}` }),
        lineId: String(sequence),
        sequence,
        sku: line.code,
        productCode: line.code,
        productName: line.description,
        sizeCode: 'OS',
        quantity: line.quantity,
        price: line.price,
        value,
      },
      { quantity: line.quantity, value: parseAmount(value, 2) },
    )
  }
  const totals = counts.getTotals()
  return {
    files: [await convertProducts(folders, items), await convertCustomers(folders, countries), await file.close()],
    skus: new Set(items.keys()),
    customers: countries.size,
    transactions: totals.invoices,
    counts: totals,
  }
}

/** Stores the name and price of a stock code: from its first sale with a price, or until then from its first row. */
function storeItem(items: Map<string, Item>, { code, description, price, quantity }: Line) {
  const existing = items.get(code)
  if (existing?.isFromSale) return
  const cents = parseAmount(price, 2)
  const isFromSale = quantity > 0 && cents !== undefined && cents > 0n && description !== ''
  if (isFromSale) items.set(code, { name: description, price, isFromSale })
  else items.set(code, { name: existing?.name || description, price: existing?.price ?? '0', isFromSale })
}

/** Writes a product for each stock code. Codes of one style aren't joined, because they can be designs, not colours, and styles have no names. */
async function convertProducts(folders: Folders, items: ReadonlyMap<string, Item>) {
  const file = openFile<Static<typeof ProductRow>>(folders, 'products-uci.csv', 'products', [
    'productId',
    'productCode',
    'name',
    'colourId',
    'skuId',
    'sku',
    'sizeCode',
    'price',
  ])
  for (const [code, { name, price }] of items) {
    const id = `UCI-${code}`
    await file.write(
      {
        productId: id,
        productCode: code,
        name: name || code,
        colourId: id,
        skuId: id,
        sku: code,
        sizeCode: 'OS',
        price,
      },
      { value: parseAmount(price, 2) },
    )
  }
  return file.close()
}

/** Writes the customers. The data has only their numbers and countries. */
async function convertCustomers(folders: Folders, countries: ReadonlyMap<string, string>) {
  const file = openFile<Static<typeof CustomerRow>>(folders, 'customers-uci.csv', 'customers', ['id', 'country'])
  for (const [customer, country] of countries) await file.write({ id: `UCI-${customer}`, country })
  return file.close()
}
