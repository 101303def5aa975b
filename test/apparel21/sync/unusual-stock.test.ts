import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findStocked, loadFreeStock, startSyncFixtureFor } from './sync-fixture.ts'

test('invalid free stock is rejected alone, and fractions are rounded down', async t => {
  const fixture = await startSyncFixtureFor(t)
  await fixture.syncAll()
  const { state } = fixture.simulator
  const stockByStore = Map.groupBy(findStocked(fixture), ({ storeId }) => storeId)
  const [invalid, fractional, valid] = [...stockByStore.values()].find(({ length }) => length > 2) ?? []
  assert.ok(invalid && fractional && valid)
  const upstream = new Map(
    [invalid, fractional].map(({ skuId }, index) => [state.skus.get(skuId)?.row, index ? 2.75 : Number.NaN]),
  )
  const { get: at } = state.stock
  state.stock.get = (row, column) => upstream.get(row) ?? at(row, column)
  for (const item of [invalid, fractional, valid])
    fixture.simulator.change({ kind: 'set-stock', ...item, quantity: 700 })
  const result = await fixture.sync('stock')
  assert.ok(result?.rejected)
  assert.deepEqual(
    await Promise.all([invalid, fractional, valid].map(({ skuId, storeId }) => loadFreeStock(skuId, storeId, fixture))),
    [invalid.quantity, 2, 700],
  )
})
