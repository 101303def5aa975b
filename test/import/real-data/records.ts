import type { Static } from 'typebox'
import type { Product } from '../../../src/domain/catalog/products.ts'
import type { Reference } from '../../../src/domain/catalog/references.ts'
import type { StaffMember } from '../../../src/domain/catalog/staff.ts'
import type { Store } from '../../../src/domain/catalog/stores.ts'
import type { Customer } from '../../../src/domain/customers/customers.ts'
import type { StockLevel } from '../../../src/domain/inventory/stock-level.ts'
import type { RetailTransaction } from '../../../src/domain/orders/transactions.ts'
import type { RealDataType } from './accounts.ts'
import { type Comparable, normalizeAmount } from './tally.ts'

/** The part of a record that came from one import line. */
export interface ComparablePart extends Comparable {
  kind: RealDataType
}

/** Reference values, and store buffers by store number, from lists that were read earlier. */
export interface EarlierLists {
  references: Set<string>
  buffers: Map<string, number>
}

/** A list of the API, with functions that return a record's key and split it into its import lines. */
export interface List {
  path: string
  getKey(record: never): string
  toParts(record: never, earlierLists: EarlierLists): Iterable<ComparablePart>
}

const defineList = <Item>(
  path: string,
  getKey: (record: Item) => string,
  toParts: (record: Item, earlierLists: EarlierLists) => Iterable<ComparablePart>,
): List => ({ path, getKey, toParts })

/** The lists that together show all imported data. */
export const lists: readonly List[] = [
  defineList<Store>('/stores', store => store.storeId, toStoreParts),
  defineList<StaffMember>('/staff', person => person.id, toStaffParts),
  defineList<Product>('/products', product => product.id, toProductParts),
  defineList<StockLevel>('/inventory', level => level.id, toStockParts),
  defineList<Customer>('/customers/search', customer => customer.id, toCustomerParts),
  defineList<RetailTransaction>('/orders/transactions/search', transaction => transaction.id, toTransactionParts),
]

function* toStoreParts({ address, ...store }: Store, { buffers }: EarlierLists): Iterable<ComparablePart> {
  const { addressLine1, addressLine2, city, state, postcode, country } = address
  const { storeId, storeNumber, name, inventoryBuffer, ecommerceLocationId } = store
  const cells = [
    storeId,
    storeNumber,
    name,
    addressLine1,
    addressLine2,
    city,
    state,
    postcode,
    country,
    inventoryBuffer,
  ]
  if (inventoryBuffer !== null) buffers.set(storeNumber, inventoryBuffer)
  yield { kind: 'stores', cells }
  if (ecommerceLocationId !== null) yield { kind: 'store-mapping', cells: [storeId, ecommerceLocationId] }
}

function* toStaffParts({ id, code, surname, email, active }: StaffMember): Iterable<ComparablePart> {
  yield { kind: 'staff', cells: [id, code, surname, email, active] }
}

function* toProductParts(product: Product, earlierLists: EarlierLists): Iterable<ComparablePart> {
  const { id, productCode, name, description, references } = product
  yield* toReferenceParts(references, earlierLists)
  for (const colour of product.colours)
    for (const { skuId, sizeCode, sequence, price, ecommerceSku } of colour.sizes) {
      const head = [id, productCode, name, description, formatReferences(references), colour.id, colour.name]
      // The SKUs of this source are only in the mapping file.
      const mapped = skuId.startsWith('AW-')
      const size = [skuId, mapped ? null : ecommerceSku, sizeCode, sequence, normalizeAmount(price)]
      yield { kind: 'products', cells: [...head, ...size], value: price }
      if (mapped) yield { kind: 'sku-mapping', cells: [skuId, ecommerceSku] }
    }
}

function* toStockParts(
  { storeNumber, sku, freeStock, buffer }: StockLevel,
  { buffers }: EarlierLists,
): Iterable<ComparablePart> {
  const ownBuffer = buffer === (buffers.get(storeNumber) ?? 0) ? null : buffer
  yield { kind: 'stock', cells: [storeNumber, sku, freeStock, ownBuffer], quantity: freeStock }
}

function* toCustomerParts(customer: Customer, earlierLists: EarlierLists): Iterable<ComparablePart> {
  const { id, code, title, firstname, surname, dateOfBirth, contact, address, references } = customer
  yield* toReferenceParts(references, earlierLists)
  const person = [id, code, title, firstname, surname, dateOfBirth, contact.email, address.country]
  yield { kind: 'customers', cells: [...person, formatReferences(references)] }
  const { ecommerceAdminId, ecommerceLegacyId } = customer
  if (ecommerceAdminId) yield { kind: 'customer-mapping', cells: [id, ecommerceAdminId, ecommerceLegacyId] }
}

function* toTransactionParts(transaction: RetailTransaction): Iterable<ComparablePart> {
  const { id, number, orderNumber, channel, type, saleDate, customerId } = transaction
  for (const line of transaction.lines) {
    const { sku, productCode, productName, colourName, sizeCode, quantity, price, value } = line
    const head = [id, number, orderNumber, channel, type, saleDate, customerId, line.id, line.sequence]
    const item = [
      sku,
      productCode,
      productName,
      colourName,
      sizeCode,
      quantity,
      normalizeAmount(price),
      normalizeAmount(value),
    ]
    yield { kind: 'transactions', cells: [...head, ...item], quantity, value }
  }
}

/** Yields each reference value only the first time that a record shows it. */
function* toReferenceParts(references: Product['references'], earlierLists: EarlierLists): Iterable<ComparablePart> {
  for (const [type, { referenceValueId, name }] of getEntries(references)) {
    if (earlierLists.references.has(referenceValueId)) continue
    earlierLists.references.add(referenceValueId)
    yield { kind: 'references', cells: [type, referenceValueId, name] }
  }
}

const formatReferences = (references: Product['references']) =>
  getEntries(references)
    .map(([type, { referenceValueId }]) => `${type}=${referenceValueId}`)
    .sort()
    .join(';')

const getEntries = (references: Product['references']) =>
  Object.entries(references as Record<string, Static<typeof Reference>>)
