import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createBulkhead, createRetryBudget } from '../../../src/backoffice/apparel21/client/calls.ts'
import type { ApiError } from '../../../src/errors/api-error.ts'
import { createCircuitBreaker } from '../../../src/http-client/circuit-breaker.ts'
import { assertFails, lock, startClientFixture, stores } from './client-fixture.ts'

const { simulator, open } = await startClientFixture()

test('a failed read is repeated exactly once', async () => {
  for (const kind of ['reset-before', 'reset-during', 'malformed', 'truncated'] as const) {
    simulator.faults.clear()
    simulator.ledger.clear()
    const once = simulator.faults.add({ kind, times: 1 })
    await open().document(stores)
    assert.deepEqual([kind, once.matchCount, simulator.ledger.calls.length], [kind, 1, 2])
    simulator.faults.add({ kind })
    await open()
      .document(stores)
      .then(
        () => assert.fail('the call succeeded'),
        () => {},
      )
    assert.deepEqual([kind, simulator.ledger.calls.length], [kind, 4])
  }
  for (const status of [502, 504]) {
    simulator.faults.clear()
    simulator.faults.add({ kind: 'html', status, times: 1 })
    await open().document(stores)
  }
})

test('a write is never repeated: its outcome is unknown unless never sent', async () => {
  for (const [kind, code] of [
    ['reset-before', 'outcome_unknown'],
    ['lost-response', 'outcome_unknown'],
    ['hang', 'outcome_unknown'],
    ['html', 'outcome_unknown'],
    ['status', 'back_office_unavailable'],
    ['redirect', 'back_office_error'],
  ] as const) {
    simulator.faults.clear()
    simulator.ledger.clear()
    simulator.faults.add({ kind })
    await assertFails(open({ deadlineMs: 500 }).write(lock), code)
    assert.deepEqual([kind, simulator.ledger.calls.length], [kind, 1])
  }
  simulator.faults.clear()
  await assertFails(open().write(lock), 'validation_id_incorrect')
  await simulator.stopAccepting()
  const error = await assertFails(open().write(lock), 'back_office_unavailable')
  assert.ok(Number(error.headers['retry-after']) >= 1)
  await simulator.accept()
})

test('a failed connection is 503 with Retry-After', async () => {
  const client = open()
  await client.document(stores)
  await simulator.stopAccepting()
  const error = await assertFails(client.document(stores), 'back_office_unavailable')
  assert.ok(Number(error.headers['retry-after']) >= 1)
  assert.doesNotMatch(error.message, /127|ECONN/)
  await simulator.accept()
  await client.document(stores)
})

test('a deadline applies to a call from start to end', async () => {
  for (const fault of [
    { kind: 'hang' },
    { kind: 'slow', bytesPerSecond: 20 },
    { kind: 'latency', seconds: 60 },
  ] as const) {
    simulator.faults.clear()
    simulator.faults.add(fault)
    const began = performance.now()
    await assertFails(open({ deadlineMs: 600 }).document(stores), 'back_office_unavailable')
    const took = performance.now() - began
    assert.ok(took >= 590 && took < 2_500, `${fault.kind}: ${took} ms`)
  }
})

test('wrong credentials are not retried', async () => {
  const credentialStates: string[] = []
  const onCredentials = (state: string) => credentialStates.push(state)
  const client = open({}, { password: 'wrong', onCredentials })
  for (let i = 0; i < 2; i++) {
    const error = await assertFails(client.document(stores), 'back_office_unavailable')
    assert.ok(Number(error.headers['retry-after']) > 40)
  }
  assert.equal(simulator.ledger.calls.length, 1)
  const other = open({}, { onCredentials })
  await other.document(stores)
  await other.document(stores)
  assert.deepEqual(credentialStates, ['rejected', 'accepted'])
})

test('a short Retry-After is waited out and a long one passed on', async () => {
  simulator.faults.add({ kind: 'status', status: 429, retryAfter: 1, times: 1 })
  const client = open()
  const began = performance.now()
  await client.document(stores)
  assert.ok(performance.now() - began >= 1_000)
  simulator.faults.add({ kind: 'status', status: 503, retryAfter: 30, times: 1 })
  simulator.ledger.clear()
  for (let i = 0; i < 3; i++) {
    const error = await assertFails(client.document(stores), 'back_office_unavailable')
    assert.ok(Number(error.headers['retry-after']) > 28)
  }
  assert.equal(simulator.ledger.calls.length, 1)
})

