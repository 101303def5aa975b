import type { Kind } from './accounts.ts'
import { money, type Said } from './tally.ts'

/** A line of a feed file by the names of its columns. */
export type Line = Readonly<Record<string, string | undefined>>

const text = (line: Line, column: string) => {
  const cell = line[column]
  return cell === undefined || cell.trim() === '' ? null : cell
}

const columns =
  (...names: string[]) =>
  (line: Line): Said => ({ cells: names.map(name => text(line, name)) })

/** The comparable cells of a line, by import type. `records.ts` extracts the same from responses. */
export const saidBy: Record<Kind, (line: Line) => Said> = {
  references: columns('type', 'referenceValueId', 'name'),
  stores: columns(
    ...['storeId', 'storeNumber', 'name', 'addressLine1', 'addressLine2', 'city', 'state', 'postcode', 'country'],
    'inventoryBuffer',
  ),
  'store-mapping': columns('storeId', 'ecommerceLocationId'),
  staff: columns('id', 'code', 'surname', 'email', 'active'),
  products: line => ({
    cells: [
      ...['productId', 'productCode', 'name', 'description'].map(name => text(line, name)),
      references(line),
      ...['colourId', 'colourName', 'skuId'].map(name => text(line, name)),
      ...['sku', 'sizeCode', 'sequence'].map(name => text(line, name)),
      money(line.price ?? ''),
    ],
    value: line.price ?? '',
  }),
  'sku-mapping': columns('skuId', 'ecommerceSku'),
  stock: line => ({
    cells: ['storeNumber', 'sku', 'freeStock', 'buffer'].map(name => text(line, name)),
    quantity: Number(line.freeStock),
  }),
  customers: line => ({
    cells: [
      ...['id', 'code', 'title', 'firstname', 'surname', 'dateOfBirth', 'email', 'country'].map(name =>
        text(line, name),
      ),
      references(line),
    ],
  }),
  'customer-mapping': columns('customerId', 'ecommerceAdminId', 'ecommerceLegacyId'),
  transactions: line => ({
    cells: [
      ...['id', 'number', 'orderNumber', 'channel', 'type', 'saleDate', 'customerId', 'lineId', 'sequence', 'sku'].map(
        name => text(line, name),
      ),
      ...['productCode', 'productName', 'colourName', 'sizeCode', 'quantity'].map(name => text(line, name)),
      money(line.price ?? ''),
      money(line.value ?? ''),
    ],
    quantity: Number(line.quantity),
    value: line.value ?? '',
  }),
}

/** The reference values of a line, in the order of their types. */
const references = (line: Line) => (line.references ?? '').split(';').filter(Boolean).sort().join(';')
