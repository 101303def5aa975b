import type { SyncStockRow } from '../../../domain/sync/port.ts'
import { convertRecords, InvalidRecord } from '../xml/invalid-record.ts'
import { normalizeText, parseFlooredInteger, parseLocalTime } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** Attributes here are named in one case in one answer, and in another in the next. */
const readAttribute = ({ attributes }: Xml, name: string) =>
  normalizeText(attributes[name] ?? attributes[Object.keys(attributes).find(key => key.toLowerCase() === name) ?? ''])

/** What there is of so much stock: of part of a unit, nothing can be sold. */
function readFreeStock(element: Xml): number {
  const free = parseFlooredInteger(readAttribute(element, 'freestock'))
  if (free === null) throw new InvalidRecord('A free stock is no number.')
  return free
}

/** What a record says of stock, and why some of it is rejected: the rest of it is sound. */
interface ParsedStock {
  rows: SyncStockRow[]
  rejected: string[]
}

/** Free stock as `Freestock` has it, of a style, a colour or a SKU: only where there is any. */
export function parseFreeStock(element: Xml): ParsedStock {
  const item = readItem(element)
  const read: ParsedStock = { rows: [], rejected: [] }
  for (const child of element.children) {
    const name = child.name.toLowerCase()
    const nested = (inner: Xml) => {
      const { rows, rejected } = parseFreeStock(inner)
      read.rejected.push(...rejected)
      return rows.map(row => ({ ...item, ...row }))
    }
    const { rows, rejected } = convertRecords([child], one =>
      name === 'store' ? [parseStoreStock(one, item)] : name === 'clr' || name === 'sku' ? nested(one) : [],
    )
    read.rows.push(...rows.flat())
    read.rejected.push(...rejected)
  }
  return read
}

function parseStoreStock(store: Xml, item: Omit<SyncStockRow, 'storeId' | 'freeStock'>): SyncStockRow {
  const storeId = readAttribute(store, 'storeid')
  if (!storeId) throw new InvalidRecord('A store with stock has no StoreId.')
  return { ...item, storeId, freeStock: readFreeStock(store) }
}

/** What an element is the stock of. */
function readItem(element: Xml): Omit<SyncStockRow, 'storeId' | 'freeStock'> {
  const [productId, colourId, skuId] = ['styleidx', 'clridx', 'skuidx'].map(name => readAttribute(element, name))
  if (!productId && !colourId && !skuId) throw new InvalidRecord('Stock is of something without an identifier.')
  return { ...(productId && { productId }), ...(colourId && { colourId }), ...(skuId && { skuId }) }
}

/** A `store` of `StockChanged`: absolute stock, which may be nothing, or less. */
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

/** When the stock of a `store` of `StockChanged` last changed. */
export const readLastChange = (store: Xml) => parseLocalTime(readAttribute(store, 'lastchanged'))
