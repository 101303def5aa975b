import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { waitForBlockedConnections } from '../../support/postgres/hold-locks.ts'
import { type Environment, serve, startCommand, stopServer, waitUntil } from '../../support/processes.ts'
import { startProcessFixture, waitUntilHalted } from './processes.ts'

const { simulator, db, buildEnvironment, send, countTableRows, buildOrder, expireClaims } = await startProcessFixture()
const steady = await serve(['--no-demo'], buildEnvironment('steady'))
const countPlaced = () => simulator.ledger.findEffects('order created').length
const countOpen = async () => [await countTableRows('intent'), await countTableRows('reservation')]
const serveWithFailpoint = (failpoint: string, more: Environment = {}) =>
  serve(['--no-demo'], buildEnvironment(failpoint.replace(':', '-'), { FAILPOINT: failpoint, ...more }))

for (const crashPoint of ['after_claim', 'after_upstream'])
  test(`a process halted at ${crashPoint} returns the result of another process`, async () => {
    simulator.ledger.clear()
    const [key, body, before, lines] = [
      `halted ${crashPoint}`,
      buildOrder(),
      await countTableRows('sales_order'),
      await countTableRows('audit'),
    ]
    const haltedServer = await serveWithFailpoint(`${crashPoint}:stop`)
    const pending = send(haltedServer, '/orders', body, { key })
    await waitUntilHalted(haltedServer)
    const early = await send(steady, '/orders', body, { key })
    assert.deepEqual(
      [early.status, early.code],
      [409, 'idempotency_in_progress'],
      'the claim of the halted process has not expired',
    )
    await expireClaims()
    const response = await send(steady, '/orders', body, { key })
    assert.equal(response.status, 201, response.code)
    haltedServer.child.kill('SIGCONT')
    const { status, data } = await pending
    assert.deepEqual([status, data], [201, response.data])
    assert.deepEqual(
      [countPlaced(), await countTableRows('sales_order'), await countTableRows('audit')],
      [1, before + 1, lines + 1],
    )
    assert.deepEqual(await countOpen(), [0, 0])
    await stopServer(haltedServer)
  })

test('a repeat during the commit gets its response without a second effect', async () => {
  simulator.ledger.clear()
  const [key, body, before, lines] = [
    'halted before its commit',
    buildOrder(),
    await countTableRows('sales_order'),
    await countTableRows('audit'),
  ]
  const haltedServer = await serveWithFailpoint('before_commit:stop')
  const pending = send(haltedServer, '/orders', body, { key })
  await waitUntilHalted(haltedServer)
  const repeated = send(steady, '/orders', body, { key })
  await waitForBlockedConnections({ db })
  haltedServer.child.kill('SIGCONT')
  const [first, again] = [await pending, await repeated]
  assert.deepEqual([first.status, again.status, again.data], [201, 201, first.data])
  assert.deepEqual(
    [countPlaced(), await countTableRows('sales_order'), await countTableRows('audit')],
    [1, before + 1, lines + 1],
  )
  assert.deepEqual(await countOpen(), [0, 0])
  await stopServer(haltedServer)
})

test('a process halted during reconciliation stores nothing twice', async () => {
  simulator.ledger.clear()
  const [before, lines] = [await countTableRows('sales_order'), await countTableRows('audit')]
  const haltedServer = await serveWithFailpoint('after_upstream:stop')
  const pending = send(haltedServer, '/orders', buildOrder())
  await waitUntilHalted(haltedServer)
  await expireClaims(true)
  const worker = startCommand(['worker'], buildEnvironment('worker'))
  await waitUntil(async () => (await countTableRows('intent')) === 0, 'the job reconciles the write', 20_000)
  await stopServer(worker)
  assert.equal(await countTableRows('sales_order'), before + 1)
  haltedServer.child.kill('SIGCONT')
  const { status, code } = await pending
  assert.deepEqual([status, code], [504, 'outcome_unknown'])
  assert.deepEqual(
    [countPlaced(), await countTableRows('sales_order'), await countTableRows('audit')],
    [1, before + 1, lines + 1],
  )
  assert.deepEqual(await countOpen(), [0, 0])
  await stopServer(haltedServer)
})

test('a process halted longer than its lease makes no back office call', async () => {
  simulator.ledger.clear()
  const before = await countTableRows('sales_order')
  const haltedServer = await serveWithFailpoint('after_claim:stop')
  const pending = send(haltedServer, '/orders', buildOrder(), { key: 'halted for a whole lease' })
  await waitUntilHalted(haltedServer)
  await delay(34_000)
  haltedServer.child.kill('SIGCONT')
  const { status, code } = await pending
  assert.deepEqual(
    [status, code, countPlaced()],
    [503, 'back_office_unavailable', 0],
    'too little of the lease is left for a call',
  )
  assert.deepEqual(await countOpen(), [0, 0])
  const again = await send(haltedServer, '/orders', buildOrder(), { key: 'halted for a whole lease' })
  assert.deepEqual([again.status, countPlaced(), await countTableRows('sales_order')], [201, 1, before + 1])
  await stopServer(haltedServer)
})
