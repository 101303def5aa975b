import type { ImportType } from '../pipeline/import-type.ts'
import { importTypes } from '../pipeline/import-types.ts'
import { RowError } from '../pipeline/row-error.ts'

/** A record as a list of the API tells it, and as `tillbridge export` writes it. */
export type Told = Record<string, unknown>

/**
 * The rows of our columns that a record is, or why it cannot be any; undefined for what is no such record. Fields that follow from
 * others are left away; those that nobody knows stay, and are rejected by name.
 */
export type RowsOf = (record: Told, currency: string) => Told[] | RowError | undefined

const isObject = (value: unknown): value is Told => typeof value === 'object' && value !== null && !Array.isArray(value)
const objectsIn = (value: unknown): Told[] => (Array.isArray(value) ? value.filter(isObject) : [])
const pairsOf = (references: unknown) =>
  isObject(references)
    ? Object.entries(references)
        .map(([type, value]) => `${type}=${isObject(value) ? value.referenceValueId : ''}`)
        .join(';')
    : undefined

const storeRows: RowsOf = ({ address, ...store }) => (isObject(address) ? [{ ...store, ...address }] : undefined)

const customerRows: RowsOf = ({ contact, address, references, joinedStoreCode: _, ...customer }) => {
  if (!isObject(contact) || !isObject(address)) return
  const { phones, ...others } = contact
  const { home: phoneHome, mobile: phoneMobile, work: phoneWork } = isObject(phones) ? phones : {}
  return [{ ...customer, ...others, phoneHome, phoneMobile, phoneWork, ...address, references: pairsOf(references) }]
}

const productRows: RowsOf = ({ id, colours, currency, references, ...product }, ours) => {
  if (!Array.isArray(colours)) return
  if (currency !== ours) return otherCurrency(currency, ours)
  const shared = { productId: id, ...product, references: pairsOf(references) }
  const rows = objectsIn(colours).flatMap(({ id: colourId, code: colourCode, name: colourName, sizes, ...colour }) =>
    objectsIn(sizes).map(({ ecommerceSku: sku, ...size }) => ({
      ...shared,
      colourId,
      colourCode,
      colourName,
      ...colour,
      ...size,
      sku,
    })),
  )
  return rows.length ? rows : new RowError('The product has no colour in any size: it has no row.')
}

/** The buffer that is in force becomes that of the SKU in the store. */
const stockRows: RowsOf = record => {
  if (!('sellable' in record)) return
  const { id: _, storeId: __, storeName: ___, ecommerceLocationId: ____, sellable: _____, ...stock } = record
  return [stock]
}

const transactionRows: RowsOf = ({ lines, currency, total: _, storeName: __, ...header }, ours) => {
  if (!Array.isArray(lines)) return
  if (currency !== ours) return otherCurrency(currency, ours)
  const all = objectsIn(lines)
  if (!all.length) return new RowError('The transaction has no line: it has no row.')
  if (all.some(({ discounts }) => objectsIn(discounts).length > 1))
    return new RowError('A line of the transaction has several discounts, of which a row can tell one.')
  return all.map(({ id: lineId, discounts, ...line }) => {
    const { type = null, reason = null, amount = null, percentage = null } = objectsIn(discounts)[0] ?? {}
    const discount = {
      discountType: type,
      discountReason: reason,
      discountAmount: amount,
      discountPercentage: percentage,
    }
    return { ...header, lineId, ...line, ...discount }
  })
}

const without =
  (...derived: string[]): RowsOf =>
  record =>
    derived.some(name => name in record)
      ? [Object.fromEntries(Object.entries(record).filter(([name]) => !derived.includes(name)))]
      : undefined

const storeMappingRows = without('storeNumber', 'name')
const skuMappingRows = without('productId', 'productCode', 'colourCode', 'sizeCode', 'ecommerceProductId')
const customerMappingRows = without('email')

const otherCurrency = (theirs: unknown, ours: string) =>
  new RowError(`is in another currency than the service, ${ours}`, 'currency', theirs)

/** What lines of whole lists are, of the kinds that `tillbridge export` writes. */
export const rowsOfRecords: ReadonlyMap<ImportType, RowsOf> = new Map<ImportType, RowsOf>([
  [importTypes.stores, storeRows],
  [importTypes.customers, customerRows],
  [importTypes.products, productRows],
  [importTypes.stock, stockRows],
  [importTypes.transactions, transactionRows],
  [importTypes['store-mapping'], storeMappingRows],
  [importTypes['sku-mapping'], skuMappingRows],
  [importTypes['customer-mapping'], customerMappingRows],
])
