import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startSyncFixtureFor } from './sync-fixture.ts'

test('sales with impossible signs, sums and dates are stored with a remark', async t => {
  const fixture = await startSyncFixtureFor(t)
  await fixture.syncAll()
  const sound = await fixture.sync('transactions', { full: true })
  assert.deepEqual(sound?.notes, {})
  const lines = fixture.simulator.state.transactions.flatMap(({ personId, lines: sold }) => (personId ? sold : []))
  const [opposite, excessive, empty] = lines.filter(({ quantity, value }) => quantity > 0 && value > 1)
  assert.ok(opposite && excessive && empty)
  opposite.value *= -1
  excessive.value += 1_000
  empty.quantity = 0
  empty.value = 0
  const sale = fixture.simulator.state.transactions.findLast(({ personId }) => personId)
  assert.ok(sale)
  sale.day = '2199-05-10'
  const result = await fixture.sync('transactions', { full: true })
  assert.deepEqual(result?.notes, {
    'quantity is 0': 1,
    'value has another sign than quantity times price': 1,
    'value is more than quantity times price': 1,
    'saleDate is in the future: check the date format': sale.lines.length,
  })
  assert.equal(result.rejected, 0)
})
