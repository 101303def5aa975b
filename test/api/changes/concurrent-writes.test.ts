import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase, sql } from '../../../src/database/db.ts'
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
import { withSlowCommits } from '../../support/postgres/slow-commits.ts'
import { post } from '../../support/write.ts'
import {
  applyChange,
  createFollower,
  type Follower,
  readAll,
  readExpectedCopy,
  readPage,
  toSortedObject,
} from './follower.ts'

const { api, createShop } = await startOrderShop()
const writersDb = openDatabase(api.database.connection, { max: 10 })
after(async () => {
  await writersDb.close()
  await api.stop()
})

const slowDb = withSlowCommits(writersDb, 120, 0.1)

const createIds = (letter: string, count: number) => Array.from({ length: count }, (_, i) => `${letter}${i}`)
const pickRandom = <T>(all: readonly T[], share = 0.1) => all.filter(() => Math.random() < share)

const buildProduct = (id: string, name: string) => ({
  product: { productId: id, productCode: id, name },
  colour: { productId: id, colourId: 'c' },
  variant: { productId: id, colourId: 'c', skuId: `k-${id}`, sizeCode: 'M', price: '10.00' },
})

test('a reader receives every change and tombstone despite late and killed writers', async () => {
  const caller = await createShop()
  const { service } = caller
  await joinRewards(api, caller)
  const [people, products, team] = [createIds('c', 30), createIds('p', 10), createIds('s', 10)]
  const counts = { commits: 0, killed: 0, responses: 0, crashes: 0, expiries: 0, removals: 0 }
  const startedAt = performance.now()
  const isEnough = () =>
    counts.commits > 100 &&
    counts.killed > 10 &&
    counts.responses > 100 &&
    counts.crashes > 5 &&
    counts.expiries > 0 &&
    counts.removals > 10
  // A slow machine needs more time for enough events.
  const shouldContinue = () => performance.now() - startedAt < (isEnough() ? 8_000 : 90_000)
  const writer = async (work: (round: number) => Promise<unknown>) => {
    for (let round = 0; shouldContinue(); round++)
      try {
        await retryOnContention(() => work(round))
        counts.commits++
      } catch {
        counts.killed++
      }
  }
  const deleteRecords = (ids: readonly string[], type: 'customer' | 'product') =>
    slowDb.transaction(async tx => {
      const skus = sql`sku_id = any(${ids.map(id => `k-${id}`)})`
      // Lock the SKUs, as `store/sync/remove-unseen.ts` does. Otherwise, stock that is added concurrently would be deleted
      // with its SKU, without a tombstone.
      if (type === 'product')
        await lockRows(
          tx,
          sql`select from variant where service_id = ${service.id} and ${skus} order by sku_id for update`,
        )
      const change = await beginChange(tx, service, ['customer', 'product', 'stock'])
      if (type === 'customer')
        return removeRecords(tx, service, change, { list: 'customer', id: sql`id`, where: sql`id = any(${ids})` })
      await removeRecords(tx, service, change, { list: 'stock', id: stockId, where: skus })
      return removeRecords(tx, service, change, {
        list: 'product',
        id: sql`product_id`,
        where: sql`product_id = any(${ids})`,
      })
    })
  const importProducts = (ids: readonly string[], round: number) =>
    upsertProducts(
      slowDb,
      service,
      ids.map(id => buildProduct(id, `Hat ${round}`)),
    )
  const importStock = (ids: readonly string[], round: number) =>
    upsertStock(
      slowDb,
      service,
      ids.map(id => ({ storeId: '1001', skuId: `k-${id}`, freeStock: round })),
    )
  const placeAndReturnOrder = async (round: number) => {
    const order = await post(caller, '/orders', buildOrder([{ sku: 'HOOD-S', quantity: 2 }]))
    const { json } = await createReturn(caller, order.json.data.id, { 'HOOD-S': 1 })
    if (round % 2) await cancelReturn({ db: slowDb }, caller, json.data.returnNumber)
  }

  let isDone = false
  /** Reads changes until the writers are done. Pauses between reads, and sometimes crashes before it saves its cursor. */
  const followUntilDone = async (reader: Follower, { crashes = 0, maxPauseMs = 0 } = {}) => {
    while (!isDone) {
      await delay(Math.random() * maxPauseMs)
      if (Math.random() < crashes) {
        counts.crashes++
        const before = { cursor: reader.cursor, copy: new Map(reader.copy) }
        const { changes } = await readPage(reader)
        // The reader has applied a part of the page when it crashes.
        Object.assign(reader, before)
        for (const change of changes.slice(0, Math.random() * changes.length)) applyChange(reader, change)
      }
      const { expired, changes } = await readPage(reader)
      counts.responses++
      counts.expiries += Number(expired)
      counts.removals += changes.filter(({ action }) => action === 'removed').length
    }
    await readAll(reader)
    return reader
  }
  const queries = ['limit=7', 'limit=1000&records=true', 'limit=100', 'limit=1&kinds=customer,order,reward-account']
  const [crashing, complete, pausing, filtered] = queries.map(query => createFollower(caller, query)) as [
    Follower,
    Follower,
    Follower,
    Follower,
  ]
  const readers = [
    followUntilDone(crashing, { crashes: 0.2 }),
    followUntilDone(complete),
    followUntilDone(pausing, { maxPauseMs: 1_500 }),
    followUntilDone(filtered, { crashes: 0.2 }),
  ]
  await Promise.all([
    withInitialLoad(api.db, service, 'staff', async () => {
      for (let batch = 0; batch < 10; batch++)
        await upsertStaff(
          slowDb,
          service,
          withTimestamps(pickRandom(team, 0.5).map(id => ({ id, code: id, surname: 'Lee' }))),
        ).catch(() => {})
    }).then(() =>
      writer(round =>
        upsertStaff(
          slowDb,
          service,
          withTimestamps(pickRandom(team).map(id => ({ id, code: id, surname: `Lee ${round}` }))),
        ),
      ),
    ),
    writer(round =>
      upsertCustomers(
        slowDb,
        service,
        pickRandom(people).map(id => ({ id, firstname: `Ann ${round}` })),
      ),
    ),
    writer(round =>
      upsertCustomers(
        slowDb,
        service,
        withTimestamps(pickRandom(people).map(id => ({ id, firstname: `Eve ${round}` }))),
      ),
    ),
    writer(round => importProducts(pickRandom(products, 0.3), round)),
    writer(round => importStock(pickRandom(products, 0.3), round)),
    writer(round =>
      upsertStores(slowDb, service, [{ storeId: '1002', storeNumber: '102', name: `Warehouse ${round}` }]),
    ),
    writer(round => placeAndReturnOrder(round)),
    writer(round =>
      upsertRewardLots(slowDb, service, [
        { accountId: '7', kind: 'gift', lotId: 'g', createdAt: '2026-01-01 00:00:00', total: String(round % 7) },
      ]),
    ),
    writer(async round => {
      await delay(150)
      await (round % 2
        ? deleteRecords(pickRandom(people), 'customer')
        : deleteRecords(pickRandom(products, 0.2), 'product'))
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
    isDone = true
  })
  const final = await readExpectedCopy(api, service)
  for (const reader of await Promise.all(readers)) {
    const expected =
      reader === filtered ? await readExpectedCopy(api, service, ['customer', 'order', 'reward-account']) : final
    assert.deepEqual(toSortedObject(reader.copy), toSortedObject(expected), reader.query)
    assert.deepEqual(await readAll(reader), [], 'there must be no further changes')
  }
  const kinds = new Set([...final.keys()].map(name => name.split(' ')[0]))
  assert.equal(kinds.size, 9, [...kinds].join())
  assert.ok(isEnough(), JSON.stringify(counts))
})
