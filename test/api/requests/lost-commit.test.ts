import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startPostgresProxy } from '../../../scenarios/support/postgres-proxy.ts'
import { raw, sql } from '../../../src/database/db.ts'
import { buildCustomer } from '../../support/customer-bodies.ts'
import { buildOrder, startOrderShop } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import { startTestApi, type TestResponse } from '../../support/service.ts'
import { assertReplay, post, withKey } from '../../support/write.ts'

const { api } = await startOrderShop()
const proxy = await startPostgresProxy(api.database.connection)
const far = await startTestApi({
  sharedWith: { ...api, database: { ...api.database, connection: proxy.connection } },
})
after(async () => {
  await far.stop()
  proxy.close()
  await api.stop()
})

const rows = (table: string) => api.db.run(sql`select from ${raw(table)} where service_id = ${api.service.id}`)

/** Returns the response to a write whose transaction is committed, although the confirmation is lost. */
async function unheard(write: () => Promise<TestResponse>) {
  const lost = proxy.loseCommit()
  const [response] = await Promise.all([write(), lost])
  return response
}

for (const [table, path, body] of [
  ['customer', '/customers', buildCustomer],
  ['sales_order', '/orders', () => buildOrder([{ sku: 'HOOD-S', quantity: 1 }])],
] as const) {
  test(`a ${table} with a lost commit response is written and answered once`, async () => {
    const [already, key, content] = [await rows(table), withKey(), body()]
    const response = await unheard(() => post(far, path, content, key))
    assert.deepEqual([response.status, await rows(table)], [201, already + 1], response.text)
    assertReplay(await post(api, path, content, key), response)
    assert.equal(await rows(table), already + 1)
  })

  test(`a ${table} without a key is written once with unknown outcome`, async () => {
    const already = await rows(table)
    assertProblem(await unheard(() => post(far, path, body())), 'outcome_unknown', far.baseUrl)
    assert.equal(await rows(table), already + 1)
  })
}

test('a log entry with a lost write response is counted once', async () => {
  const caller = await far.createService()
  const counted = async () =>
    await api.db.row<{ answered: number; lines: number }>(sql`
      select sum(answered)::integer as answered, (select count(*)::integer from request_log where service_id = ${caller.service.id}) as lines
        from request_minute where service_id = ${caller.service.id}`)
  const lost = proxy.loseResponse('never-heard', 'INSERT')
  await caller.get('/stores', { 'x-request-id': 'never-heard' })
  await lost
  assert.deepEqual(await counted(), { answered: 1, lines: 1 })
  await caller.get('/stores')
  await waitUntil(async () => (await counted())?.lines === 2, 'the next line is there', 30_000)
  assert.deepEqual(await counted(), { answered: 2, lines: 2 })
})
