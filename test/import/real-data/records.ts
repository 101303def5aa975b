import type { Static } from 'typebox'
import type { Product } from '../../../src/domain/catalog/products.ts'
import type { Reference } from '../../../src/domain/catalog/references.ts'
import type { StaffMember } from '../../../src/domain/catalog/staff.ts'
import type { Store } from '../../../src/domain/catalog/stores.ts'
import type { Customer } from '../../../src/domain/customers/customers.ts'
import type { StockLevel } from '../../../src/domain/inventory/stock-level.ts'
import type { RetailTransaction } from '../../../src/domain/orders/transactions.ts'
import type { Kind } from './accounts.ts'
import { money, type Said } from './tally.ts'

/** The part of a record that one line of a feed has said. */
export interface Part extends Said {
  kind: Kind
}

/** The reference values, and the buffers of stores by their numbers, from the lists read before. */
export interface Seen {
  references: Set<string>
  buffers: Map<string, number>
}

/** A list of the API: its path, what names a record, and the lines of the feeds that a record is made of. */
export interface List {
  path: string
  key(record: never): string
  parts(record: never, seen: Seen): Iterable<Part>
}

const list = <Item>(
  path: string,
  key: (record: Item) => string,
  parts: (record: Item, seen: Seen) => Iterable<Part>,
): List => ({ path, key, parts })

/** The lists that show all that the feeds have said. */
export const lists: readonly List[] = [
  list<Store>('/stores', store => store.storeId, storeParts),
  list<StaffMember>('/staff', person => person.id, staffParts),
  list<Product>('/products', product => product.id, productParts),
  list<StockLevel>('/inventory', level => level.id, stockParts),
  list<Customer>('/customers/search', customer => customer.id, customerParts),
  list<RetailTransaction>('/orders/transactions/search', transaction => transaction.id, transactionParts),
]

function* storeParts({ address, ...store }: Store, { buffers }: Seen): Iterable<Part> {
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

function* staffParts({ id, code, surname, email, active }: StaffMember): Iterable<Part> {
  yield { kind: 'staff', cells: [id, code, surname, email, active] }
}

function* productParts(product: Product, seen: Seen): Iterable<Part> {
  const { id, productCode, name, description, references } = product
  yield* referenceParts(references, seen)
  for (const colour of product.colours)
    for (const { skuId, sizeCode, sequence, price, ecommerceSku } of colour.sizes) {
      const head = [id, productCode, name, description, valuesOf(references), colour.id, colour.name]
      // The SKUs of this source come by the mapping file alone.
      const mapped = skuId.startsWith('AW-')
      const size = [skuId, mapped ? null : ecommerceSku, sizeCode, sequence, money(price)]
      yield { kind: 'products', cells: [...head, ...size], value: price }
      if (mapped) yield { kind: 'sku-mapping', cells: [skuId, ecommerceSku] }
    }
}

function* stockParts({ storeNumber, sku, freeStock, buffer }: StockLevel, { buffers }: Seen): Iterable<Part> {
  const own = buffer === (buffers.get(storeNumber) ?? 0) ? null : buffer
  yield { kind: 'stock', cells: [storeNumber, sku, freeStock, own], quantity: freeStock }
}

function* customerParts(customer: Customer, seen: Seen): Iterable<Part> {
  const { id, code, title, firstname, surname, dateOfBirth, contact, address, references } = customer
  yield* referenceParts(references, seen)
  const person = [id, code, title, firstname, surname, dateOfBirth, contact.email, address.country]
  yield { kind: 'customers', cells: [...person, valuesOf(references)] }
  const { ecommerceAdminId, ecommerceLegacyId } = customer
  if (ecommerceAdminId) yield { kind: 'customer-mapping', cells: [id, ecommerceAdminId, ecommerceLegacyId] }
}

function* transactionParts(transaction: RetailTransaction): Iterable<Part> {
  const { id, number, orderNumber, channel, type, saleDate, customerId } = transaction
  for (const line of transaction.lines) {
    const { sku, productCode, productName, colourName, sizeCode, quantity, price, value } = line
    const head = [id, number, orderNumber, channel, type, saleDate, customerId, line.id, line.sequence]
    const item = [sku, productCode, productName, colourName, sizeCode, quantity, money(price), money(value)]
    yield { kind: 'transactions', cells: [...head, ...item], quantity, value }
  }
}

/** Each reference value once, however many records show it. */
function* referenceParts(references: Product['references'], seen: Seen): Iterable<Part> {
  for (const [type, { referenceValueId, name }] of entries(references)) {
    if (seen.references.has(referenceValueId)) continue
    seen.references.add(referenceValueId)
    yield { kind: 'references', cells: [type, referenceValueId, name] }
  }
}

const valuesOf = (references: Product['references']) =>
  entries(references)
    .map(([type, { referenceValueId }]) => `${type}=${referenceValueId}`)
    .sort()
    .join(';')

const entries = (references: Product['references']) =>
  Object.entries(references as Record<string, Static<typeof Reference>>)
