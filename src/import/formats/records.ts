import { formatAmount, getDecimals, parseAmount } from '../../domain/values/money.ts'
import type { ImportType } from '../pipeline/import-type.ts'
import { importTypes } from '../pipeline/import-types.ts'
import { RowError } from '../pipeline/row-error.ts'

/** A record of a list of the API, as `tillbridge export` writes it. */
export type ApiRecord = Record<string, unknown>

/**
 * Converts a record to rows. Returns a `RowError` if that is impossible, and undefined if the object is not such a record. Derived fields
 * are dropped. Unknown fields stay, and are rejected by name.
 */
export type ToRows = (record: ApiRecord, currency: string) => ApiRecord[] | RowError | undefined

const isObject = (value: unknown): value is ApiRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const filterObjects = (value: unknown): ApiRecord[] => (Array.isArray(value) ? value.filter(isObject) : [])
const toStoreRows: ToRows = ({ address, ...store }) => (isObject(address) ? [{ ...store, ...address }] : undefined)

const toCustomerRows: ToRows = ({ contact, address, joinedStoreCode: _, ...customer }) => {
  if (!isObject(contact) || !isObject(address)) return
  const { phones, ...contactFields } = contact
  const { home: phoneHome, mobile: phoneMobile, work: phoneWork } = isObject(phones) ? phones : {}
  return [
    {
      ...customer,
      ...contactFields,
      phoneHome,
      phoneMobile,
      phoneWork,
      ...address,
    },
  ]
}

const toProductRows: ToRows = ({ id, colours, currency, ...product }, serviceCurrency) => {
  if (!Array.isArray(colours)) return
  if (currency !== serviceCurrency) return createCurrencyError(currency, serviceCurrency)
  const shared = { productId: id, ...product }
  const rows = filterObjects(colours).flatMap(
    ({ id: colourId, code: colourCode, name: colourName, sizes, ...colour }) =>
      filterObjects(sizes).map(({ ecommerceSku: sku, priceChanges: _, ...size }) => ({
        ...shared,
        colourId,
        colourCode,
        colourName,
        ...colour,
        ...size,
        sku,
      })),
  )
  return rows.length ? rows : new RowError('The product must have at least one size.')
}

/** The effective buffer becomes the buffer of the SKU in the store. */
const toStockRows: ToRows = record => {
  if (!('sellable' in record)) return
  const { storeNumber, sku, skuId, freeStock, buffer, updateTimeStamp, ...otherFields } = record
  const unknown = Object.entries(otherFields).filter(([name]) => !derivedStockFields.has(name))
  return [{ storeNumber, sku, skuId, freeStock, buffer, updateTimeStamp, ...Object.fromEntries(unknown) }]
}
const derivedStockFields = new Set([
  ...['id', 'storeId', 'storeName', 'ecommerceLocationId', 'sellable', 'reserved', 'allocated'],
])

const toTransactionRows: ToRows = (
  { lines, currency, total: _, storeName: __, taxLines, ...transaction },
  serviceCurrency,
) => {
  if (!Array.isArray(lines)) return
  const header = { ...transaction, ...toTaxColumns(filterObjects(taxLines), serviceCurrency) }
  if (currency !== serviceCurrency) return createCurrencyError(currency, serviceCurrency)
  const all = filterObjects(lines)
  if (!all.length) return new RowError('The transaction must have at least one line.')
  if (all.some(({ discounts }) => filterObjects(discounts).length > 1))
    return new RowError('A line of the transaction can have at most one discount.')
  return all.map(({ id: lineId, discounts, ...line }) => {
    const { type = null, reason = null, amount = null, percentage = null } = filterObjects(discounts)[0] ?? {}
    const discount = {
      discountType: type,
      discountReason: reason,
      discountAmount: amount,
      discountPercentage: percentage,
    }
    return { ...header, lineId, ...line, ...discount }
  })
}

/** Combines taxes into one amount and name. Taxes that are already stored are kept if they have the same sum. */
function toTaxColumns(taxLines: ApiRecord[], currency: string) {
  if (!taxLines.length) return {}
  const decimals = getDecimals(currency)
  const amounts = taxLines.map(({ amount }) => parseAmount(String(amount), decimals) ?? 0n)
  const tax = formatAmount(
    amounts.reduce((sum, amount) => sum + amount, 0n),
    decimals,
  )
  return {
    tax,
    taxName: taxLines
      .map(({ name }) => name)
      .join(' + ')
      .slice(0, 100),
  }
}

const withoutFields =
  (...derived: string[]): ToRows =>
  record =>
    derived.some(name => name in record)
      ? [Object.fromEntries(Object.entries(record).filter(([name]) => !derived.includes(name)))]
      : undefined

const toStoreMappingRows = withoutFields('storeNumber', 'name')
const toSkuMappingRows = withoutFields('productId', 'productCode', 'colourCode', 'sizeCode', 'ecommerceProductId')
const toCustomerMappingRows = withoutFields('email')

const createCurrencyError = (currency: unknown, serviceCurrency: string) =>
  new RowError(`must be ${serviceCurrency}, the currency of the service`, 'currency', currency)

/** The import types that accept records of `tillbridge export`. */
export const recordConverters: ReadonlyMap<ImportType, ToRows> = new Map<ImportType, ToRows>([
  [importTypes.stores, toStoreRows],
  [importTypes.customers, toCustomerRows],
  [importTypes.products, toProductRows],
  [importTypes.stock, toStockRows],
  [importTypes.transactions, toTransactionRows],
  [importTypes['store-mapping'], toStoreMappingRows],
  [importTypes['sku-mapping'], toSkuMappingRows],
  [importTypes['customer-mapping'], toCustomerMappingRows],
])
