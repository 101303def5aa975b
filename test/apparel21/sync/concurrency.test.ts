import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { countRows, findStocked, getPersonIds, sizes, startSyncFixtureFor } from './sync-fixture.ts'

test('one concurrent call is enough even if everything arrives in one response', async t => {
  const narrow = await startSyncFixtureFor(t, { release: '2021.1' }, { concurrency: 1, maxWaitMs: 300 })
  await narrow.syncAll()
  assert.equal(await countRows(narrow, 'customer'), narrow.simulator.state.persons.size)
  assert.equal(await countRows(narrow, 'stock', 'free_stock > 0'), findStocked(narrow).length)
})

test('syncs use at most their share of the concurrent calls', async t => {
  const path = '/Persons/*/RetailTransactions'
  const countConcurrent = async (syncShare: number) => {
    const fixture = await startSyncFixtureFor(t, { sizes: { ...sizes, persons: 12 } }, { concurrency: 4, syncShare })
    await fixture.sync('customers')
    fixture.simulator.faults.add({ kind: 'latency', seconds: 0.1, path })
    await fixture.sync('transactions')
    const calls = fixture.simulator.ledger
      .findCalls({ path })
      .map(({ at, milliseconds }) => ({ from: Date.parse(at), to: Date.parse(at) + (milliseconds ?? 0) }))
    assert.equal(calls.length, 12)
    // A call can arrive while the ledger still records the end of the previous one.
    return Math.max(...calls.map(({ from }) => calls.filter(call => call.from <= from && from + 50 < call.to).length))
  }
  assert.equal(await countConcurrent(25), 1)
  assert.equal(await countConcurrent(50), 2)
  assert.equal(await countConcurrent(100), 3)
})

test('requests are answered while full stock uses the only call', async t => {
  const narrow = await startSyncFixtureFor(t, {}, { concurrency: 1, maxWaitMs: 100 })
  await narrow.syncAll()
  narrow.simulator.ledger.clear()
  narrow.simulator.faults.add({ kind: 'latency', seconds: 2, path: '/Freestock/AllStyles' })
  let isRead = false
  const reading = narrow.sync('stock', { full: true }).finally(() => {
    isRead = true
  })
  while (!narrow.simulator.ledger.findCalls({ path: '/Freestock/AllStyles' }).length) await delay(5)
  const [id = 0] = getPersonIds(narrow)
  const person = { endpoint: 'persons', path: ['Persons', String(id)], roots: ['Person'] } as const
  assert.ok(await narrow.client.document(person))
  assert.equal(isRead, false)
  assert.ok(await reading)
})
