import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestRun } from '../../../src/store/sync/sync-list.ts'
import { findStocked, loadFreeStock, type SyncFixture, startSyncFixtureFor } from './sync-fixture.ts'

const backDate = ({ shop }: SyncFixture, column: string, minutes: number) =>
  shop.queryRows(`update sync_state set ${column} = now() - interval '${minutes} minutes' where sync = 'stock'`)

/** Makes a full stock sync due and lets it fail. */
async function failFullSync(fixture: SyncFixture) {
  await fixture.syncAll()
  await backDate(fixture, 'full_at', 25 * 60)
  fixture.simulator.faults.add({ kind: 'truncated', path: '/Freestock/AllStyles' })
  await assert.rejects(fixture.sync('stock'))
  const [item] = findStocked(fixture)
  assert.ok(item)
  let quantity = 500
  return {
    /** Changes stock, runs the sync and asserts that it stored the change. Returns the result of the run. */
    async syncChange() {
      quantity++
      fixture.simulator.change({ kind: 'set-stock', ...item, quantity })
      const result = await fixture.sync('stock')
      assert.equal(await loadFreeStock(item.skuId, item.storeId, fixture), quantity)
      return result
    },
  }
}

test('incremental runs continue while failed full runs back off', async t => {
  const fixture = await startSyncFixtureFor(t)
  const { syncChange } = await failFullSync(fixture)
  for (const [at, minutes] of [15, 30, 60, 120, 240, 240].entries()) {
    const result = await syncChange()
    assert.deepEqual([result?.isFull, result?.fullFailures], [false, at + 1])
    assert.match(JSON.stringify(result?.notes), /failed full syncs, so this run fetched changes only/)
    await backDate(fixture, 'full_failed_at', minutes - 1)
    assert.ok(((await fixture.sync('stock'))?.fullRetrySeconds ?? Number.POSITIVE_INFINITY) <= 60)
    await backDate(fixture, 'full_failed_at', minutes)
    await assert.rejects(fixture.sync('stock'))
  }
  await backDate(fixture, 'full_failed_at', 240)
  fixture.simulator.faults.clear()
  assert.deepEqual([(await fixture.sync('stock'))?.isFull, (await fixture.sync('stock'))?.isFull], [true, false])
  assert.equal((await fixture.sync('stock'))?.fullFailures, undefined)
})

test('a requested full run starts immediately and is not replaced by changes', async t => {
  const fixture = await startSyncFixtureFor(t)
  const { syncChange } = await failFullSync(fixture)
  const { db } = fixture.shop
  await db.transaction(tx => requestRun(tx, fixture.service, 'stock', true))
  await assert.rejects(fixture.sync('stock'))
  assert.equal((await syncChange())?.isFull, false)
  fixture.simulator.faults.clear()
  await backDate(fixture, 'full_failed_at', 31)
  await backDate(fixture, 'full_at', 1)
  assert.deepEqual([(await fixture.sync('stock'))?.isFull, (await fixture.sync('stock'))?.isFull], [true, false])
})

test('a full run is attempted each time if changes are too old', async t => {
  const fixture = await startSyncFixtureFor(t)
  await failFullSync(fixture)
  await backDate(fixture, 'finished_at', 8 * 24 * 60)
  await assert.rejects(fixture.sync('stock'))
  await assert.rejects(fixture.sync('stock'))
})
