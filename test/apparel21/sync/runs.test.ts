import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { SyncBatch, SyncDefinition, SyncRows } from '../../../src/domain/sync/port.ts'
import { runSync } from '../../../src/sync/sync.ts'
import {
  countRows,
  findStocked,
  loadFreeStock,
  sizes,
  startFilledSyncFixture,
  startSyncFixtureFor,
} from './sync-fixture.ts'

const fixture = await startFilledSyncFixture()

test('repeated or shuffled pages stop a run without removing records', async () => {
  for (const kind of ['same-page', 'shuffled'] as const)
    for (const name of ['customers', 'products'] as const) {
      await fixture.sync(name)
      const before = await fixture.shop.dumpTables()
      const { since } = (await fixture.loadState(name)) ?? {}
      fixture.simulator.faults.add({ kind })
      await assert.rejects(fixture.sync(name, { full: true }), /./)
      const state = await fixture.loadState(name)
      assert.deepEqual([state?.since, state?.running], [since, false])
      assert.match(state?.error ?? '', /^back_office_error/)
      assert.equal(await fixture.shop.dumpTables(), before)
      fixture.simulator.faults.clear()
      await fixture.sync(name)
      assert.equal((await fixture.loadState(name))?.error, null)
    }
})

test('an interrupted stock sync removes nothing', async () => {
  const item = findStocked(fixture)[5]
  assert.ok(item)
  await fixture.sync('stock', { full: true })
  const before = await countRows(fixture, 'stock', 'free_stock > 0')
  for (const kind of ['truncated', 'malformed', 'html', 'empty-body', 'reset-during', 'hang'] as const) {
    fixture.simulator.faults.add({ kind, path: '/Freestock/AllStyles' })
    const stopping = AbortSignal.timeout(kind === 'hang' ? 300 : 30_000)
    await assert.rejects(fixture.sync('stock', { full: true, signal: stopping }), /./, kind)
    fixture.simulator.faults.clear()
  }
  assert.equal(await countRows(fixture, 'stock', 'free_stock > 0'), before)
})

test('a record missing from a full run is zeroed or deleted', async t => {
  const other = await startSyncFixtureFor(t)
  await other.syncAll()
  const { state } = other.simulator
  const [item] = findStocked(other)
  assert.ok(item)
  const sku = state.skus.get(item.skuId)
  const store = state.stores.get(item.storeId)
  assert.ok(sku && store)
  // The simulator records no change, so an incremental sync would never see it.
  state.stock.set(sku.row, store.column, 0, 0)
  const style = [...state.styles.values()].find(
    candidate => candidate !== sku.colour.style && candidate.colours.length > 0,
  )
  assert.ok(style)
  state.styles.delete(style.id)
  const [lost] = sku.colour.skus.splice(0, 1)
  assert.ok(lost)
  const before = await countRows(other, 'product')
  await other.sync('products', { full: true })
  await other.sync('stock', { full: true })
  if (lost !== sku) assert.equal(await loadFreeStock(item.skuId, item.storeId, other), 0)
  assert.equal(await countRows(other, 'product'), before - 1)
  assert.equal(await countRows(other, 'product', `product_id = '${style.id}'`), 0)
  assert.equal(await countRows(other, 'variant', `sku_id = '${lost.id}'`), 0)
  const [row] = await other.shop.queryRows(`select record from product where product_id = '${sku.colour.style.id}'`)
  assert.ok(!row.record.includes(`"skuId":"${lost.id}"`))
})

test('a full run with less than half of the records removes nothing', async t => {
  const other = await startSyncFixtureFor(t, { sizes: { ...sizes, styles: 60 } })
  await other.syncAll()
  const before = await countRows(other, 'product')
  const { styles } = other.simulator.state
  for (const id of [...styles.keys()].slice(0, Math.ceil(styles.size * 0.6))) styles.delete(id)
  const result = await other.sync('products', { full: true })
  assert.deepEqual([await countRows(other, 'product'), result?.removed], [before, 0])
  assert.match(Object.keys(result?.notes ?? {}).join(), /missing from the product list, .* more than half of it/)
  const zeroed = await other.sync('stock', { full: true })
  assert.match(Object.keys(zeroed?.notes ?? {}).join(), /missing from the stock list, .* more than half of it/)
})

