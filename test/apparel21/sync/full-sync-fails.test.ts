import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestRun } from '../../../src/store/sync/sync-list.ts'
import { type Fed, fedFor, stocked, stockOf } from './fed.ts'

const ago = ({ shop }: Fed, column: string, minutes: number) =>
  shop.queryRows(`update sync_state set ${column} = now() - interval '${minutes} minutes' where sync = 'stock'`)

/** All stock is due, and cannot be read. */
async function failing(fed: Fed) {
  await fed.syncAll()
  await ago(fed, 'full_at', 25 * 60)
  fed.simulator.faults.add({ kind: 'truncated', path: '/Freestock/AllStyles' })
  await assert.rejects(fed.sync('stock'))
  const [item] = stocked(fed)
  assert.ok(item)
  let quantity = 500
  return {
    /** Stock that changes arrives with the next run, which it returns. */
    async changesArrive() {
      quantity++
      fed.simulator.change({ kind: 'set-stock', ...item, quantity })
      const result = await fed.sync('stock')
      assert.equal(await stockOf(item.skuId, item.storeId, fed), quantity)
      return result
    },
  }
}

test('incremental runs continue while failed full runs back off', async t => {
  const fed = await fedFor(t)
  const { changesArrive } = await failing(fed)
  for (const [at, minutes] of [15, 30, 60, 120, 240, 240].entries()) {
    const result = await changesArrive()
    assert.deepEqual([result?.isFull, result?.fullFailures], [false, at + 1])
    assert.match(JSON.stringify(result?.notes), /failed full syncs, so this run fetched changes only/)
    await ago(fed, 'full_failed_at', minutes - 1)
    assert.ok(((await fed.sync('stock'))?.fullRetrySeconds ?? Number.POSITIVE_INFINITY) <= 60)
    await ago(fed, 'full_failed_at', minutes)
    await assert.rejects(fed.sync('stock'))
  }
  await ago(fed, 'full_failed_at', 240)
  fed.simulator.faults.clear()
  assert.deepEqual([(await fed.sync('stock'))?.isFull, (await fed.sync('stock'))?.isFull], [true, false])
  assert.equal((await fed.sync('stock'))?.fullFailures, undefined)
})

test('a requested full run starts immediately and is not replaced by changes', async t => {
  const fed = await fedFor(t)
  const { changesArrive } = await failing(fed)
  const { db } = fed.shop
  await db.transaction(tx => requestRun(tx, fed.service, 'stock', true))
  await assert.rejects(fed.sync('stock'))
  assert.equal((await changesArrive())?.isFull, false)
  fed.simulator.faults.clear()
  await ago(fed, 'full_failed_at', 31)
  await ago(fed, 'full_at', 1)
  assert.deepEqual([(await fed.sync('stock'))?.isFull, (await fed.sync('stock'))?.isFull], [true, false])
})

test('a full run is attempted each time if changes are too old', async t => {
  const fed = await fedFor(t)
  await failing(fed)
  await ago(fed, 'finished_at', 8 * 24 * 60)
  await assert.rejects(fed.sync('stock'))
  await assert.rejects(fed.sync('stock'))
})
