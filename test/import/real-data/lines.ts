import type { RealDataType } from './accounts.ts'
import { type Comparable, normalizeAmount } from './tally.ts'

/** A line of an import file: cells by column name. */
export type Line = Readonly<Record<string, string | undefined>>

const readCell = (line: Line, column: string) => {
  const cell = line[column]
  return cell === undefined || cell.trim() === '' ? null : cell
}

const pickColumns =
  (...names: string[]) =>
  (line: Line): Comparable => ({ cells: names.map(name => readCell(line, name)) })

/** The comparable cells of a line, by import type. `records.ts` extracts the same from responses. */
export const comparableByType: Record<RealDataType, (line: Line) => Comparable> = {
  references: pickColumns('type', 'referenceValueId', 'name'),
  stores: pickColumns(
    ...['storeId', 'storeNumber', 'name', 'addressLine1', 'addressLine2', 'city', 'state', 'postcode', 'country'],
    'inventoryBuffer',
  ),
  'store-mapping': pickColumns('storeId', 'ecommerceLocationId'),
  staff: pickColumns('id', 'code', 'surname', 'email', 'active'),
  products: line => ({
    cells: [
      ...['productId', 'productCode', 'name', 'description'].map(name => readCell(line, name)),
      sortReferences(line),
      ...['colourId', 'colourName', 'skuId'].map(name => readCell(line, name)),
      ...['sku', 'sizeCode', 'sequence'].map(name => readCell(line, name)),
      normalizeAmount(line.price ?? ''),
    ],
    value: line.price ?? '',
  }),
  'sku-mapping': pickColumns('skuId', 'ecommerceSku'),
  stock: line => ({
    cells: ['storeNumber', 'sku', 'freeStock', 'buffer'].map(name => readCell(line, name)),
    quantity: Number(line.freeStock),
  }),
  customers: line => ({
    cells: [
      ...['id', 'code', 'title', 'firstname', 'surname', 'dateOfBirth', 'email', 'country'].map(name =>
        readCell(line, name),
      ),
      sortReferences(line),
    ],
  }),
  'customer-mapping': pickColumns('customerId', 'ecommerceAdminId', 'ecommerceLegacyId'),
  transactions: line => ({
    cells: [
      ...['id', 'number', 'orderNumber', 'channel', 'type', 'saleDate', 'customerId', 'lineId', 'sequence', 'sku'].map(
        name => readCell(line, name),
      ),
      ...['productCode', 'productName', 'colourName', 'sizeCode', 'quantity'].map(name => readCell(line, name)),
      normalizeAmount(line.price ?? ''),
      normalizeAmount(line.value ?? ''),
    ],
    quantity: Number(line.quantity),
    value: line.value ?? '',
  }),
}

/** Sorts the reference values of a line by their types. */
const sortReferences = (line: Line) => (line.references ?? '').split(';').filter(Boolean).sort().join(';')
