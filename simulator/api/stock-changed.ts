import { ok } from '../http/answers.ts'
import { createRejection, nothing } from '../http/errors.ts'
import { whole } from '../http/request.ts'
import type { Handler } from '../http/router.ts'
import { fractionText, readWall, type Wall } from '../shop/clock.ts'
import type { Store } from '../shop/records.ts'
import { isAfter, type World } from '../world/world.ts'
import { type Element, el } from '../xml/element.ts'

function changesIn(
  { shop, settings }: World,
  store: Store,
  since: Wall,
  skuOf: Map<number, number>,
): Element | undefined {
  let last = 0
  const rows: Element[] = []
  for (const { row, when } of shop.stock.changes(store.column)) {
    if (!isAfter({ settings }, when, since)) continue
    last = Math.max(last, when)
    rows.push(el('sku', undefined, { skuid: skuOf.get(row) ?? 0, freeStock: shop.stock.at(row, store.column) }))
  }
  return rows.length ? el('store', rows, { storeid: store.id, lastChanged: fractionText(last) }) : undefined
}

/** Stock that changed after a time, as absolute values, including zero and negative ones. */
export const stockChanged: Handler = (request, world) => {
  const { shop } = world
  const text = request.query('ChangedSince') ?? ''
  const since = text.length === 19 ? readWall(text) : undefined
  if (since === undefined) throw createRejection(5147, { text: 'Invalid ChangedSince, must be yyyy-MM-ddTHH:MM:SS' })
  const storeId = request.query('StoreId')
  const store = storeId === undefined ? undefined : shop.stores.get(whole(storeId) ?? 0)
  if (storeId !== undefined && !store) throw createRejection(5147)
  const skuOf = new Map([...shop.skus.values()].map(sku => [sku.row, sku.id]))
  const stores = (store ? [store] : [...shop.stores.values()])
    .map(place => changesIn(world, place, since, skuOf))
    .filter(node => node !== undefined)
  if (!stores.length) throw nothing()
  return ok(el('stockByStore', stores, { changedSince: text }))
}
