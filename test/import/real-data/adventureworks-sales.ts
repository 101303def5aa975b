import type { Static } from 'typebox'
import type { ProductRow, SkuMappingRow } from '../../../src/domain/catalog/products.ts'
import type { TransactionRow } from '../../../src/domain/orders/transactions.ts'
import { parseAmount } from '../../../src/domain/values/money.ts'
import { timesPrice, toCents } from './accounts.ts'
import { type Folders, openFile, readSource } from './csv.ts'

/** The product fields of a transaction line. */
type Item = Pick<
  Static<typeof TransactionRow>,
  'sku' | 'productCode' | 'productName' | 'colourName' | 'sizeCode' | 'price'
>

/** The products: a model has colours and sizes. Their SKUs come by the mapping file; prices are rounded to two decimals. */
export async function products(folders: Folders) {
  const feed = openFile<Static<typeof ProductRow>>(folders, 'products-adventureworks.csv', 'products', [
    'productId',
    'productCode',
    'name',
    'description',
    'colourId',
    'colourName',
    'skuId',
    'sizeCode',
    'price',
  ])
  const mapping = openFile<Static<typeof SkuMappingRow>>(folders, 'sku-mapping.csv', 'sku-mapping', [
    'skuId',
    'ecommerceSku',
  ])
  const items = new Map<string, Item>()
  const models = new Map<string, string>()
  const skus = new Set<string>()
  let pricesRounded = 0
  const columns = [
    'ProductKey',
    'ProductSKU',
    'ModelName',
    'ProductDescription',
    'ProductColor',
    'ProductSize',
    'ProductPrice',
  ] as const
  for await (const row of readSource(folders, 'adventureworks/products.csv', columns)) {
    const productId = `AW-${row.ModelName.replace(/[^A-Za-z0-9]+/g, '-')}`
    if ((models.get(productId) ?? row.ModelName) !== row.ModelName) throw new Error(`two models are ${productId}`)
    models.set(productId, row.ModelName)
    const colour = row.ProductColor === 'NA' ? '' : row.ProductColor
    const sizeCode = row.ProductSize === '0' ? 'OS' : row.ProductSize
    const price = toCents(row.ProductPrice)
    if (parseAmount(row.ProductPrice, 2) === undefined) pricesRounded++
    const skuId = `AW-${row.ProductKey}`
    await feed.write(
      {
        productId,
        productCode: row.ModelName,
        name: row.ModelName,
        description: row.ProductDescription,
        colourId: `${productId}-${colour || 'none'}`,
        colourName: colour,
        skuId,
        sizeCode,
        price,
      },
      { value: parseAmount(price, 2) },
    )
    await mapping.write({ skuId, ecommerceSku: row.ProductSKU })
    skus.add(row.ProductSKU)
    items.set(row.ProductKey, {
      sku: row.ProductSKU,
      productCode: row.ModelName,
      productName: row.ModelName,
      colourName: colour,
      sizeCode,
      price,
    })
  }
  return {
    files: [await feed.close(), await mapping.close()],
    items,
    skus,
    models: models.size,
    counted: { models: models.size, pricesRounded },
  }
}

/** A line that units can be brought back from. */
interface Sold {
  date: string
  order: string
  customer: string
  remaining: number
}

/** The fields that all lines of a transaction share. */
interface Head {
  id: string
  number: string
  orderNumber: string
  date: string
  customer: string
}

/** Writes one line: some units of a product, by its key. */
type Write = (head: Head, line: string, product: string, quantity: number) => Promise<void> | undefined

