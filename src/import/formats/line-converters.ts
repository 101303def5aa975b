import { formatAmount, parseAmount } from '../../domain/values/money.ts'

/**
 * Converts lines of exports that are not one record each, or whose values are spread over columns.
 * A converter adds our columns to the columns of the file, so the lines can still be mapped, rejected and corrected like any others.
 */

type Cells = readonly string[]

/** Returns a function that reads the cell of the first of these columns that the file has. Empty if it has none. */
type FindColumn = (...names: string[]) => (cells: Cells) => string

interface LineConverter {
  /** Our columns that are added to the file's. */
  columns: readonly string[]
  /** Creates the function that converts the lines of one file: returns the added cells, or the reason why the line is no record. */
  open(column: FindColumn): (cells: Cells) => string[] | { skipReason: string }
}

const colourOptions = new Set([
  'color',
  'colour',
  'farbe',
  'couleur',
  'colore',
  'kleur',
  'cor',
  'färg',
  'farve',
  'カラー',
])

/** The first line of a product has its title and the names of its options. Lines of further images have no price. */
const shopifyProducts: LineConverter = {
  columns: [
    ...['productId', 'productCode', 'name', 'description', 'colourId', 'colourCode', 'colourName'],
    ...['skuId', 'sizeCode', 'sequence', 'originalPrice', 'price', 'barcode'],
  ],
  open(column) {
    const [handle, title] = [column('Handle', 'URL handle'), column('Title')]
    const [body, sku] = [column('Body (HTML)', 'Description'), column('Variant SKU', 'SKU')]
    const [price, comparePrice] = [
      column('Variant Price', 'Price'),
      column('Variant Compare At Price', 'Compare-at price'),
    ]
    const barcode = column('Variant Barcode', 'Barcode')
    const options = [1, 2, 3].map(n => ({
      name: column(`Option${n} Name`, `Option${n} name`),
      value: column(`Option${n} Value`, `Option${n} value`),
    }))
    let product = { id: '', title: '', body: '', optionNames: [] as string[], sequence: 0 }
    return cells => {
      const id = handle(cells)
      if (id !== product.id)
        product = {
          id,
          title: title(cells) || id,
          body: body(cells),
          optionNames: options.map(({ name }) => name(cells)),
          sequence: 0,
        }
      if (!price(cells)) return { skipReason: 'line without a price, such as a further image: skipped' }
      const values = options.map(({ value }) => value(cells).replace(/^Default Title$/, ''))
      const colourAt = product.optionNames.findIndex(name => colourOptions.has(name.trim().toLowerCase()))
      const colour = values[colourAt] || '-'
      const size = values.filter((value, i) => value && i !== colourAt).join(' / ') || '-'
      const skuId = sku(cells) || [id, ...values.filter(Boolean)].join('-').replace(/[/\\]/g, '-')
      product.sequence++
      return [
        ...[id, id, product.title, product.body, `${id}-${colour}`, colour, colour],
        ...[skuId, size, String(product.sequence), comparePrice(cells) || price(cells), price(cells), barcode(cells)],
      ]
    }
  },
}

const lineStatuses: Readonly<Record<string, string>> = {
  fulfilled: 'shipped',
  partial: 'processing',
  pending: 'processing',
}
const unpaid = /^(?:pending|authorized|expired|partially_paid)$/

/** The first line of an order has its state. A cancelled or refunded order has the same line states as any other. */
const shopifyOrders: LineConverter = {
  columns: ['status', 'paymentAmount', 'orderRefunded'],
  open(column) {
    const [name, cancelledAt, financial] = [column('Name'), column('Cancelled at'), column('Financial Status')]
    const [total, refunded] = [column('Total'), column('Refunded Amount')]
    const lineStatus = column('Lineitem fulfillment status')
    let order = { name: '', status: '' }
    return cells => {
      const payment = financial(cells).trim().toLowerCase()
      if (name(cells) !== order.name) {
        const isCancelled = cancelledAt(cells).trim() !== '' || payment === 'voided'
        order = { name: name(cells), status: isCancelled ? 'cancelled' : payment === 'refunded' ? 'returned' : '' }
      }
      const ownStatus = lineStatus(cells).trim().toLowerCase()
      const isPartlyRefunded = payment === 'partially_refunded' && !order.status
      return [
        order.status || (lineStatuses[ownStatus] ?? ownStatus),
        unpaid.test(payment) ? '' : total(cells),
        isPartlyRefunded ? refunded(cells) : '',
      ]
    }
  },
}

