import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Database, type Db, openDatabase, sql } from '../../../src/database/db.ts'
import { retryOnContention } from '../../../src/database/pg/contention.ts'
import { upsertProducts } from '../../../src/store/catalog/products.ts'
import { upsertStaff } from '../../../src/store/catalog/staff.ts'
import { upsertStores } from '../../../src/store/catalog/stores.ts'
import { purgeOldTombstones } from '../../../src/store/change-feed/purge-tombstones.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { stockId, upsertStock } from '../../../src/store/inventory/stock.ts'
import { beginChange, lockRows } from '../../../src/store/lists/change-timestamp.ts'
import { withInitialLoad } from '../../../src/store/lists/initial-load.ts'
import { removeRecords } from '../../../src/store/lists/tombstones.ts'
import { upsertRewardLots } from '../../../src/store/rewards/rewards.ts'
import { buildOrder, cancelReturn, createReturn, joinRewards, startOrderShop } from '../../support/order-shop.ts'
import { withTimestamps } from '../../support/paginate.ts'
import { post } from '../../support/write.ts'
import { type Follower, follower, readAll, readExpectedCopy, readOn, sorted, take } from './following.ts'

const { api, createShop } = await startOrderShop()
const writersDb = openDatabase(api.database.connection, { max: 10 })
after(async () => {
  await writersDb.close()
  await api.stop()
})

/** Transactions that wait a little before they commit; one in ten is ended instead, as by `kill -9`. */
const slow: Database = {
  ...writersDb,
  transaction: <T>(work: (tx: Db) => Promise<T>) =>
    writersDb.transaction(async tx => {
      const done = await work(tx)
      await delay(Math.random() ** 3 * 120)
      if (Math.random() < 0.1) await tx.run(sql`select pg_terminate_backend(pg_backend_pid())`)
      return done
    }),
}

const numbered = (letter: string, count: number) => Array.from({ length: count }, (_, i) => `${letter}${i}`)
const someOf = <T>(all: readonly T[], share = 0.1) => all.filter(() => Math.random() < share)

const product = (id: string, name: string) => ({
  product: { productId: id, productCode: id, name },
  colour: { productId: id, colourId: 'c' },
  variant: { productId: id, colourId: 'c', skuId: `k-${id}`, sizeCode: 'M', price: '10.00' },
})

