import { type Db, type Sql, sql } from '../../database/db.ts'
import type { AlertName } from '../../domain/alerts.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { raiseAlert } from '../alerts/alerts.ts'
import { opaqueServiceId } from '../lists/planner-fences.ts'
import { currentlyReserved } from './reservations.ts'

const kind: AlertName = 'stock_oversold'

/** Days after an order of a SKU during which its negative levels count as oversold. Later, another cause is more likely. */
const maxDaysSinceSale = 30

interface StockKey {
  storeId: string
  skuId: string
}

/** Selects the stock of these levels if its remaining units meet the condition, for example `< 0`. One index look-up per level. */
const selectLevels = (service: Service, stocks: readonly StockKey[], condition: Sql) => {
  const [stores, skus] = [stocks.map(({ storeId }) => storeId), stocks.map(({ skuId }) => skuId)]
  return sql`(
    select s.* from unnest(${stores}::text[], ${skus}::text[]) as keys (store_id, sku_id)
      join stock s on s.service_id = ${opaqueServiceId(service)} and s.store_id = keys.store_id and s.sku_id = keys.sku_id
     where s.free_stock - s.reserved - s.allocated ${condition})`
}

/**
 * Units of stock `s` that shoppers have reserved. The reservations of orders that are being sent have IDs that begin with `order `. They don't
 * count, because the back office may have subtracted their units already.
 */
const reservedUnits = currentlyReserved(sql`and r.id not like 'order %'`)

/**
 * Raises an alert for each of these levels that has fewer units than its orders and reservations need. Call it after a merge of stock,
 * in which tills may have sold the units, or a count may have corrected them.
 */
export async function reportOversold(tx: Db, service: Service, stocks: readonly StockKey[]) {
  if (!stocks.length || service.settings.oversell === 'allow') return
  const oversold = await tx.rows<{ subject: string; detail: string }>(sql`
    select level.store_id || '-' || sku as subject,
           trim_scale(-units) || ' units too many of SKU ' || sku || ' are sold or reserved at store ' || coalesce(store_number, level.store_id)
             || ': free stock ' || trim_scale(free_stock) || ', reserved ' || reserved || ', in unshipped orders ' || allocated || '.' as detail
      from (select s.*, v.sku, c.store_number, ${reservedUnits} as current_reserved
              from ${selectLevels(service, stocks, sql`< 0`)} s
              join variant v on v.service_id = s.service_id and v.sku_id = s.sku_id
              join store c on c.service_id = s.service_id and c.store_id = s.store_id
             where not v.allow_backorder) level
     cross join lateral (select free_stock - current_reserved - allocated as units) remaining
     where units < 0
       and (current_reserved > 0 or allocated > 0
            or exists (select from stock sold where sold.service_id = level.service_id and sold.sku_id = level.sku_id
                          and sold.sold_at > now() - make_interval(days => ${maxDaysSinceSale})))
     order by subject`)
  for (const alert of oversold) await raiseAlert(tx, service.id, { kind, ...alert })
}

/** Resolves the alerts of these levels that have enough units again. Call it after a change of stock. */
export const resolveOversold = (tx: Db, service: Service, stocks: readonly StockKey[]) =>
  tx.run(sql`
    delete from alert a
     where a.service_id = ${service.id} and a.kind = ${kind}
       and a.subject in (select s.store_id || '-' || v.sku
                           from ${selectLevels(service, stocks, sql`>= 0`)} s
                           join variant v on v.service_id = s.service_id and v.sku_id = s.sku_id
                          where exists (select from alert where service_id = ${service.id} and kind = ${kind}))`)