const unfinishedSale = /^(?:voided|saved|parked|open|quote)$/i
const priceDecimals = 4

/** A line of type `Sale` has the totals, `Sale Line` an item, and `Payment` a payment. */
const lightspeedSales: LineConverter = {
  columns: [
    ...['id', 'number', 'lineId', 'saleDate', 'customerId', 'sku', 'productName'],
    ...['quantity', 'price', 'value', 'discountAmount', 'total'],
  ],
  open(column) {
    const [receipt, type, status, date] = [
      column('Receipt Number'),
      column('Line Type'),
      column('Status'),
      column('Date'),
    ]
    const [customer, details, sku] = [column('Customer Code'), column('Details'), column('Sku', 'SKU')]
    const [quantity, discount, lineTotal] = [column('Quantity'), column('Discount'), column('Total')]
    let sale = { id: '', status: '', total: '', lines: 0 }
    return cells => {
      const id = receipt(cells)
      const isSale = type(cells).trim().toLowerCase() === 'sale'
      if (isSale) sale = { id, status: status(cells), total: lineTotal(cells), lines: 0 }
      else if (id !== sale.id) sale = { id, status: '', total: '', lines: 0 }
      if (unfinishedSale.test((status(cells) || sale.status).trim()))
        return { skipReason: 'sale that is voided or not finished: skipped' }
      if (type(cells).trim().toLowerCase() !== 'sale line')
        return { skipReason: 'line with the totals or a payment of a sale: skipped' }
      sale.lines++
      const customerId = customer(cells).toUpperCase() === 'WALKIN' ? '' : customer(cells)
      const price = computePrice(lineTotal(cells), discount(cells), quantity(cells))
      return [
        ...[id, id, String(sale.lines), date(cells), customerId, sku(cells), details(cells)],
        ...[quantity(cells), price, lineTotal(cells), discount(cells), sale.total],
      ]
    }
  },
}

/** Returns the price of one unit before the discount. If a cell is not a number, returns the total, and the line is rejected. */
function computePrice(total: string, discount: string, quantity: string): string {
  const [paid, reduced] = [total, discount || '0'].map(text => parseAmount(text, priceDecimals))
  const thousandths = parseAmount(quantity, 3)
  if (paid === undefined || reduced === undefined || !thousandths) return total
  const gross = (paid + reduced) * 1_000n
  const half = (thousandths < 0n ? -thousandths : thousandths) / 2n
  return formatAmount((gross < 0n ? gross - half : gross + half) / thousandths, priceDecimals)
}

const lineConverters = {
  'shopify-orders': shopifyOrders,
  'shopify-products': shopifyProducts,
  'lightspeed-sales': lightspeedSales,
} as const

export type LineConverterName = keyof typeof lineConverters
export const lineConverterNames = Object.keys(lineConverters) as LineConverterName[]

/** Opens a converter for a file. Returns undefined if the file has its columns already, as a file of rejected lines does. */
export function openLineConverter(name: LineConverterName, header: readonly string[]) {
  const { columns, open } = lineConverters[name]
  const names = header.map(heading => heading.trim())
  if (columns.every(column => names.includes(column))) return
  const added = columns.filter(column => !names.includes(column))
  const convert = open((...candidates) => {
    const place = names.findIndex(heading => candidates.includes(heading))
    return cells => cells[place] ?? ''
  })
  return {
    columns: added,
    convert(cells: Cells) {
      const result = convert(cells)
      return Array.isArray(result) ? result.filter((_, i) => added.includes(columns[i] ?? '')) : result
    },
  }
}
