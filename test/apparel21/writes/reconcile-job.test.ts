import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { serve, startCommand, stopServer, waitUntil } from '../../support/processes.ts'
import { startProcessFixture, waitUntilHalted } from './processes.ts'

const { simulator, db, buildEnvironment, send, countTableRows, buildOrder, expireClaims } = await startProcessFixture()
const steady = await serve(['--no-demo'], buildEnvironment('steady'))
let workers = 0
const startWorker = (failpoint?: string) =>
  startCommand(
    ['worker'],
    buildEnvironment(`worker-${++workers}`, failpoint === undefined ? {} : { FAILPOINT: failpoint }),
  )
const countPlaced = () => simulator.ledger.findEffects('order created').length

/** Places orders, and as many whose responses are lost. Returns our numbers of orders and audit entries. */
async function leaveOrdersInDoubt(orders: number) {
  for (let i = 0; i < orders; i++) {
    // A successful call, so that the circuit breaker stays closed.
    assert.equal((await send(steady, '/orders', buildOrder(i))).status, 201)
    simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Orders', times: 1 })
    assert.equal((await send(steady, '/orders', buildOrder(i))).code, 'outcome_unknown')
  }
  await expireClaims(true)
  return [await countTableRows('sales_order'), await countTableRows('audit')] as const
}
/** Asserts that each order in doubt is stored once, with its audit entry. */
async function assertStoredOnce([before, lines]: readonly [number, number], orders: number) {
  assert.deepEqual(
    [await countTableRows('sales_order'), await countTableRows('audit')],
    [before + orders, lines + orders],
  )
  assert.deepEqual([countPlaced(), await countTableRows('reservation')], [before + orders, 0])
}
/** Expires the leases of jobs and writes, as if a worker had died long ago. */
async function expireLeases() {
  await db.run(sql`update job set leased_until = now(), due_at = now() where leased_until is not null`)
  await expireClaims(true)
}

for (const crashPoint of ['before_effect', 'after_effect', 'before_commit'])
  test(`a job killed at ${crashPoint} during reconciliation is replaced and stores once`, async () => {
    const counts = await leaveOrdersInDoubt(1)
    const victim = startWorker(crashPoint)
    assert.deepEqual(await victim.ended, { code: null, signal: 'SIGKILL' }, victim.err)
    assert.deepEqual([await countTableRows('intent'), await countTableRows('sales_order')], [1, counts[0]])
    await expireLeases()
    const next = startWorker()
    await waitUntil(async () => (await countTableRows('intent')) === 0, 'the write is reconciled', 20_000)
    await stopServer(next)
    await assertStoredOnce(counts, 1)
  })

test('a halted job stores nothing that another job has reconciled', async () => {
  const counts = await leaveOrdersInDoubt(1)
  const haltedWorker = startWorker('before_effect:stop')
  await waitUntilHalted(haltedWorker)
  await expireLeases()
  const next = startWorker()
  await waitUntil(async () => (await countTableRows('intent')) === 0, 'the write is reconciled', 20_000)
  haltedWorker.child.kill('SIGCONT')
  await stopServer(haltedWorker)
  await stopServer(next)
  await assertStoredOnce(counts, 1)
})

test('concurrent workers reconcile each order once', async () => {
  const counts = await leaveOrdersInDoubt(12)
  const workersInParallel = [startWorker(), startWorker(), startWorker()]
  await waitUntil(async () => (await countTableRows('intent')) === 0, 'all writes are reconciled', 30_000)
  for (const server of workersInParallel) await stopServer(server)
  await assertStoredOnce(counts, 12)
})
