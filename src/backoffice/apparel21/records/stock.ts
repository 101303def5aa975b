import type { FeedRows, StockFeedRow } from '../../../domain/port/feed.ts'
import { Untranslatable } from '../xml/untranslatable.ts'
import { clean, wallIn, wholeIn } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** Attributes here are named in one case in one answer, and in another in the next. */
const attribute = ({ attributes }: Xml, name: string) =>
  clean(attributes[name] ?? attributes[Object.keys(attributes).find(key => key.toLowerCase() === name) ?? ''])

function freeStockOf(element: Xml): number {
  const free = wholeIn(attribute(element, 'freestock'))
  if (free === null) throw new Untranslatable('A free stock is no whole number.')
  return free
}

/** Free stock as `Freestock` has it, of a style, a colour or a SKU: only where there is any. */
export function freeStockFrom(element: Xml): StockFeedRow[] {
  const rows: StockFeedRow[] = []
  const walk = (node: Xml, item: Omit<StockFeedRow, 'storeId' | 'freeStock'>) => {
    for (const child of node.children) {
      const name = child.name.toLowerCase()
      if (name === 'store') {
        const storeId = attribute(child, 'storeid')
        if (!storeId) throw new Untranslatable('A store with stock has no StoreId.')
        rows.push({ ...item, storeId, freeStock: freeStockOf(child) })
      } else if (name === 'clr' || name === 'sku') walk(child, { ...item, ...itemOf(child) })
    }
  }
  walk(element, itemOf(element))
  return rows
}

/** What an element is the stock of. */
function itemOf(element: Xml): Omit<StockFeedRow, 'storeId' | 'freeStock'> {
  const [productId, colourId, skuId] = ['styleidx', 'clridx', 'skuidx'].map(name => attribute(element, name))
  if (!productId && !colourId && !skuId) throw new Untranslatable('Stock is of something without an identifier.')
  return { ...(productId && { productId }), ...(colourId && { colourId }), ...(skuId && { skuId }) }
}

/** A `store` of `StockChanged`: absolute stock, which may be nothing, or less. */
export function changedStockFrom(store: Xml): FeedRows['stock'][] {
  const storeId = attribute(store, 'storeid')
  if (!storeId) throw new Untranslatable('A store with changed stock has no storeid.')
  return store.children
    .filter(child => child.name.toLowerCase() === 'sku')
    .map(sku => {
      const skuId = attribute(sku, 'skuid')
      if (!skuId) throw new Untranslatable('Changed stock has no skuid.')
      return { storeId, skuId, freeStock: freeStockOf(sku) }
    })
}

/** When the stock of a `store` of `StockChanged` last changed. */
export const lastChangeOf = (store: Xml) => wallIn(attribute(store, 'lastchanged'))
