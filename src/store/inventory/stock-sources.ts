import { freshSingleFlight } from '../../concurrency/single-flight.ts'
import { perObject, ttlMap } from '../../concurrency/ttl-cache.ts'
import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { currentlyReserved } from './reservations.ts'
import { sellableUnits } from './stock.ts'

/** The store that a SKU is taken from, and the units that can be sold there. They are not locked. */
interface StockSource {
  skuId: string
  storeId: string
  units: number
  /** True if orders can exceed the units. */
  allowBackorder: boolean
}

/** Sources by e-commerce SKU. */
export type StockSources = ReadonlyMap<string, StockSource>

/**
 * Returns the source of each SKU, by e-commerce SKU. It is the store with this number if it keeps the SKU. Otherwise it is the store with the
 * most stock that no order or reservation has. A SKU that no store keeps has no entry.
 */
export async function findStockSources(
  tx: Db,
  service: Service,
  skus: readonly string[],
  storeNumber: string | undefined,
): Promise<StockSources> {
  const preferredStore = sql`select store_id from store where service_id = ${service.id} and store_number = ${storeNumber ?? null}`
  const rows = await tx.rows<StockSource & { sku: string }>(sql`
    select v.sku, v.sku_id as "skuId", v.allow_backorder as "allowBackorder", s.store_id as "storeId", ${sellableUnits(service)} as units
      from variant v
     cross join lateral (
       select s.* from stock s where s.service_id = v.service_id and s.sku_id = v.sku_id
        order by store_id = (${preferredStore}) desc nulls last, free_stock - (allocated + ${currentlyReserved()}) desc, store_id limit 1) s
      join store c on c.service_id = s.service_id and c.store_id = s.store_id
     where v.service_id = ${service.id} and v.sku = any(${skus})`)
  return new Map(rows.map(({ sku, ...source }) => [sku, source]))
}

const shares = perObject((_: Db) => freshSingleFlight())

/** Like `findStockSources`, outside a transaction. Concurrent requests for the same SKUs share the query. */
export const shareStockSources = (db: Db, service: Service, skus: readonly string[], storeNumber: string | undefined) =>
  shares(db)(JSON.stringify([service.id, storeNumber, skus]), () => findStockSources(db, service, skus, storeNumber))

const scarceMs = 10_000
const scarce = ttlMap<true>({ ttlMs: scarceMs })
const toKey = ({ id }: Service, sku: string) => `${id} ${sku}`

/** Records the SKUs of a request that was rejected because some of them had too few units. */
export function markScarce(service: Service, skus: Iterable<string>) {
  for (const sku of skus) scarce.set(toKey(service, sku), true)
}

/**
 * True if this process has rejected a request for one of these SKUs a short time ago. Others like it probably follow: they are checked
 * before they lock anything.
 */
export const hasScarceSku = (service: Service, skus: readonly string[]) =>
  skus.some(sku => scarce.get(toKey(service, sku)) !== undefined)
