import { createNoDataError, createRejection } from '../http/errors.ts'
import { parseInteger } from '../http/request.ts'
import { respondOk } from '../http/responses.ts'
import type { Handler } from '../http/router.ts'
import { formatFraction, parseWall, type Wall } from '../shop/clock.ts'
import type { Store } from '../shop/records.ts'
import { isAfter, type World } from '../world/world.ts'
import { type Element, el } from '../xml/element.ts'

function buildStoreChanges(
  { shop, settings }: World,
  store: Store,
  since: Wall,
  skuIdsByRow: Map<number, number>,
): Element | undefined {
  let last = 0
  const rows: Element[] = []
  for (const { row, when } of shop.stock.listChanges(store.column)) {
    if (!isAfter({ settings }, when, since)) continue
    last = Math.max(last, when)
    rows.push(el('sku', undefined, { skuid: skuIdsByRow.get(row) ?? 0, freeStock: shop.stock.get(row, store.column) }))
  }
  return rows.length ? el('store', rows, { storeid: store.id, lastChanged: formatFraction(last) }) : undefined
}

/** Lists the stock that changed after a time, as absolute values, including zero and negative ones. */
export const listStockChanges: Handler = (request, world) => {
  const { shop } = world
  const text = request.query('ChangedSince') ?? ''
  const since = text.length === 19 ? parseWall(text) : undefined
  if (since === undefined) throw createRejection(5147, { text: 'Invalid ChangedSince, must be yyyy-MM-ddTHH:MM:SS' })
  const storeId = request.query('StoreId')
  const store = storeId === undefined ? undefined : shop.stores.get(parseInteger(storeId) ?? 0)
  if (storeId !== undefined && !store) throw createRejection(5147)
  const skuIdsByRow = new Map([...shop.skus.values()].map(sku => [sku.row, sku.id]))
  const stores = (store ? [store] : [...shop.stores.values()])
    .map(place => buildStoreChanges(world, place, since, skuIdsByRow))
    .filter(node => node !== undefined)
  if (!stores.length) throw createNoDataError()
  return respondOk(el('stockByStore', stores, { changedSince: text }))
}