test('the circuit breaker opens after failures, allows one probe and closes', async () => {
  await simulator.stopAccepting()
  const states: string[] = []
  const onBreaker = (state: string) => states.push(state)
  const client = open({ failureThreshold: 3, openMs: 300, maxOpenMs: 300 }, { onBreaker })
  for (let i = 0; i < 3; i++) await assertFails(client.document(stores), 'back_office_unavailable')
  await simulator.accept()
  simulator.ledger.clear()
  await assertFails(client.document(stores), 'back_office_unavailable')
  assert.equal(simulator.ledger.calls.length, 0)
  simulator.faults.add({ kind: 'latency', seconds: 0.3, times: 1 })
  await delay(400)
  const responses = await Promise.allSettled(Array.from({ length: 10 }, () => client.document(stores)))
  assert.equal(responses.filter(({ status }) => status === 'fulfilled').length, 1)
  assert.equal(simulator.ledger.calls.length, 1)
  await client.document(stores)
  assert.deepEqual(states, ['open', 'closed'])
})

test('a circuit breaker stays open longer after each failed probe', () => {
  let now = 0
  const states: string[] = []
  const breaker = createCircuitBreaker({
    failureThreshold: 2,
    openMs: 1_000,
    maxOpenMs: 4_000,
    now: () => now,
    onChange: state => states.push(state),
  })
  const fail = () => {
    assert.equal(breaker.enter(), 0)
    breaker.onFailure()
  }
  fail()
  assert.equal(breaker.state, 'closed')
  fail()
  for (const ms of [1_000, 2_000, 4_000, 4_000]) {
    const remainingMs = breaker.enter()
    assert.ok(remainingMs >= ms * 0.8 && remainingMs <= ms * 1.2, `${remainingMs} of ${ms}`)
    now += remainingMs
    assert.equal(breaker.state, 'half open')
    fail()
  }
  now += 10_000
  assert.equal(breaker.enter(), 0)
  assert.ok(breaker.enter() > 0, 'only one probe is allowed')
  breaker.onIgnored()
  assert.equal(breaker.enter(), 0)
  breaker.onSuccess()
  assert.deepEqual([breaker.state, breaker.enter(), states], ['closed', 0, ['open', 'closed']])
})

test('running and waiting calls are bounded and scheduled fairly', async () => {
  const client = open({ concurrency: 2, maxWaiting: 3 })
  simulator.faults.add({ kind: 'latency', seconds: 0.2 })
  const responses = await Promise.allSettled(Array.from({ length: 8 }, () => client.document(stores)))
  assert.deepEqual(
    responses.map(({ status }) => status),
    [...Array(5).fill('fulfilled'), ...Array(3).fill('rejected')],
  )
  for (const response of responses)
    if (response.status === 'rejected') assert.equal((response.reason as ApiError).code, 'back_office_unavailable')
})

test('a cancelled call leaves the bulkhead and its permit goes on', async () => {
  const bulkhead = createBulkhead({ concurrency: 1, maxWaiting: 2, maxWaitMs: 5_000 })
  const release = await bulkhead.acquire(new AbortController().signal)
  const controller = new AbortController()
  const rejected = assert.rejects(bulkhead.acquire(controller.signal), /was cancelled/)
  const waiting = bulkhead.acquire(new AbortController().signal)
  controller.abort()
  await rejected
  release()
  release()
  const last = await waiting
  assert.equal(bulkhead.active, 1)
  last()
  assert.equal(bulkhead.active, 0)
})

test('a list abandoned halfway releases its permit', async () => {
  const client = open({ concurrency: 1, pageRows: 5 })
  for (let i = 0; i < 3; i++) {
    const { records } = await client.list({
      endpoint: 'persons',
      path: ['Persons'],
      roots: ['Persons'],
      record: 'Person',
    })
    for await (const record of records) {
      assert.equal(record.name, 'Person')
      break
    }
  }
  await client.document(stores)
})

test('at most a tenth of the calls during an outage are retries', async () => {
  simulator.faults.add({ kind: 'html', status: 502 })
  const client = open({ failureThreshold: 1_000 })
  const calls = 200
  for (let i = 0; i < calls; i++) await assertFails(client.document(stores), 'back_office_unavailable')
  const callCount = simulator.ledger.calls.length
  assert.ok(callCount > calls && callCount <= calls * 1.1 + 3, `${callCount} for ${calls}`)
})

test('a retry budget is earned by calls', () => {
  const budget = createRetryBudget()
  while (budget.spend());
  for (let i = 0; i < 9; i++) budget.earn()
  assert.equal(budget.spend(), false)
  budget.earn()
  assert.deepEqual([budget.spend(), budget.spend()], [true, false])
})

test('a call aborted by its caller does not count as a failure', async () => {
  const client = open({ failureThreshold: 1, deadlineMs: 5_000 })
  simulator.faults.add({ kind: 'hang', times: 1 })
  const controller = new AbortController()
  const call = assertFails(client.document({ ...stores, signal: controller.signal }), 'back_office_unavailable')
  while (!simulator.ledger.calls.length) await delay(5)
  controller.abort()
  await call
  await client.document(stores)
})
