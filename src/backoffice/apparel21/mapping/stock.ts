import type { SyncStockRow } from '../../../domain/sync/port.ts'
import { translated, Untranslatable } from '../xml/untranslatable.ts'
import { clean, flooredIn, wallIn } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** Attributes here are named in one case in one answer, and in another in the next. */
const attribute = ({ attributes }: Xml, name: string) =>
  clean(attributes[name] ?? attributes[Object.keys(attributes).find(key => key.toLowerCase() === name) ?? ''])

/** What there is of so much stock: of part of a unit, nothing can be sold. */
function freeStockOf(element: Xml): number {
  const free = flooredIn(attribute(element, 'freestock'))
  if (free === null) throw new Untranslatable('A free stock is no number.')
  return free
}

/** What a record says of stock, and why some of it is rejected: the rest of it is sound. */
interface StockRead {
  rows: SyncStockRow[]
  rejected: string[]
}

/** Free stock as `Freestock` has it, of a style, a colour or a SKU: only where there is any. */
export function freeStockFrom(element: Xml): StockRead {
  const item = itemOf(element)
  const read: StockRead = { rows: [], rejected: [] }
  for (const child of element.children) {
    const name = child.name.toLowerCase()
    const nested = (inner: Xml) => {
      const { rows, rejected } = freeStockFrom(inner)
      read.rejected.push(...rejected)
      return rows.map(row => ({ ...item, ...row }))
    }
    const { rows, rejected } = translated([child], one =>
      name === 'store' ? [inStore(one, item)] : name === 'clr' || name === 'sku' ? nested(one) : [],
    )
    read.rows.push(...rows.flat())
    read.rejected.push(...rejected)
  }
  return read
}

function inStore(store: Xml, item: Omit<SyncStockRow, 'storeId' | 'freeStock'>): SyncStockRow {
  const storeId = attribute(store, 'storeid')
  if (!storeId) throw new Untranslatable('A store with stock has no StoreId.')
  return { ...item, storeId, freeStock: freeStockOf(store) }
}

/** What an element is the stock of. */
function itemOf(element: Xml): Omit<SyncStockRow, 'storeId' | 'freeStock'> {
  const [productId, colourId, skuId] = ['styleidx', 'clridx', 'skuidx'].map(name => attribute(element, name))
  if (!productId && !colourId && !skuId) throw new Untranslatable('Stock is of something without an identifier.')
  return { ...(productId && { productId }), ...(colourId && { colourId }), ...(skuId && { skuId }) }
}

/** A `store` of `StockChanged`: absolute stock, which may be nothing, or less. */
export function changedStockFrom(store: Xml): StockRead {
  const storeId = attribute(store, 'storeid')
  if (!storeId) throw new Untranslatable('A store with changed stock has no storeid.')
  const skus = store.children.filter(child => child.name.toLowerCase() === 'sku')
  return translated(skus, sku => {
    const skuId = attribute(sku, 'skuid')
    if (!skuId) throw new Untranslatable('Changed stock has no skuid.')
    return { storeId, skuId, freeStock: freeStockOf(sku) }
  })
}

/** When the stock of a `store` of `StockChanged` last changed. */
export const lastChangeOf = (store: Xml) => wallIn(attribute(store, 'lastchanged'))
