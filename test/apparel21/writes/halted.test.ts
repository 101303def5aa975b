import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../../src/database/db.ts'
import { type Environment, serve, startCommand, stopServer, waitUntil } from '../../support/processes.ts'
import { halted, shopOfProcesses } from './processes.ts'

const { simulator, db, environmentOf, send, rows, order, claimsRunOut } = await shopOfProcesses()
const steady = await serve(['--no-demo'], environmentOf('steady'))
const placed = () => simulator.ledger.effectsOf('order created').length
const open = async () => [await rows('intent'), await rows('reservation')]
const doomed = (failpoint: string, more: Environment = {}) =>
  serve(['--no-demo'], environmentOf(failpoint.replace(':', '-'), { FAILPOINT: failpoint, ...more }))

for (const crashPoint of ['after_claim', 'after_upstream'])
  test(`a process halted at ${crashPoint} learns its result from another process`, async () => {
    simulator.ledger.clear()
    const [key, body, before, lines] = [`halted ${crashPoint}`, order(), await rows('sales_order'), await rows('audit')]
    const late = await doomed(`${crashPoint}:stop`)
    const coming = send(late, '/orders', body, { key })
    await halted(late)
    const early = await send(steady, '/orders', body, { key })
    assert.deepEqual([early.status, early.code], [409, 'idempotency_in_progress'], 'while its claim lasts')
    await claimsRunOut()
    const response = await send(steady, '/orders', body, { key })
    assert.equal(response.status, 201, response.code)
    late.child.kill('SIGCONT')
    const { status, data } = await coming
    assert.deepEqual([status, data], [201, response.data])
    assert.deepEqual([placed(), await rows('sales_order'), await rows('audit')], [1, before + 1, lines + 1])
    assert.deepEqual(await open(), [0, 0])
    await stopServer(late)
  })

test('a repeat during the commit gets its response without a second effect', async () => {
  simulator.ledger.clear()
  const [key, body, before, lines] = [
    'halted before its commit',
    order(),
    await rows('sales_order'),
    await rows('audit'),
  ]
  const late = await doomed('before_commit:stop')
  const coming = send(late, '/orders', body, { key })
  await halted(late)
  const repeated = send(steady, '/orders', body, { key })
  const waits = async () =>
    (await db.row(
      sql`select true as waits from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' limit 1`,
    )) !== undefined
  await waitUntil(waits, 'the repeat waits for the end of the first', 10_000)
  late.child.kill('SIGCONT')
  const [first, again] = [await coming, await repeated]
  assert.deepEqual([first.status, again.status, again.data], [201, 201, first.data])
  assert.deepEqual([placed(), await rows('sales_order'), await rows('audit')], [1, before + 1, lines + 1])
  assert.deepEqual(await open(), [0, 0])
  await stopServer(late)
})

test('a process halted during reconciliation stores nothing twice', async () => {
  simulator.ledger.clear()
  const [before, lines] = [await rows('sales_order'), await rows('audit')]
  const late = await doomed('after_upstream:stop')
  const coming = send(late, '/orders', order())
  await halted(late)
  await claimsRunOut(true)
  const worker = startCommand(['worker'], environmentOf('worker'))
  await waitUntil(async () => (await rows('intent')) === 0, 'the job reconciles the write', 20_000)
  await stopServer(worker)
  assert.equal(await rows('sales_order'), before + 1)
  late.child.kill('SIGCONT')
  const { status, code } = await coming
  assert.deepEqual([status, code], [504, 'outcome_unknown'])
  assert.deepEqual([placed(), await rows('sales_order'), await rows('audit')], [1, before + 1, lines + 1])
  assert.deepEqual(await open(), [0, 0])
  await stopServer(late)
})

test('a process halted longer than its lease makes no back office call', async () => {
  simulator.ledger.clear()
  const before = await rows('sales_order')
  const late = await doomed('after_claim:stop')
  const coming = send(late, '/orders', order(), { key: 'a whole claim' })
  await halted(late)
  await delay(34_000)
  late.child.kill('SIGCONT')
  const { status, code } = await coming
  assert.deepEqual([status, code, placed()], [503, 'back_office_unavailable', 0], 'too little of it is left')
  assert.deepEqual(await open(), [0, 0])
  const again = await send(late, '/orders', order(), { key: 'a whole claim' })
  assert.deepEqual([again.status, placed(), await rows('sales_order')], [201, 1, before + 1])
  await stopServer(late)
})
