import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SyncBatch, SyncDefinition, SyncRows } from '../../../src/domain/sync/port.ts'
import { leaseSync, recordSeen } from '../../../src/store/sync/sync.ts'
import { runSync } from '../../../src/sync/sync.ts'
import { startSyncFixtureFor } from './sync-fixture.ts'

const buildProduct = (productId: string): SyncRows['products'] => ({
  product: { productId, productCode: productId, name: productId, referenceValues: {} },
  colour: { productId, colourId: '1', code: null, name: null },
  variant: { productId, colourId: '1', skuId: productId, sizeCode: '-', price: '1.00' },
})

test('a superseded run removes nothing while it searches for missing records', async t => {
  const { shop, service } = await startSyncFixtureFor(t)
  const run = (ids: string[], findExisting: () => Promise<string[]>) => {
    const seen = [
      { list: 'product', ids },
      { list: 'variant', ids },
    ]
    const batch: SyncBatch = { rows: { products: ['a', 'b', 'c'].map(buildProduct) }, seen }
    const sync: SyncDefinition = {
      name: 'made',
      intervalSeconds: 60,
      fullLists: ['variant', 'product'],
      findExisting,
      async *fetch() {
        yield batch
      },
    }
    return runSync(shop.db, service, sync)
  }
  const halted = run(['a', 'b'], async () => {
    await shop.queryRows(`update sync_state set heartbeat_at = now() - interval '61 seconds'`)
    const other = await leaseSync(shop.db, service, 'made')
    assert.ok(other)
    await recordSeen(shop.db, service, { sync: 'made', run: other.run }, 'product', ['c'])
    return []
  })
  await assert.rejects(halted, /taken over/)
  const texts = await shop.queryRows(`
    select string_agg(product_id, '' order by product_id) as text from product
    union all select string_agg(sku_id, '' order by sku_id) from variant
    union all select string_agg(id, '') from sync_seen where run = (select run from sync_state)`)
  assert.deepEqual(
    texts.map(({ text }) => text),
    ['abc', 'abc', 'c'],
  )
})

test('a run ends as superseded if syncs are reset while it fetches', async t => {
  const { shop, service } = await startSyncFixtureFor(t)
  const sync: SyncDefinition = {
    name: 'made',
    intervalSeconds: 60,
    async *fetch() {
      await shop.queryRows('delete from sync_state')
      yield { rows: {}, seen: [{ list: 'product', ids: ['a'] }] }
    },
  }
  await assert.rejects(runSync(shop.db, service, sync), /taken over/)
})
