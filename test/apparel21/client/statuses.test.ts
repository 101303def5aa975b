import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFails, lock, startClientFixture, stores } from './client-fixture.ts'

const { simulator, open, logged } = await startClientFixture()

test('a write answered with 500 has an unknown outcome and logged code', async () => {
  for (const status of [500, 502, 504]) {
    simulator.faults.add({ kind: 'error', status, code: 5015, applied: true, times: 1 })
    await assertFails(open().write(lock), 'outcome_unknown')
    assert.match(logged.at(-1) ?? '', /and code 5015/)
  }
  simulator.faults.add({ kind: 'error', status: 500, code: 5015 })
  await assertFails(open().document(stores), 'back_office_error')
})

test('a call counts as failed without a response or with a 5xx', async () => {
  const failed: boolean[] = []
  const onCall = (_: number, hasFailed: boolean) => failed.push(hasFailed)
  const errors = [
    { kind: 'status', status: 429 },
    { kind: 'redirect' },
    { kind: 'error', status: 403, code: 5999 },
    { kind: 'status', status: 503 },
    { kind: 'error', status: 500, code: 5015 },
    { kind: 'html', status: 502 },
    { kind: 'reset-before' },
  ] as const
  for (const fault of errors) {
    simulator.faults.add({ ...fault, times: 1 })
    await assert.rejects(open({}, { onCall }).write(lock))
  }
  await assert.rejects(open({}, { onCall, password: 'another' }).write(lock))
  assert.deepEqual(failed, [false, false, false, true, true, true, true, false])
})
