import { setTimeout as delay } from 'node:timers/promises'
import type { Tillbridge } from '../../../client/src/index.ts'
import type { Simulator } from '../../../simulator/control/handle.ts'
import { type Db, sql } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { type CheckResult, check } from '../expectations/check.ts'
import { listExpectedStock, listShops } from '../expectations/expected.ts'
import { readList, type ShopperClient } from './shoppers.ts'

/**
 * Checks continuously that no sync removes a record that the back office still has: a customer, a SKU that was never withdrawn, or stock that
 * never changed. A later sync would restore it, so the lists at the end don't show the loss.
 */
export async function observeRemovals(
  simulator: Simulator,
  db: Db,
  service: Service,
  isOver: () => boolean,
): Promise<CheckResult> {
  const startedAt = simulator.clock.wall()
  const storedOnce = new Set<string>()
  const lost = new Set<string>()
  /** Records that must stay once they are in our tables. */
  function listLasting(): Set<string> {
    const { state, ledger } = simulator
    const withdrawn = ledger.findEffects('product changed').filter(({ facts }) => facts.exported === false)
    const withdrawnStyles = new Set(withdrawn.map(({ id }) => Number(id)))
    const skus = [...state.styles.values()]
      .filter(({ id, special }) => !withdrawnStyles.has(id) && !special)
      .flatMap(({ colours }) => colours.flatMap(colour => colour.skus))
    const moved = new Set(
      listShops(state).flatMap(({ id, column }) =>
        [...state.stock.listChanges(column)].flatMap(({ row, when }) =>
          when > startedAt - 3_600_000 ? [`${id} ${row}`] : [],
        ),
      ),
    )
    const stock = listExpectedStock(state)
    const unmoved = skus.flatMap(({ id, row }) =>
      listShops(state).flatMap(store => {
        const quantity = stock.get(`${store.id}-${id}`) ?? 0
        return quantity > 0 && !moved.has(`${store.id} ${row}`) ? [`stock ${store.id} ${id} ${quantity}`] : []
      }),
    )
    return new Set([
      ...[...state.persons.keys()].map(id => `customer ${id}`),
      ...skus.map(({ id }) => `SKU ${id}`),
      ...unmoved,
    ])
  }
  while (!isOver()) {
    const lastingBefore = listLasting()
    const rows = await db.rows<{ key: string }>(sql`
      select 'customer ' || id as key from customer where service_id = ${service.id}
      union all select 'SKU ' || sku_id from variant where service_id = ${service.id}
      union all select format('stock %s %s %s', store_id, sku_id, trim_scale(free_stock)) from stock where service_id = ${service.id}`)
    const stored = new Set(rows.map(({ key }) => key))
    const lastingAfter = listLasting()
    for (const key of storedOnce) if (lastingBefore.has(key) && lastingAfter.has(key) && !stored.has(key)) lost.add(key)
    for (const key of stored) if (lastingBefore.has(key)) storedOnce.add(key)
    await delay(150)
  }
  return check('no sync removed a record that the back office still has', [...lost], storedOnce.size)
}

/** Lists that can be polled by `updatedAfter`. */
const polledLists = {
  customers: (api: Tillbridge, updatedAfter?: string) => api.customers.search({ limit: 100, updatedAfter }),
  inventory: (api: Tillbridge, updatedAfter?: string) => api.inventory.list({ limit: 100, updatedAfter }),
} as const
export const polledListNames = Object.keys(polledLists) as (keyof typeof polledLists)[]

/** Polls a list from `asOf` to `asOf` until `isOver`, then checks that the copy equals the list and contains all `created()` IDs. */
export async function pollList(
  name: keyof typeof polledLists,
  client: ShopperClient,
  isOver: () => boolean,
  created: () => readonly string[],
): Promise<CheckResult> {
  const copy = new Map<string, string>()
  const read = (updatedAfter?: string) =>
    readList<{ id: string }>(client, api => polledLists[name](api, updatedAfter) as never)
  let asOf: string | undefined
  for (let isLast = false; !isLast; ) {
    isLast = isOver()
    const page = await read(asOf)
    for (const record of page.records) copy.set(record.id, JSON.stringify(record))
    asOf = page.asOf
    await delay(100)
  }
  const { records } = await read()
  const wrong = records.filter(record => copy.get(record.id) !== JSON.stringify(record)).map(({ id }) => id)
  const missing = created().filter(id => !copy.has(id))
  return check(
    `a client that polls ${name} by asOf has the same records as the list`,
    [...wrong, ...missing],
    records.length,
  )
}
