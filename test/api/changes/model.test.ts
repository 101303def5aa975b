import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { sql } from '../../../src/database/db.ts'
import type { Kind } from '../../../src/domain/changes.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { upsertProducts } from '../../../src/store/catalog/products.ts'
import { upsertStaff } from '../../../src/store/catalog/staff.ts'
import { upsertStores } from '../../../src/store/catalog/stores.ts'
import { purgeOldTombstones } from '../../../src/store/change-feed/purge-tombstones.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { stockId, upsertStock } from '../../../src/store/inventory/stock.ts'
import { beginChange } from '../../../src/store/lists/change-timestamp.ts'
import { withInitialLoad } from '../../../src/store/lists/initial-load.ts'
import { removeRecords } from '../../../src/store/lists/tombstones.ts'
import { mapSku } from '../../../src/store/mappings/writes.ts'
import { startTestApi } from '../../support/service.ts'
import { createFollower, readAll, readExpectedCopy, readPage, toSortedObject } from './follower.ts'

// Random histories of records that are created, changed, renamed, deleted and created again. Readers with different
// cursors read from time to time, and tombstones are purged. After every history each reader's copy equals the current
// records.

const api = await startTestApi()
after(() => api.stop())
const { db } = api

/** The number of random histories. Set `HISTORIES=5000` for a longer run. */
const histories = Number(process.env.HISTORIES ?? 40)

const readers: { query: string; kinds?: Kind[] }[] = [
  { query: 'limit=3' },
  { query: 'limit=1&kinds=customer,staff', kinds: ['customer', 'staff'] },
  { query: 'limit=1000&records=true&kinds=inventory,product', kinds: ['inventory', 'product'] },
]

/** Events that can happen to some records of a service. `round` makes each name new. */
const events = {
  staff: (service, ids, round, updateTimeStamp) =>
    upsertStaff(
      db,
      service,
      ids.map(id => ({ id, code: id, surname: `Lee ${round}`, updateTimeStamp })),
    ),
  customers: (service, ids, round, updateTimeStamp) =>
    upsertCustomers(
      db,
      service,
      ids.map(id => ({ id, firstname: `Ann ${round}`, updateTimeStamp })),
    ),
  products: (service, ids, round, updateTimeStamp) =>
    upsertProducts(
      db,
      service,
      ids.map(id => ({
        product: { productId: id, productCode: id, name: `Hat ${round}`, updateTimeStamp },
        colour: { productId: id, colourId: 'c' },
        variant: { productId: id, colourId: 'c', skuId: id, sizeCode: 'M', price: '10.00' },
      })),
    ),
  stock: (service, ids, round, updateTimeStamp) =>
    upsertStock(
      db,
      service,
      ids.map(id => ({ storeId: '1-2', skuId: id, freeStock: round, updateTimeStamp })),
    ),
  'a SKU is renamed': (service, [id = 'a', name = null]) =>
    db.transaction(tx => mapSku(tx, service, { skuId: id, ecommerceSku: name })),
  'customers are deleted': (service, ids) =>
    db.transaction(async tx => {
      const change = await beginChange(tx, service, ['customer'])
      await removeRecords(tx, service, change, { list: 'customer', id: sql`id`, where: sql`id = any(${ids})` })
    }),
  'products are deleted': (service, ids) =>
    db.transaction(async tx => {
      const change = await beginChange(tx, service, ['product', 'stock'])
      await removeRecords(tx, service, change, { list: 'stock', id: stockId, where: sql`sku_id = any(${ids})` })
      await removeRecords(tx, service, change, {
        list: 'product',
        id: sql`product_id`,
        where: sql`product_id = any(${ids})`,
      })
    }),
} satisfies Record<
  string,
  (service: Service, ids: string[], round: number, time: string | undefined) => Promise<unknown>
>
type EventName = keyof typeof events

const event = fc.record({
  name: fc.constantFrom(...(Object.keys(events) as EventName[])),
  ids: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 3 }),
  /** The source timestamp, or undefined for the current time. */
  time: fc.constantFrom(undefined, undefined, '2024-05-01 10:00:00', '2025-05-01 10:00:00', '2030-01-01 00:00:00'),
})
const step = fc.oneof(
  { weight: 8, arbitrary: event },
  { weight: 4, arbitrary: fc.nat(readers.length - 1) },
  { weight: 1, arbitrary: fc.constant('purge' as const) },
)

test(`the copies of readers equal the data after any history (${histories} histories)`, async () => {
  let [responses, expiries, removalCount] = [0, 0, 0]
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(step, { minLength: 5, maxLength: 30 }), async (hasInitialLoad, steps) => {
      const caller = await api.createService({ readsPerMinute: 'off' })
      const { service } = caller
      await upsertStores(db, service, [{ storeId: '1-2', storeNumber: '12', name: 'Collins Street' }])
      await events.products(service, ['a', 'b', 'c', 'd'], -1, undefined)
      const followers = readers.map(({ query }) => createFollower(caller, query))
      /** Readers that are up to date, so a purge can't affect them. */
      const upToDate = new Set<unknown>()
      const mayExpire = new Set<unknown>()
      const read = async (i: number) => {
        const reader = followers[i]
        assert.ok(reader)
        const { hasMore, expired, changes } = await readPage(reader)
        if (expired) assert.ok(mayExpire.delete(reader), 'a cursor expired, but no tombstone after it was purged')
        if (!hasMore) upToDate.add(reader)
        responses++
        expiries += Number(expired)
        removalCount += changes.filter(({ action }) => action === 'removed').length
        return hasMore
      }
      if (hasInitialLoad)
        await withInitialLoad(db, service, 'customer', async () => {
          await events.customers(service, ['a', 'b'], -1, '2025-01-01 00:00:00')
          await read(1)
          await events['customers are deleted'](service, ['a'])
          await read(1)
          await events.customers(service, ['c'], -1, '2024-01-01 00:00:00')
        })
      if (hasInitialLoad)
        await withInitialLoad(db, service, 'stock', async () => {
          await events.stock(service, ['a', 'b'], -1, '2025-01-01 00:00:00')
          await events['a SKU is renamed'](service, ['a', 'another'])
          await read(2)
        })
      for (const [round, nextStep] of steps.entries()) {
        if (typeof nextStep === 'number') await read(nextStep)
        else if (nextStep === 'purge') {
          await purgeOldTombstones(
            db,
            { ...service, settings: { ...service.settings, tombstoneRetentionDays: 0 } },
            () => false,
          )
          for (const reader of followers) if (!upToDate.has(reader)) mayExpire.add(reader)
        } else {
          // Stock of a deleted product and a taken SKU name are rejected.
          await events[nextStep.name](service, nextStep.ids, round, nextStep.time).catch(() => {})
          upToDate.clear()
        }
      }
      for (const [i, reader] of followers.entries()) {
        while (await read(i));
        assert.deepEqual(
          toSortedObject(reader.copy),
          toSortedObject(await readExpectedCopy(api, service, readers[i]?.kinds)),
          reader.query,
        )
        assert.deepEqual(await readAll(reader), [], 'there must be no further changes')
      }
    }),
    { numRuns: histories, endOnFailure: true },
  )
  // With few histories, possibly no cursor expires.
  assert.ok(
    removalCount > histories / 2 && (expiries > 0 || histories < 200),
    JSON.stringify({ responses, expiries, removals: removalCount }),
  )
})
