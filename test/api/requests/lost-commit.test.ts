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
const proxied = await startTestApi({
  sharedWith: { ...api, database: { ...api.database, connection: proxy.connection } },
})
after(async () => {
  await proxied.stop()
  proxy.close()
  await api.stop()
})

const countRows = (table: string) => api.db.run(sql`select from ${raw(table)} where service_id = ${api.service.id}`)

/** Returns the response to a write whose transaction is committed, although the confirmation is lost. */
async function writeWithLostCommit(write: () => Promise<TestResponse>) {
  const lost = proxy.loseCommit()
  const [response] = await Promise.all([write(), lost])
  return response
}

for (const [table, path, body] of [
  ['customer', '/customers', buildCustomer],
  ['sales_order', '/orders', () => buildOrder([{ sku: 'HOOD-S', quantity: 1 }])],
] as const) {
  test(`a ${table} with a lost commit response is written and answered once`, async () => {
    const [countBefore, key, content] = [await countRows(table), withKey(), body()]
    const response = await writeWithLostCommit(() => post(proxied, path, content, key))
    assert.deepEqual([response.status, await countRows(table)], [201, countBefore + 1], response.text)
    assertReplay(await post(api, path, content, key), response)
    assert.equal(await countRows(table), countBefore + 1)
  })

  test(`a ${table} without a key is written once with unknown outcome`, async () => {
    const countBefore = await countRows(table)
    assertProblem(await writeWithLostCommit(() => post(proxied, path, body())), 'outcome_unknown', proxied.baseUrl)
    assert.equal(await countRows(table), countBefore + 1)
  })
}

test('a log entry with a lost write response is counted once', async () => {
  const caller = await proxied.createService()
  const readCounts = async () =>
    await api.db.row<{ answered: number; lines: number }>(sql`
      select sum(answered)::integer as answered, (select count(*)::integer from request_log where service_id = ${caller.service.id}) as lines
        from request_minute where service_id = ${caller.service.id}`)
  const lost = proxy.loseResponse('never-heard', 'INSERT')
  await caller.get('/stores', { 'x-request-id': 'never-heard' })
  await lost
  assert.deepEqual(await readCounts(), { answered: 1, lines: 1 })
  await caller.get('/stores')
  await waitUntil(async () => (await readCounts())?.lines === 2, 'the next entry is stored', 30_000)
  assert.deepEqual(await readCounts(), { answered: 2, lines: 2 })
})
