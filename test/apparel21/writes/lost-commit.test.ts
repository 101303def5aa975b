import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startPostgresProxy } from '../../../scenarios/support/postgres-proxy.ts'
import { sql } from '../../../src/database/db.ts'
import { assertProblem } from '../../support/problem.ts'
import { assertReplay, post, withKey } from '../../support/write.ts'
import { countRows, startShopFixture } from '../shop.ts'
import { createOrderFixture } from './orders.ts'

const shop = await startShopFixture()
const { api, simulator } = shop
const { buildOrder, countPlaced, countOrders } = await createOrderFixture(shop)
const proxy = await startPostgresProxy(api.database.connection)
const proxiedServer = await shop.startSecondServer(proxy.connection)
after(() => proxy.close())

const countOpen = async () => [await countRows(api, api, 'intent'), await countRows(api, api, 'reservation')]

for (const [label, commits] of [
  ['the claim', 1],
  ['effect and response', 2],
] as const)
  test(`an order with a lost commit response of ${label} is placed once`, async () => {
    const [before, key, body] = [await countOrders(), withKey(), buildOrder()]
    simulator.faults.add({ kind: 'latency', applied: true, seconds: 0.3, path: '/Persons/*/Orders', times: 1 })
    const lost = commits === 1 ? proxy.loseCommit() : waitUntilPlaced().then(proxy.loseCommit)
    const [response] = await Promise.all([post(proxiedServer, '/orders', body, key), lost])
    assert.deepEqual([response.status, countPlaced(), await countOrders()], [201, 1, before + 1], response.text)
    assertReplay(await post(api, '/orders', body, key), response)
    assert.deepEqual([countPlaced(), await countOrders(), await countOpen()], [1, before + 1, [0, 0]])
  })

test('a failed commit is not reported as success after a takeover', async () => {
  const [before, key, body] = [await countOrders(), withKey(), buildOrder()]
  simulator.faults.add({ kind: 'latency', applied: true, seconds: 0.3, path: '/Persons/*/Orders', times: 1 })
  const pending = post(proxiedServer, '/orders', body, key)
  const disconnect = await waitUntilPlaced().then(proxy.dropCommit)
  await api.db.run(sql`update intent set claimed_until = now() - interval '1 s'`)
  simulator.faults.add({ kind: 'status', status: 503, retryAfter: 0 })
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  disconnect()
  assertProblem(await pending, 'idempotency_in_progress', proxiedServer.baseUrl)
  assert.deepEqual([countPlaced(), await countOrders()], [1, before])
  simulator.faults.clear()
  assert.equal((await post(proxiedServer, '/orders', body, key)).status, 201)
  assert.deepEqual([countPlaced(), await countOrders(), await countOpen()], [1, before + 1, [0, 0]])
})

/** Waits until the back office has received the order. */
async function waitUntilPlaced() {
  while (!simulator.ledger.findCalls({ method: 'POST', path: '/Persons/*/Orders' }).length)
    await new Promise(resolve => setTimeout(resolve, 5))
}