/** Builds a sync that fetches these batches. */
const buildSync = (batches: readonly SyncBatch[], definition: Partial<SyncDefinition> = {}): SyncDefinition => ({
  name: 'made',
  intervalSeconds: 60,
  fullIntervalSeconds: 3_600,
  ...definition,
  async *fetch() {
    yield* batches
  },
})

test('a full run with ambiguous records removes nothing', async t => {
  const { shop, service } = await startSyncFixtureFor(t)
  const buildProduct = (productId: string): SyncRows['products'] => ({
    product: { productId, productCode: productId, name: productId, referenceValues: {} },
    colour: { productId, colourId: '1', code: null, name: null },
    variant: { productId, colourId: '1', skuId: productId, sizeCode: '-', price: '1.00' },
  })
  const products = ['a', 'b', 'c'].map(buildProduct)
  const run = (batch: SyncBatch) => runSync(shop.db, service, buildSync([batch], { fullLists: ['variant', 'product'] }))
  const listRemaining = async () =>
    (await shop.queryRows('select product_id from product order by 1')).map(row => row.product_id)
  const seen = [
    { list: 'product', ids: ['a'] },
    { list: 'variant', ids: ['a'] },
  ]
  await run({ rows: { products }, seen, isSeenIncomplete: true })
  assert.deepEqual(await listRemaining(), ['a', 'b', 'c'])
  await run({ rows: { products }, seen })
  assert.deepEqual(await listRemaining(), ['a'])
})

test('rows rejected by the database are reported and the others are stored', async t => {
  const { shop, service } = await startSyncFixtureFor(t)
  const run = (rows: SyncBatch['rows'] = {}) => runSync(shop.db, service, buildSync([{ rows }]))
  const store = (storeId: string, storeNumber: string) => ({ storeId, storeNumber, name: storeId })
  await run({ stores: [store('a', '1'), store('b', '2')] })
  const stores = await run({ stores: [store('a', '2'), store('b', '3'), store('c', '3')] })
  assert.deepEqual([stores?.read, stores?.changed, stores?.rejected], [3, 2, 1])
  assert.deepEqual(stores?.notes, { 'have the number of another store: rejected': 1 })
  const otherRun = await run({
    stock: [{ storeId: 'a', skuId: '404', freeStock: 1 }],
    rewardAccounts: [{ id: '1', customerId: '404', programId: '404' }],
    rewardGifts: [{ programId: '404', giftId: '1', name: 'Socks', styles: [] }],
  })
  assert.deepEqual([otherRun?.read, otherRun?.rejected], [3, 2])
  assert.deepEqual(otherRun?.notes, {
    'stock of an unknown SKU: skipped': 1,
    'reward account of an unknown program: rejected': 1,
    "contradicts another record or can't be stored: rejected": 1,
  })
})

test('a list shorter than declared fails the run and keeps the checkpoint', async t => {
  const { shop, service, loadState } = await startSyncFixtureFor(t)
  const seen = [{ list: 'customer', ids: ['1', '2', '2'] }]
  const end = (atLeast: number, since: string) => ({ end: { since, total: { list: 'customer', atLeast } } })
  await runSync(shop.db, service, buildSync([{ seen }, end(2, 'first')]))
  await assert.rejects(runSync(shop.db, service, buildSync([{ seen }, end(3, 'second')])), /fewer/)
  assert.equal((await loadState('made'))?.since, 'first')
})

test('a full read runs on schedule or if changes are too old', async t => {
  const { shop, service } = await startSyncFixtureFor(t)
  const sync = buildSync([{ end: { since: 'mark' } }], { maxLookbackSeconds: 7_200 })
  const run = async () => (await runSync(shop.db, service, sync))?.isFull
  assert.deepEqual([await run(), await run()], [true, false])
  await shop.queryRows(`update sync_state set full_at = now() - interval '61 minutes'`)
  assert.deepEqual([await run(), await run()], [true, false])
  await shop.queryRows(`update sync_state set finished_at = now() - interval '121 minutes'`)
  assert.deepEqual([await run(), await run()], [true, false])
})