test('a reader receives every change and tombstone despite late and killed writers', async () => {
  const caller = await createShop()
  const { service } = caller
  await joinRewards(api, caller)
  const [people, products, team] = [numbered('c', 30), numbered('p', 10), numbered('s', 10)]
  const counts = { commits: 0, killed: 0, answers: 0, crashes: 0, expiries: 0, removals: 0 }
  const begun = performance.now()
  const isEnough = () =>
    counts.commits > 100 &&
    counts.killed > 10 &&
    counts.answers > 100 &&
    counts.crashes > 5 &&
    counts.expiries > 0 &&
    counts.removals > 10
  // On a slow machine it takes longer until enough has happened.
  const goesOn = () => performance.now() - begun < (isEnough() ? 8_000 : 90_000)
  const writer = async (work: (round: number) => Promise<unknown>) => {
    for (let round = 0; goesOn(); round++)
      try {
        await retryOnContention(() => work(round))
        counts.commits++
      } catch {
        counts.killed++
      }
  }
  const lose = (ids: readonly string[], of: 'customer' | 'product') =>
    slow.transaction(async tx => {
      const skus = sql`sku_id = any(${ids.map(id => `k-${id}`)})`
      // As `store/sync/remove-unseen.ts` does: stock that arrives concurrently would be deleted with its SKU
      // unnoticed.
      if (of === 'product')
        await lockRows(
          tx,
          sql`select from variant where service_id = ${service.id} and ${skus} order by sku_id for update`,
        )
      const change = await beginChange(tx, service, ['customer', 'product', 'stock'])
      if (of === 'customer')
        return removeRecords(tx, service, change, { list: 'customer', id: sql`id`, where: sql`id = any(${ids})` })
      await removeRecords(tx, service, change, { list: 'stock', id: stockId, where: skus })
      return removeRecords(tx, service, change, {
        list: 'product',
        id: sql`product_id`,
        where: sql`product_id = any(${ids})`,
      })
    })
  const bring = (ids: readonly string[], round: number) =>
    upsertProducts(
      slow,
      service,
      ids.map(id => product(id, `Hat ${round}`)),
    )
  const keep = (ids: readonly string[], round: number) =>
    upsertStock(
      slow,
      service,
      ids.map(id => ({ storeId: '1001', skuId: `k-${id}`, freeStock: round })),
    )
  const buy = async (round: number) => {
    const order = await post(caller, '/orders', buildOrder([{ sku: 'HOOD-S', quantity: 2 }]))
    const { json } = await createReturn(caller, order.json.data.id, { 'HOOD-S': 1 })
    if (round % 2) await cancelReturn({ db: slow }, caller, json.data.returnNumber)
  }

  let over = false
  /** Reads on until it is over; is killed now and then before it has written down where it stands; is away for a while. */
  const following = async (reader: Follower, { crashes = 0, awayMs = 0 } = {}) => {
    while (!over) {
      await delay(Math.random() * awayMs)
      if (Math.random() < crashes) {
        counts.crashes++
        const before = { cursor: reader.cursor, copy: new Map(reader.copy) }
        const { changes } = await readOn(reader)
        // It has taken a part of the answer by then.
        Object.assign(reader, before)
        for (const change of changes.slice(0, Math.random() * changes.length)) take(reader, change)
      }
      const { expired, changes } = await readOn(reader)
      counts.answers++
      counts.expiries += Number(expired)
      counts.removals += changes.filter(({ action }) => action === 'removed').length
    }
    await readAll(reader)
    return reader
  }
  const queries = ['limit=7', 'limit=1000&records=true', 'limit=100', 'limit=1&kinds=customer,order,reward-account']
  const [swift, complete, sleepy, some] = queries.map(query => follower(caller, query)) as [
    Follower,
    Follower,
    Follower,
    Follower,
  ]
  const readers = [
    following(swift, { crashes: 0.2 }),
    following(complete),
    following(sleepy, { awayMs: 1_500 }),
    following(some, { crashes: 0.2 }),
  ]
  await Promise.all([
    withInitialLoad(api.db, service, 'staff', async () => {
      for (let batch = 0; batch < 10; batch++)
        await upsertStaff(
          slow,
          service,
          withTimestamps(someOf(team, 0.5).map(id => ({ id, code: id, surname: 'Lee' }))),
        ).catch(() => {})
    }).then(() =>
      writer(round =>
        upsertStaff(slow, service, withTimestamps(someOf(team).map(id => ({ id, code: id, surname: `Lee ${round}` })))),
      ),
    ),
    writer(round =>
      upsertCustomers(
        slow,
        service,
        someOf(people).map(id => ({ id, firstname: `Ann ${round}` })),
      ),
    ),
    writer(round =>
      upsertCustomers(slow, service, withTimestamps(someOf(people).map(id => ({ id, firstname: `Eve ${round}` })))),
    ),
    writer(round => bring(someOf(products, 0.3), round)),
    writer(round => keep(someOf(products, 0.3), round)),
    writer(round => upsertStores(slow, service, [{ storeId: '1002', storeNumber: '102', name: `Warehouse ${round}` }])),
    writer(round => buy(round)),
    writer(round =>
      upsertRewardLots(slow, service, [
        { accountId: '7', kind: 'gift', lotId: 'g', createdAt: '2026-01-01 00:00:00', total: String(round % 7) },
      ]),
    ),
    writer(async round => {
      await delay(150)
      await (round % 2 ? lose(someOf(people), 'customer') : lose(someOf(products, 0.2), 'product'))
    }),
    writer(async () => {
      await delay(700)
      await purgeOldTombstones(
        api.db,
        { ...service, settings: { ...service.settings, tombstoneRetentionDays: 0 } },
        () => false,
      )
    }),
  ]).finally(() => {
    over = true
  })
  const final = await readExpectedCopy(api, service)
  for (const reader of await Promise.all(readers)) {
    const followed =
      reader === some ? await readExpectedCopy(api, service, ['customer', 'order', 'reward-account']) : final
    assert.deepEqual(sorted(reader.copy), sorted(followed), reader.query)
    assert.deepEqual(await readAll(reader), [], 'and then it is quiet')
  }
  const kinds = new Set([...final.keys()].map(name => name.split(' ')[0]))
  assert.equal(kinds.size, 9, [...kinds].join())
  assert.ok(isEnough(), JSON.stringify(counts))
})
