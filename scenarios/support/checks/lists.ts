import type { StockLevel } from '../../../client/src/index.ts'
import type { Simulator } from '../../../simulator/control/handle.ts'
import { formatDate } from '../../../simulator/shop/clock.ts'
import { type Db, sql } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { readList, type ShopperClient } from '../actors/shoppers.ts'
import { type CheckResult, check } from '../expectations/check.ts'
import {
  listExpectedStock,
  listLocations,
  toExpectedAccounts,
  toExpectedCustomers,
  toExpectedProducts,
  toExpectedStores,
  toExpectedTransactions,
} from '../expectations/expected.ts'
import { checkList } from './compare.ts'

/** Compares every list of the API, and the stored rewards, with the back office. */
export async function checkLists(
  simulator: Simulator,
  db: Db,
  service: Service,
  client: ShopperClient,
): Promise<CheckResult[]> {
  const { state, clock } = simulator
  const limit = 100
  const readRecords = async (list: Parameters<typeof readList<object>>[1]) =>
    (await readList<object>(client, list)).records
  const stock = await readList(client, api => api.inventory.list({ limit }))
  return [
    checkList('stores', toExpectedStores(state), await readRecords(api => api.stores.list()), 'storeId'),
    checkList('products', toExpectedProducts(state), await readRecords(api => api.products.list({ limit }))),
    checkStock(simulator, stock.records),
    checkList('customers', toExpectedCustomers(state), await readRecords(api => api.customers.search({ limit }))),
    checkList(
      'retail transactions',
      toExpectedTransactions(state),
      await readRecords(api => api.transactions.search({ limit, asc: true })),
    ),
    checkList(
      'reward accounts',
      toExpectedAccounts(state, formatDate(clock.wall())),
      await readRewardAccounts(db, service),
    ),
  ]
}

/** Compares stock exactly. Stock that was negative before the run and didn't change reads as 0: no request returns it. */
function checkStock({ state, clock }: Simulator, levels: readonly StockLevel[]): CheckResult {
  const expected = listExpectedStock(state)
  const dayAgo = clock.wall() - 86_400_000
  const rows = new Map([...state.skus.values()].map(({ row, id }) => [row, id]))
  const changed = new Set(
    listLocations(state).flatMap(({ id, column }) =>
      [...state.stock.listChanges(column)].flatMap(({ row, when }) =>
        when > dayAgo ? [`${id}-${rows.get(row)}`] : [],
      ),
    ),
  )
  const levelsByKey = new Map(levels.map(({ storeId, skuId, freeStock }) => [`${storeId}-${skuId}`, freeStock]))
  const wrong = [...expected].flatMap(([key, quantity]) => {
    const free = levelsByKey.get(key) ?? 0
    const expectedQuantity = changed.has(key) ? quantity : Math.max(0, quantity)
    return free === expectedQuantity ? [] : [`${key} is ${free}, not ${expectedQuantity}`]
  })
  const stray = [...levelsByKey.keys()]
    .filter(key => !expected.has(key))
    .map(key => `${key} was removed at the back office`)
  return check('stock: it equals the back office, SKU by SKU and store by store', [...wrong, ...stray], expected.size)
}

const readRewardAccounts = (db: Db, service: Service) =>
  db.rows<object>(sql`
    select a.id, a.customer_id as "customerId", a.program_id as "programId", a.tier_id as "tierId",
           coalesce((select json_agg(format('%s %s: %s %s %s', kind, lot_id, trim_scale(total), trim_scale(redeemed), trim_scale(pending)) order by kind collate "C", lot_id collate "C")
              from reward_lot l where l.service_id = a.service_id and l.account_id = a.id), '[]') as lots
      from reward_account a where a.service_id = ${service.id}`)
