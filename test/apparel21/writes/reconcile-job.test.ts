import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { serve, startCommand, stopServer, waitUntil } from '../../support/processes.ts'
import { halted, shopOfProcesses } from './processes.ts'

const { simulator, db, environmentOf, send, rows, order, claimsRunOut } = await shopOfProcesses()
const steady = await serve(['--no-demo'], environmentOf('steady'))
let workers = 0
const worker = (failpoint?: string) =>
  startCommand(
    ['worker'],
    environmentOf(`worker-${++workers}`, failpoint === undefined ? {} : { FAILPOINT: failpoint }),
  )
const placed = () => simulator.ledger.effectsOf('order created').length

/** Leaves so many orders open that the back office has; returns how many there are here. */
async function leave(orders: number) {
  for (let i = 0; i < orders; i++) {
    // A successful call, so that the circuit breaker stays closed.
    assert.equal((await send(steady, '/orders', order(i))).status, 201)
    simulator.faults.add({ kind: 'lost-answer', method: 'POST', path: '/Persons/*/Orders', times: 1 })
    assert.equal((await send(steady, '/orders', order(i))).code, 'outcome_unknown')
  }
  await claimsRunOut(true)
  return [await rows('sales_order'), await rows('audit')] as const
}
/** Asserts that each of them is stored once, with its audit line. */
async function assertStoredOnce([before, lines]: readonly [number, number], orders: number) {
  assert.deepEqual([await rows('sales_order'), await rows('audit')], [before + orders, lines + orders])
  assert.deepEqual([placed(), await rows('reservation')], [before + orders, 0])
}
/** As when all that a worker had taken, and its claims, have run out since it died. */
async function leasesRunOut() {
  await db.run(sql`update job set leased_until = now(), due_at = now() where leased_until is not null`)
  await claimsRunOut(true)
}

for (const crashPoint of ['before_effect', 'after_effect', 'before_commit'])
  test(`a job killed at ${crashPoint} during reconciliation is replaced and stores once`, async () => {
    const counts = await leave(1)
    const victim = worker(crashPoint)
    assert.deepEqual(await victim.ended, { code: null, signal: 'SIGKILL' }, victim.err)
    assert.deepEqual([await rows('intent'), await rows('sales_order')], [1, counts[0]])
    await leasesRunOut()
    const next = worker()
    await waitUntil(async () => (await rows('intent')) === 0, 'the write is reconciled', 20_000)
    await stopServer(next)
    await assertStoredOnce(counts, 1)
  })

test('a halted job stores nothing that another job has reconciled', async () => {
  const counts = await leave(1)
  const late = worker('before_effect:stop')
  await halted(late)
  await leasesRunOut()
  const next = worker()
  await waitUntil(async () => (await rows('intent')) === 0, 'the write is reconciled', 20_000)
  late.child.kill('SIGCONT')
  await stopServer(late)
  await stopServer(next)
  await assertStoredOnce(counts, 1)
})

test('concurrent workers reconcile each order once', async () => {
  const counts = await leave(12)
  const several = [worker(), worker(), worker()]
  await waitUntil(async () => (await rows('intent')) === 0, 'all writes are reconciled', 30_000)
  for (const server of several) await stopServer(server)
  await assertStoredOnce(counts, 12)
})
