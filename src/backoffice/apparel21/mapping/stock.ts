import type { SyncStockRow } from '../../../domain/sync/port.ts'
import { convertRecords, InvalidRecord } from '../xml/invalid-record.ts'
import { normalizeText, parseFlooredInteger, parseLocalTime } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** Reads an attribute by its lowercase name. The case of attribute names differs between responses. */
const readAttribute = ({ attributes }: Xml, name: string) =>
  normalizeText(attributes[name] ?? attributes[Object.keys(attributes).find(key => key.toLowerCase() === name) ?? ''])

/** Reads free stock in complete units. */
function readFreeStock(element: Xml): number {
  const freeStock = parseFlooredInteger(readAttribute(element, 'freestock'))
  if (freeStock === null) throw new InvalidRecord('A free stock is not a number.')
  return freeStock
}

/** The valid stock of a record, and the reasons for the rejected parts. */
interface ParsedStock {
  rows: SyncStockRow[]
  rejected: string[]
}

/** Parses a `Freestock` response of a style, colour or SKU. Stores without stock are not in the response. */
export function parseFreeStock(element: Xml): ParsedStock {
  const item = readItem(element)
  const parsed: ParsedStock = { rows: [], rejected: [] }
  for (const child of element.children) {
    const name = child.name.toLowerCase()
    const parseNested = (inner: Xml) => {
      const { rows, rejected } = parseFreeStock(inner)
      parsed.rejected.push(...rejected)
      return rows.map(row => ({ ...item, ...row }))
    }
    const { rows, rejected } = convertRecords([child], stock =>
      name === 'store' ? [parseStoreStock(stock, item)] : name === 'clr' || name === 'sku' ? parseNested(stock) : [],
    )
    parsed.rows.push(...rows.flat())
    parsed.rejected.push(...rejected)
  }
  return parsed
}

function parseStoreStock(store: Xml, item: Omit<SyncStockRow, 'storeId' | 'freeStock'>): SyncStockRow {
  const storeId = readAttribute(store, 'storeid')
  if (!storeId) throw new InvalidRecord('A store with stock has no StoreId.')
  return { ...item, storeId, freeStock: readFreeStock(store) }
}

/** A location that has stock. A warehouse has no number. `StockChanged` and orders have neither name nor number. */
export interface BackOfficeLocation {
  storeId: string
  name?: string
  storeNumber?: string
}

/** Reads the locations of a `Freestock` response. */
export function readLocations(element: Xml): BackOfficeLocation[] {
  const locations = new Map<string, BackOfficeLocation>()
  const visit = (parent: Xml) => {
    for (const child of parent.children) {
      const storeId = child.name.toLowerCase() === 'store' ? readAttribute(child, 'storeid') : null
      const [name, storeNumber] = ['name', 'storenumber'].map(attribute => readAttribute(child, attribute))
      if (storeId) locations.set(storeId, { storeId, ...(name && { name }), ...(storeNumber && { storeNumber }) })
      visit(child)
    }
  }
  visit(element)
  return [...locations.values()]
}

/** Reads the identifiers of the item whose stock this is. */
function readItem(element: Xml): Omit<SyncStockRow, 'storeId' | 'freeStock'> {
  const [productId, colourId, skuId] = ['styleidx', 'clridx', 'skuidx'].map(name => readAttribute(element, name))
  if (!productId && !colourId && !skuId) throw new InvalidRecord('Stock has no identifier of a style, colour or SKU.')
  return { ...(productId && { productId }), ...(colourId && { colourId }), ...(skuId && { skuId }) }
}

/** Parses a `store` of `StockChanged`. Stock is absolute, and can be zero or negative. */
export function parseChangedStock(store: Xml): ParsedStock {
  const storeId = readAttribute(store, 'storeid')
  if (!storeId) throw new InvalidRecord('A store with changed stock has no storeid.')
  const skus = store.children.filter(child => child.name.toLowerCase() === 'sku')
  return convertRecords(skus, sku => {
    const skuId = readAttribute(sku, 'skuid')
    if (!skuId) throw new InvalidRecord('Changed stock has no skuid.')
    return { storeId, skuId, freeStock: readFreeStock(sku) }
  })
}

/** Reads the time of the last stock change of a `store` of `StockChanged`. */
export const readLastChange = (store: Xml, timeZone: string) =>
  parseLocalTime(readAttribute(store, 'lastchanged'), timeZone)