/** Orders and returns as transactions. The data ties neither to a store, so they are the web's. */
export async function sales(folders: Folders, items: ReadonlyMap<string, Item>) {
  const columns = [
    ...(['id', 'number', 'orderNumber', 'channel', 'type', 'saleDate', 'customerId', 'lineId', 'sequence'] as const),
    ...(['sku', 'productCode', 'productName', 'colourName', 'sizeCode', 'quantity', 'price', 'value'] as const),
  ]
  const name = 'transactions-adventureworks.csv'
  const feed = openFile<Static<typeof TransactionRow>>(folders, name, 'transactions', columns)
  const write: Write = ({ date, customer, ...numbers }, line, product, quantity) => {
    const item = items.get(product)
    if (!item) throw new Error(`${numbers.number} is of a product that is not there: ${product}`)
    const value = timesPrice(item.price, quantity)
    return feed.write(
      {
        ...numbers,
        channel: 'web',
        type: 'sale',
        saleDate: `${date} 00:00:00`,
        customerId: `AW-${customer}`,
        lineId: line,
        sequence: Number(line),
        ...item,
        quantity,
        value,
      },
      { quantity, value: parseAmount(value, 2) },
    )
  }
  const { sold, ...ordered } = await orders(folders, write)
  const returned = await returns(folders, sold, write)
  return {
    files: [await feed.close()],
    transactions: ordered.orders + returned.returnTransactions,
    counted: { ...ordered, ...returned },
  }
}

/** Sold lines by territory and product, in order of time. */
type Sales = Map<string, Sold[]>

async function orders(folders: Folders, write: Write) {
  const sold: Sales = new Map()
  const orderIds = new Set<string>()
  const buyers = new Set<string>()
  const productIds = new Set<string>()
  let unitsSold = 0
  const columns = [
    ...(['OrderDate', 'OrderNumber', 'ProductKey', 'CustomerKey', 'TerritoryKey'] as const),
    ...(['OrderLineItem', 'OrderQuantity'] as const),
  ]
  for await (const row of readSource(folders, 'adventureworks/sales.csv', columns)) {
    const { OrderDate: date, OrderNumber: order, CustomerKey: customer, ProductKey: product } = row
    const quantity = Number(row.OrderQuantity)
    const head = { id: `AW-${order}`, number: order, orderNumber: order, date, customer }
    await write(head, row.OrderLineItem, product, quantity)
    const key = `${row.TerritoryKey} ${product}`
    const lines = sold.get(key) ?? []
    lines.push({ date, order, customer, remaining: quantity })
    sold.set(key, lines)
    orderIds.add(order)
    buyers.add(customer)
    productIds.add(product)
    unitsSold += quantity
  }
  return { sold, orders: orderIds.size, buyers: buyers.size, productsSold: productIds.size, unitsSold }
}

async function returns(folders: Folders, sold: Sales, write: Write) {
  const counted = {
    returns: 0,
    unitsReturned: 0,
    returnsOfTheSameDay: 0,
    returnsSpreadOverOrders: 0,
    returnTransactions: 0,
    unitsWithoutSale: 0,
  }
  const columns = ['ReturnDate', 'TerritoryKey', 'ProductKey', 'ReturnQuantity'] as const
  for await (const row of readSource(folders, 'adventureworks/returns.csv', columns)) {
    const { ReturnDate: date, ProductKey: product } = row
    const quantity = Number(row.ReturnQuantity)
    const first = `R${String(++counted.returns).padStart(5, '0')}`
    counted.unitsReturned += quantity
    const parts = assign(sold.get(`${row.TerritoryKey} ${product}`) ?? [], date, quantity)
    if (parts.length > 1) counted.returnsSpreadOverOrders++
    if (parts[0]?.line.date === date) counted.returnsOfTheSameDay++
    counted.unitsWithoutSale += parts.reduce((remaining, part) => remaining - part.units, quantity)
    for (const [at, { line, units }] of parts.entries()) {
      const number = at ? `${first}-${at + 1}` : first
      const head = { id: `AW-${number}`, number, orderNumber: line.order, date, customer: line.customer }
      await write(head, '1', product, -units)
      counted.returnTransactions++
    }
  }
  return counted
}

/**
 * Finds the sold lines that a return belongs to, and reduces their remaining units: the newest line of that day or earlier with enough units.
 * If no line has enough, the newest lines until the units are used up. `lines` are in order of time.
 */
function assign(lines: readonly Sold[], date: string, quantity: number): { line: Sold; units: number }[] {
  const before = lines.filter(line => line.date <= date && line.remaining > 0)
  const whole = before.findLast(line => line.remaining >= quantity)
  const parts = []
  let missing = quantity
  for (const line of whole ? [whole] : before.reverse()) {
    if (missing === 0) break
    const units = Math.min(line.remaining, missing)
    line.remaining -= units
    missing -= units
    parts.push({ line, units })
  }
  return parts
}
