import type { Static } from 'typebox'
import type { ProductRow, SkuMappingRow } from '../../../src/domain/catalog/products.ts'
import type { TransactionRow } from '../../../src/domain/orders/transactions.ts'
import { parseAmount } from '../../../src/domain/values/money.ts'
import { multiplyPrice, roundPrice } from './accounts.ts'
import { type Folders, openFile, readSource } from './csv.ts'

/** The product fields of a transaction line. */
type Item = Pick<
  Static<typeof TransactionRow>,
  'sku' | 'productCode' | 'productName' | 'colourName' | 'sizeCode' | 'price'
>

/** Converts the products. A model has colours and sizes. SKUs are in the mapping file. Prices are rounded to two decimals. */
export async function convertProducts(folders: Folders) {
  const file = openFile<Static<typeof ProductRow>>(folders, 'products-adventureworks.csv', 'products', [
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
    if ((models.get(productId) ?? row.ModelName) !== row.ModelName)
      throw new Error(`two models have the ID ${productId}`)
    models.set(productId, row.ModelName)
    const colour = row.ProductColor === 'NA' ? '' : row.ProductColor
    const sizeCode = row.ProductSize === '0' ? 'OS' : row.ProductSize
    const price = roundPrice(row.ProductPrice)
    if (parseAmount(row.ProductPrice, 2) === undefined) pricesRounded++
    const skuId = `AW-${row.ProductKey}`
    await file.write(
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
    files: [await file.close(), await mapping.close()],
    items,
    skus,
    models: models.size,
    counts: { models: models.size, pricesRounded },
  }
}

/** A sold line, with its units that were not returned yet. */
interface SoldLine {
  date: string
  order: string
  customer: string
  remaining: number
}

/** The fields that are the same in all lines of a transaction. */
interface TransactionHead {
  id: string
  number: string
  orderNumber: string
  date: string
  customer: string
}

/** Writes one transaction line with a product's key and a quantity. */
type WriteLine = (head: TransactionHead, line: string, product: string, quantity: number) => Promise<void> | undefined

/** Converts orders and returns to transactions. The data has no store for them, so their channel is `web`. */
export async function convertSales(folders: Folders, items: ReadonlyMap<string, Item>) {
  const columns = [
    ...(['id', 'number', 'orderNumber', 'channel', 'type', 'saleDate', 'customerId', 'lineId', 'sequence'] as const),
    ...(['sku', 'productCode', 'productName', 'colourName', 'sizeCode', 'quantity', 'price', 'value'] as const),
  ]
  const name = 'transactions-adventureworks.csv'
  const file = openFile<Static<typeof TransactionRow>>(folders, name, 'transactions', columns)
  const write: WriteLine = ({ date, customer, ...numbers }, line, product, quantity) => {
    const item = items.get(product)
    if (!item) throw new Error(`${numbers.number} has an unknown product: ${product}`)
    const value = multiplyPrice(item.price, quantity)
    return file.write(
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
  const { soldLines, ...orderResult } = await convertOrders(folders, write)
  const returnCounts = await convertReturns(folders, soldLines, write)
  return {
    files: [await file.close()],
    transactions: orderResult.orders + returnCounts.returnTransactions,
    counts: { ...orderResult, ...returnCounts },
  }
}

/** Sold lines by territory and product, oldest first. */
type SoldLines = Map<string, SoldLine[]>

async function convertOrders(folders: Folders, write: WriteLine) {
  const soldLines: SoldLines = new Map()
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
    const lines = soldLines.get(key) ?? []
    lines.push({ date, order, customer, remaining: quantity })
    soldLines.set(key, lines)
    orderIds.add(order)
    buyers.add(customer)
    productIds.add(product)
    unitsSold += quantity
  }
  return { soldLines, orders: orderIds.size, buyers: buyers.size, productsSold: productIds.size, unitsSold }
}

async function convertReturns(folders: Folders, soldLines: SoldLines, write: WriteLine) {
  const counts = {
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
    const first = `R${String(++counts.returns).padStart(5, '0')}`
    counts.unitsReturned += quantity
    const parts = assignToLines(soldLines.get(`${row.TerritoryKey} ${product}`) ?? [], date, quantity)
    if (parts.length > 1) counts.returnsSpreadOverOrders++
    if (parts[0]?.line.date === date) counts.returnsOfTheSameDay++
    counts.unitsWithoutSale += parts.reduce((remaining, part) => remaining - part.units, quantity)
    for (const [at, { line, units }] of parts.entries()) {
      const number = at ? `${first}-${at + 1}` : first
      const head = { id: `AW-${number}`, number, orderNumber: line.order, date, customer: line.customer }
      await write(head, '1', product, -units)
      counts.returnTransactions++
    }
  }
  return counts
}

/**
 * Assigns a return to sold lines and reduces their remaining units. Prefers the newest line up to that date that has
 * enough units. If no line has enough, takes the newest lines until the units are used up. `lines` must be oldest first.
 */
function assignToLines(
  lines: readonly SoldLine[],
  date: string,
  quantity: number,
): { line: SoldLine; units: number }[] {
  const before = lines.filter(line => line.date <= date && line.remaining > 0)
  const sufficient = before.findLast(line => line.remaining >= quantity)
  const parts = []
  let missing = quantity
  for (const line of sufficient ? [sufficient] : before.reverse()) {
    if (missing === 0) break
    const units = Math.min(line.remaining, missing)
    line.remaining -= units
    missing -= units
    parts.push({ line, units })
  }
  return parts
}
