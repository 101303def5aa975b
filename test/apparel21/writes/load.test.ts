import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../../src/database/db.ts'
import { serve, startCommand, stopServer, waitUntil } from '../../support/processes.ts'
import { type Answered, shopOfProcesses } from './processes.ts'

/** How many ask at once, and for how long; longer: `LOAD_CLIENTS=300 LOAD_SECONDS=30`. */
const clients = Number(process.env.LOAD_CLIENTS ?? 64)
const seconds = Number(process.env.LOAD_SECONDS ?? 5)
/** Milliseconds that a transaction may wait for a busy process of ours; those that a back office hangs on would wait for ten seconds. */
const maxIdleMs = 2_000

const { simulator, db, neighbour, environmentOf, send, rows, order, person, claimsRunOut } = await shopOfProcesses()
const api = await serve(['--no-demo'], environmentOf('api'))

/** Looks time and again how long anybody has been idle in a transaction, until it is over. */
async function longestIdle(isOver: () => boolean) {
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
  simulator.faults.add({ kind: 'lost-answer', method: 'POST', path, probability: 0.03 })
  const end = performance.now() + seconds * 1_000
  const responses: Answered[] = []
  const neighbourCalls: { response: Answered; ms: number }[] = []
  let isOver = false
  const idle = longestIdle(() => isOver)
  await Promise.all([
    ...Array.from({ length: clients }, async (_, i) => {
      while (performance.now() < end) {
        const response = await send(api, '/orders', order(i))
        responses.push(response)
        if (response.status === 503) await delay(1_000 * Number(response.retryAfter ?? 1))
      }
    }),
    ...Array.from({ length: 4 }, async () => {
      while (performance.now() < end) {
        const from = performance.now()
        const response = await send(api, '/customers', person(), { by: neighbour })
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
  assert.ok(slowest < 2_000, `a neighbour waited ${slowest} ms`)

  simulator.faults.clear()
  const worker = startCommand(['worker'], environmentOf('worker'))
  await waitUntil(
    async () => {
      await claimsRunOut(true)
      await delay(500)
      return (await rows('intent')) === 0
    },
    'all writes are reconciled',
    60_000,
  )
  await stopServer(worker)
  const placed = simulator.ledger.effectsOf('order created').length
  assert.deepEqual([await rows('reservation'), await rows('sales_order')], [0, placed])
  assert.ok(placed > created, 'some were stored by the job')
})