test('an incremental run removes nothing', async () => {
  const before = await countRows(fixture, 'product')
  const result = await fixture.sync('products')
  assert.deepEqual([result?.isFull, await countRows(fixture, 'product')], [false, before])
})

test("a dead sync run's lock expires and otherwise excludes other runs", async () => {
  fixture.simulator.faults.add({ kind: 'latency', seconds: 0.5, path: '/Stores', times: 1 })
  const first = fixture.sync('stores')
  while (!fixture.simulator.ledger.findCalls({ path: '/Stores' }).length) await delay(5)
  assert.equal((await fixture.loadState('stores'))?.running, true)
  assert.equal(await fixture.sync('stores'), undefined)
  assert.ok(await first)
  await fixture.shop.queryRows(
    `update sync_state set run = gen_random_uuid(), heartbeat_at = now() - interval '59 seconds' where sync = 'stores'`,
  )
  assert.equal(await fixture.sync('stores'), undefined)
  await fixture.shop.queryRows(
    `update sync_state set heartbeat_at = now() - interval '61 seconds' where sync = 'stores'`,
  )
  assert.ok(await fixture.sync('stores'))
})

test('a superseded run stops at its next batch', async () => {
  let batches = 0
  const onProgress = () => {
    batches++
  }
  fixture.simulator.faults.add({ kind: 'latency', seconds: 0.3, path: '/Persons' })
  const first = fixture.sync('customers', { full: true, onProgress })
  while (!fixture.simulator.ledger.findCalls({ path: '/Persons' }).length) await delay(5)
  await fixture.shop.queryRows(`update sync_state set run = gen_random_uuid() where sync = 'customers'`)
  await assert.rejects(first, /taken over/)
  assert.equal(batches, 0)
  await fixture.shop.queryRows(`update sync_state set run = null, heartbeat_at = null where sync = 'customers'`)
})

test('an unreadable history is skipped and the others are stored', async t => {
  const other = await startSyncFixtureFor(t)
  await other.sync('customers')
  const [broken = 0] = other.simulator.state.transactions.flatMap(sale => sale.personId ?? [])
  other.simulator.faults.add({ kind: 'malformed', path: `/Persons/${broken}/RetailTransactions` })
  const result = await other.sync('transactions')
  const otherSales = other.simulator.state.transactions.filter(
    sale => sale.personId !== null && sale.personId !== broken,
  )
  assert.deepEqual([result?.rejected, await countRows(other, 'retail_transaction')], [1, otherSales.length])
})

test('interrupted refreshes resume where they stopped', async t => {
  const other = await startSyncFixtureFor(t)
  await other.sync('customers')
  const stopping = new AbortController()
  let batches = 0
  const onProgress = () => {
    if (++batches === 12) stopping.abort()
  }
  await assert.rejects(other.sync('transactions', { signal: stopping.signal, onProgress }), /./)
  assert.match((await other.loadState('transactions'))?.error ?? '', /stopped/)
  const refreshed = other.simulator.ledger.findCalls({ path: '/Persons/*/RetailTransactions' }).length
  assert.ok(refreshed < sizes.persons / 2, `${refreshed}`)
  await other.sync('transactions')
  const all = other.simulator.ledger.findCalls({ path: '/Persons/*/RetailTransactions' }).length
  assert.ok(all < sizes.persons + 10, `${all}`)
  const customerSales = other.simulator.state.transactions.filter(sale => sale.personId !== null)
  assert.equal(await countRows(other, 'retail_transaction'), customerSales.length)
})

test('an outage is recorded and the next run resumes', async () => {
  await fixture.simulator.stopAccepting()
  await assert.rejects(fixture.sync('customers'), /./)
  assert.match((await fixture.loadState('customers'))?.error ?? '', /^back_office_unavailable/)
  await fixture.simulator.accept()
  assert.ok(await fixture.sync('customers'))
  assert.equal((await fixture.loadState('customers'))?.error, null)
})
