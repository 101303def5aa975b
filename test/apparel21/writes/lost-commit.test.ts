import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startPostgresProxy } from '../../../scenarios/support/postgres-proxy.ts'
import { sql } from '../../../src/database/db.ts'
import { assertProblem } from '../../support/problem.ts'
import { assertReplay, post, withKey } from '../../support/write.ts'
import { count, shopOfTests } from '../shop.ts'
import { ordersOf } from './orders.ts'

const shop = await shopOfTests()
const { api, simulator } = shop
const { order, placed, rows } = await ordersOf(shop)
const proxy = await startPostgresProxy(api.database.connection)
const far = await shop.secondServer(proxy.connection)
after(() => proxy.close())

const open = async () => [await count(api, api, 'intent'), await count(api, api, 'reservation')]

for (const [label, commits] of [
  ['the claim', 1],
  ['effect and answer', 2],
] as const)
  test(`an order with a lost commit response of ${label} is placed once`, async () => {
    const [already, key, body] = [await rows(), withKey(), order()]
    simulator.faults.add({ kind: 'latency', applied: true, seconds: 0.3, path: '/Persons/*/Orders', times: 1 })
    const lost = commits === 1 ? proxy.loseCommit() : afterPlacing().then(proxy.loseCommit)
    const [response] = await Promise.all([post(far, '/orders', body, key), lost])
    assert.deepEqual([response.status, placed(), await rows()], [201, 1, already + 1], response.text)
    assertReplay(await post(api, '/orders', body, key), response)
    assert.deepEqual([placed(), await rows(), await open()], [1, already + 1, [0, 0]])
  })

test('a failed commit is not answered as success after a takeover', async () => {
  const [already, key, body] = [await rows(), withKey(), order()]
  simulator.faults.add({ kind: 'latency', applied: true, seconds: 0.3, path: '/Persons/*/Orders', times: 1 })
  const coming = post(far, '/orders', body, key)
  const disconnect = await afterPlacing().then(proxy.dropCommit)
  await api.db.run(sql`update intent set claimed_until = now() - interval '1 s'`)
  simulator.faults.add({ kind: 'status', status: 503, retryAfter: 0 })
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  disconnect()
  assertProblem(await coming, 'idempotency_in_progress', far.baseUrl)
  assert.deepEqual([placed(), await rows()], [1, already])
  simulator.faults.clear()
  assert.equal((await post(far, '/orders', body, key)).status, 201)
  assert.deepEqual([placed(), await rows(), await open()], [1, already + 1, [0, 0]])
})

/** Waits until the back office has the order. */
async function afterPlacing() {
  while (!simulator.ledger.callsTo({ method: 'POST', path: '/Persons/*/Orders' }).length)
    await new Promise(resolve => setTimeout(resolve, 5))
}
