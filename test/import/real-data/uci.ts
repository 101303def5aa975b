import type { Static } from 'typebox'
import type { ProductRow } from '../../../src/domain/catalog/products.ts'
import type { CustomerRow } from '../../../src/domain/customers/customers.ts'
import type { TransactionRow } from '../../../src/domain/orders/transactions.ts'
import { parseAmount } from '../../../src/domain/values/money.ts'
import { timesPrice } from './accounts.ts'
import { type Folders, openFile, readSource } from './csv.ts'
import { type Line, UciCounts } from './uci-counts.ts'

const path = 'uci-online-retail/online_retail.csv.gz'

/** The name and price of a stock code. */
interface Item {
  name: string
  price: string
  /** True if name and price are from a sale, not from a correction. */
  ofSale: boolean
}

/**
 * Converts each row to a line of a transaction, including credit notes and corrections. Nothing is left out or corrected. Amounts with too
 * many decimals stay unchanged, so that the import must reject them. The time of an invoice is that of its first row.
 */
export async function uci(folders: Folders) {
  const feed = openFile<Static<typeof TransactionRow>>(folders, 'transactions-uci.csv.gz', 'transactions', [
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
      // Written "17850.0": the column was once one of decimals.
      customer: row.CustomerID.replace(/\.0$/, ''),
      country: row.Country,
    }
    const { sequence, time } = counts.count(line)
    keepItem(items, line)
    if (line.customer && !countries.has(line.customer)) countries.set(line.customer, line.country)
    const value = timesPrice(line.price, line.quantity)
    await feed.write(
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
  const counted = counts.totals()
  return {
    files: [await products(folders, items), await customers(folders, countries), await feed.close()],
    skus: new Set(items.keys()),
    customers: countries.size,
    transactions: counted.invoices,
    counted,
  }
}

/** Name and price of a stock code: those of its first sale at a price; before that, of what comes first. */
function keepItem(items: Map<string, Item>, { code, description, price, quantity }: Line) {
  const existing = items.get(code)
  if (existing?.ofSale) return
  const cents = parseAmount(price, 2)
  const ofSale = quantity > 0 && cents !== undefined && cents > 0n && description !== ''
  if (ofSale) items.set(code, { name: description, price, ofSale })
  else items.set(code, { name: existing?.name || description, price: existing?.price ?? '0', ofSale })
}

/** A product for each stock code: a style's letters are designs, not always colours, and the styles have no names. */
async function products(folders: Folders, items: ReadonlyMap<string, Item>) {
  const feed = openFile<Static<typeof ProductRow>>(folders, 'products-uci.csv', 'products', [
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
    await feed.write(
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
  return feed.close()
}

/** The customers: a number and a country is all that the data has of them. */
async function customers(folders: Folders, countries: ReadonlyMap<string, string>) {
  const feed = openFile<Static<typeof CustomerRow>>(folders, 'customers-uci.csv', 'customers', ['id', 'country'])
  for (const [customer, country] of countries) await feed.write({ id: `UCI-${customer}`, country })
  return feed.close()
}
