import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestRun } from '../../../src/store/sync/sync-list.ts'
import { findStocked, loadFreeStock, type SyncFixture, startSyncFixtureFor } from './sync-fixture.ts'

const backDate = ({ shop }: SyncFixture, column: string, minutes: number) =>
  shop.queryRows(`update sync_state set ${column} = now() - interval '${minutes} minutes' where sync = 'stock'`)

/** Makes a full stock sync due and lets it fail. */
async function failFullSync(fed: SyncFixture) {
  await fed.syncAll()
  await backDate(fed, 'full_at', 25 * 60)
  fed.simulator.faults.add({ kind: 'truncated', path: '/Freestock/AllStyles' })
  await assert.rejects(fed.sync('stock'))
  const [item] = findStocked(fed)
  assert.ok(item)
  let quantity = 500
  return {
    /** Changes stock, runs the sync and asserts that it stored the change. Returns the result of the run. */
    async syncChange() {
      quantity++
      fed.simulator.change({ kind: 'set-stock', ...item, quantity })
      const result = await fed.sync('stock')
      assert.equal(await loadFreeStock(item.skuId, item.storeId, fed), quantity)
      return result
    },
  }
}

test('incremental runs continue while failed full runs back off', async t => {
  const fed = await startSyncFixtureFor(t)
  const { syncChange } = await failFullSync(fed)
  for (const [at, minutes] of [15, 30, 60, 120, 240, 240].entries()) {
    const result = await syncChange()
    assert.deepEqual([result?.isFull, result?.fullFailures], [false, at + 1])
    assert.match(JSON.stringify(result?.notes), /failed full syncs, so this run fetched changes only/)
    await backDate(fed, 'full_failed_at', minutes - 1)
    assert.ok(((await fed.sync('stock'))?.fullRetrySeconds ?? Number.POSITIVE_INFINITY) <= 60)
    await backDate(fed, 'full_failed_at', minutes)
    await assert.rejects(fed.sync('stock'))
  }
  await backDate(fed, 'full_failed_at', 240)
  fed.simulator.faults.clear()
  assert.deepEqual([(await fed.sync('stock'))?.isFull, (await fed.sync('stock'))?.isFull], [true, false])
  assert.equal((await fed.sync('stock'))?.fullFailures, undefined)
})

test('a requested full run starts immediately and is not replaced by changes', async t => {
  const fed = await startSyncFixtureFor(t)
  const { syncChange } = await failFullSync(fed)
  const { db } = fed.shop
  await db.transaction(tx => requestRun(tx, fed.service, 'stock', true))
  await assert.rejects(fed.sync('stock'))
  assert.equal((await syncChange())?.isFull, false)
  fed.simulator.faults.clear()
  await backDate(fed, 'full_failed_at', 31)
  await backDate(fed, 'full_at', 1)
  assert.deepEqual([(await fed.sync('stock'))?.isFull, (await fed.sync('stock'))?.isFull], [true, false])
})

test('a full run is attempted each time if changes are too old', async t => {
  const fed = await startSyncFixtureFor(t)
  await failFullSync(fed)
  await backDate(fed, 'finished_at', 8 * 24 * 60)
  await assert.rejects(fed.sync('stock'))
  await assert.rejects(fed.sync('stock'))
})
