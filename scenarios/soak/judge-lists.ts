import { dateText } from '../../simulator/shop/clock.ts'
import { sql } from '../../src/database/db.ts'
import { type Verdict, verdict } from '../support/verdict.ts'
import type { Client } from './client.ts'
import { judgeList } from './compare.ts'
import { accountsOf, customersOf, productsOf, shops, stockOf, storesOf, transactionsOf } from './expected.ts'
import type { WorldBehind } from './world.ts'

interface StockRecord {
  storeId: string
  skuId: string
  freeStock: number
}

/** Holds every list of the API, and what is stored of rewards, against the simulator's state. */
export async function judgeLists(world: WorldBehind, client: Client): Promise<Verdict[]> {
  const { state, clock } = world.simulator
  const all = async (path: string) => (await client.list<object>(path)).records
  return [
    judgeList('stores', storesOf(state), await all('/stores'), 'storeId'),
    judgeList('products', productsOf(state), await all('/products?limit=100')),
    judgeStock(world, (await client.list<StockRecord>('/inventory?limit=100')).records),
    judgeList('customers', customersOf(state), await all('/customers/search?limit=100')),
    judgeList(
      'retail transactions',
      transactionsOf(state),
      await all('/orders/transactions/search?limit=100&asc=true'),
    ),
    judgeList('reward accounts', accountsOf(state, dateText(clock.wall())), await accounts(world)),
  ]
}

/** Exact, negative stock included; but what was below nothing before the run, and has not changed since, nobody could tell us. */
function judgeStock({ simulator: { state, clock } }: WorldBehind, found: readonly StockRecord[]): Verdict {
  const expected = stockOf(state)
  const dayAgo = clock.wall() - 86_400_000
  const rows = new Map([...state.skus.values()].map(({ row, id }) => [row, id]))
  const told = new Set(
    shops(state).flatMap(({ id, column }) =>
      [...state.stock.changes(column)].flatMap(({ row, when }) => (when > dayAgo ? [`${id}-${rows.get(row)}`] : [])),
    ),
  )
  const ours = new Map(found.map(({ storeId, skuId, freeStock }) => [`${storeId}-${skuId}`, freeStock]))
  const wrong = [...expected].flatMap(([key, quantity]) => {
    const free = ours.get(key) ?? 0
    const wanted = told.has(key) ? quantity : Math.max(0, quantity)
    return free === wanted ? [] : [`${key} is ${free}, not ${wanted}`]
  })
  const stray = [...ours.keys()].filter(key => !expected.has(key)).map(key => `${key} is not there any more`)
  return verdict("stock: it is the simulator's, SKU by SKU and store by store", [...wrong, ...stray], expected.size)
}

const accounts = ({ db, service }: WorldBehind) =>
  db.rows<object>(sql`
    select a.id, a.customer_id as "customerId", a.program_id as "programId", a.tier_id as "tierId",
           coalesce((select json_agg(format('%s %s: %s %s %s', kind, lot_id, trim_scale(total), trim_scale(redeemed), trim_scale(pending)) order by kind collate "C", lot_id collate "C")
              from reward_lot l where l.service_id = a.service_id and l.account_id = a.id), '[]') as lots
      from reward_account a where a.service_id = ${service.id}`)
