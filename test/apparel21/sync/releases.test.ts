import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { findNewlyOverdue } from '../../../src/store/sync/schedule.ts'
import { renderSyncs } from '../../../src/store/sync/sync-list.ts'
import { countRows, findStocked, getPersonIds, loadCustomer, sizes, startSyncFixtureFor } from './sync-fixture.ts'

test('versions below 2022.1 use scheduled full syncs only', async t => {
  const old = await startSyncFixtureFor(t, { release: '2021.1' })
  await old.syncAll()
  assert.equal(await countRows(old, 'customer'), sizes.persons)
  assert.equal(await countRows(old, 'stock', 'free_stock > 0'), findStocked(old).length)
  const [id = 0] = getPersonIds(old)
  old.simulator.change({ kind: 'edit-person', id, fields: { surname: 'Later' } })
  old.simulator.ledger.clear()
  assert.deepEqual([(await old.sync('customers'))?.read, old.simulator.ledger.findCalls({ path: '/Persons' })], [0, []])
  await old.shop.queryRows(`update sync_state set full_at = now() - interval '25 hours'`)
  assert.equal((await old.sync('customers'))?.isFull, true)
  assert.equal((await loadCustomer(id, old)).surname, 'Later')
  assert.ok(old.simulator.ledger.calls.every(call => !/updatedafter=2/i.test(call.path) || /Products/i.test(call.path)))
})

test('a run without a call makes no list fresher', async t => {
  const old = await startSyncFixtureFor(t, { release: '2021.1' })
  await old.sync('customers')
  const { db, service } = old.shop
  const backDate = (interval: string) =>
    old.shop.queryRows(`update sync_state set finished_at = now() - interval '${interval}'`)
  const planned = [{ serviceId: service.id, sync: 'customers', intervalSeconds: 900 }]
  const getStatus = async () => {
    const [sync] = JSON.parse(await renderSyncs(db, service, [{ name: 'customers', intervalSeconds: 900 }], []))
    return [sync.intervalSeconds, sync.isOverdue, (await findNewlyOverdue(db, planned)).length]
  }
  await backDate('20 hours')
  const { finishedAt } = (await old.loadState('customers')) ?? {}
  const idle = await old.sync('customers')
  assert.deepEqual([idle?.isIdle, (await old.loadState('customers'))?.finishedAt], [true, finishedAt])
  assert.deepEqual(await getStatus(), [86_400, false, 0])
  await backDate('73 hours')
  assert.deepEqual(await getStatus(), [86_400, true, 1])

  const updated = await startSyncFixtureFor(t)
  await updated.sync('customers')
  assert.equal((await updated.sync('customers'))?.isIdle, false)
})

test("a run fails if the back office's version is unknown", async t => {
  const other = await startSyncFixtureFor(t, {}, { releaseTtlMs: 1 })
  await other.sync('customers')
  other.simulator.faults.add({ kind: 'status', status: 500, path: '/' })
  const { finishedAt } = (await other.loadState('customers')) ?? {}
  await assert.rejects(other.sync('customers'), /version can't be determined/)
  const state = await other.loadState('customers')
  assert.deepEqual([state?.finishedAt, state?.running], [finishedAt, false])
  assert.match(state?.error ?? '', /^back_office_error: .*version can't be determined/)
  assert.equal((await other.sync('customers', { full: true }))?.isFull, true)
  other.simulator.faults.clear()
  await delay(5)
  assert.equal((await other.sync('customers'))?.isIdle, false)
  assert.equal((await other.loadState('customers'))?.error, null)
})

test('a failed full sync without change support stays failed and retries', async t => {
  const old = await startSyncFixtureFor(t, { release: '2021.1' })
  await old.sync('customers')
  old.simulator.faults.add({ kind: 'status', status: 500, path: '/Persons' })
  await old.shop.queryRows(`update sync_state set full_at = now() - interval '25 hours'`)
  await assert.rejects(old.sync('customers'))
  const { error } = (await old.loadState('customers')) ?? {}
  assert.ok(error)
  // The first run after the failure finds that it can't request changes, so it does nothing.
  const idle = await old.sync('customers')
  assert.deepEqual([idle?.isIdle, idle?.notes, (await old.loadState('customers'))?.error], [true, {}, error])
  for (let again = 0; again < 2; again++) await assert.rejects(old.sync('customers'))
  old.simulator.faults.clear()
  assert.equal((await old.sync('customers'))?.isFull, true)
  assert.equal((await old.loadState('customers'))?.error, null)
})
