import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../../src/database/db.ts'
import { serve, startCommand, stopServer, waitUntil } from '../../support/processes.ts'
import { startProcessFixture, type WriteResponse } from './processes.ts'

/** Number of clients and duration. For more load: `LOAD_CLIENTS=300 LOAD_SECONDS=30`. */
const clients = Number(process.env.LOAD_CLIENTS ?? 64)
const seconds = Number(process.env.LOAD_SECONDS ?? 5)
/** The longest time that a transaction can be idle because our process is busy. If it waited for a back office, it would take 10 s. */
const maxIdleMs = 2_000

const { simulator, db, neighbour, buildEnvironment, send, countTableRows, buildOrder, buildPerson, expireClaims } =
  await startProcessFixture()
const api = await serve(['--no-demo'], buildEnvironment('api'))

/** Returns the longest time, in ms, that any connection was idle in a transaction until `isOver`. Polls every 20 ms. */
async function measureLongestIdle(isOver: () => boolean) {
  let longest = 0
  let polls = 0
  for (; !isOver(); polls++) {
    const row = await db.row<{ ms: number }>(sql`
      select coalesce(max(extract(epoch from clock_timestamp() - state_change)) * 1000, 0)::float8 as ms
        from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`)
    longest = Math.max(longest, row?.ms ?? 0)
    await delay(20)
  }
  assert.ok(polls > 20, `${polls}`)
  return longest
}

test(`a slow or silent back office with ${clients} clients affects nothing else`, async () => {
  const path = '/Persons/*/Orders'
  simulator.faults.add({ kind: 'latency', method: 'POST', path, seconds: 0.4 })
  simulator.faults.add({ kind: 'hang', method: 'POST', path, probability: 0.02 })
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path, probability: 0.03 })
  const end = performance.now() + seconds * 1_000
  const responses: WriteResponse[] = []
  const neighbourCalls: { response: WriteResponse; ms: number }[] = []
  let isOver = false
  const idle = measureLongestIdle(() => isOver)
  await Promise.all([
    ...Array.from({ length: clients }, async (_, i) => {
      while (performance.now() < end) {
        const response = await send(api, '/orders', buildOrder(i))
        responses.push(response)
        if (response.status === 503) await delay(1_000 * Number(response.retryAfter ?? 1))
      }
    }),
    ...Array.from({ length: 4 }, async () => {
      while (performance.now() < end) {
        const from = performance.now()
        const response = await send(api, '/customers', buildPerson(), { credentials: neighbour })
        neighbourCalls.push({ response, ms: performance.now() - from })
        await delay(20)
      }
    }),
  ])
  isOver = true
  assert.ok((await idle) < maxIdleMs, `${await idle} ms idle in a transaction`)

  const created = responses.filter(({ status }) => status === 201).length
  const wrong = responses.filter(
    ({ status, code, retryAfter }) =>
      status !== 201 && !(status === 503 && Number(retryAfter) > 0) && !(status === 504 && code === 'outcome_unknown'),
  )
  assert.deepEqual(wrong, [])
  assert.ok(created >= clients / 2, `${created} orders`)
  assert.ok(responses.some(({ status }) => status === 504))
  assert.deepEqual([...new Set(neighbourCalls.map(({ response }) => response.status))], [201])
  const slowest =
    neighbourCalls.map(({ ms }) => ms).sort((a, b) => a - b)[Math.floor(neighbourCalls.length * 0.95)] ?? 0
  assert.ok(slowest < 2_000, `the neighbour waited ${slowest} ms`)

  simulator.faults.clear()
  const worker = startCommand(['worker'], buildEnvironment('worker'))
  await waitUntil(
    async () => {
      await expireClaims(true)
      await delay(500)
      return (await countTableRows('intent')) === 0
    },
    'all writes are reconciled',
    60_000,
  )
  await stopServer(worker)
  const placed = simulator.ledger.findEffects('order created').length
  assert.deepEqual([await countTableRows('reservation'), await countTableRows('sales_order')], [0, placed])
  assert.ok(placed > created, 'the job must have stored some orders')
})
