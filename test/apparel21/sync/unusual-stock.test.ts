import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findStocked, loadFreeStock, startSyncFixtureFor } from './sync-fixture.ts'

test('invalid free stock is rejected alone, and fractions are rounded down', async t => {
  const fed = await startSyncFixtureFor(t)
  await fed.syncAll()
  const { state } = fed.simulator
  const stockByStore = Map.groupBy(findStocked(fed), ({ storeId }) => storeId)
  const [invalid, fractional, valid] = [...stockByStore.values()].find(({ length }) => length > 2) ?? []
  assert.ok(invalid && fractional && valid)
  const upstream = new Map(
    [invalid, fractional].map(({ skuId }, index) => [state.skus.get(skuId)?.row, index ? 2.75 : Number.NaN]),
  )
  const { get: at } = state.stock
  state.stock.get = (row, column) => upstream.get(row) ?? at(row, column)
  for (const item of [invalid, fractional, valid]) fed.simulator.change({ kind: 'set-stock', ...item, quantity: 700 })
  const result = await fed.sync('stock')
  assert.ok(result?.rejected)
  assert.deepEqual(
    await Promise.all([invalid, fractional, valid].map(({ skuId, storeId }) => loadFreeStock(skuId, storeId, fed))),
    [invalid.quantity, 2, 700],
  )
})
