import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startPostgresProxy } from '../../../scenarios/support/postgres-proxy.ts'
import { buildCustomer } from '../../support/customer-bodies.ts'
import { buildOrder, startOrderShop } from '../../support/order-shop.ts'
import { startTestApi, type TestResponse } from '../../support/service.ts'
import { getValidationId, newVoucher } from '../../support/voucher-shop.ts'
import { post, put, withKey } from '../../support/write.ts'

const { api } = await startOrderShop()
const proxy = await startPostgresProxy(api.database.connection)
const database = { ...api.database, connection: proxy.connection }
const proxied = await startTestApi({ sharedWith: { ...api, database }, environment: { RUN_JOBS: 'false' } })
after(async () => {
  await proxied.stop()
  proxy.close()
  await api.stop()
})

/**
 * Returns the number of round trips to the database: the minimum of several requests, because an account is sometimes
 * looked up again.
 */
async function countRoundTrips(send: () => Promise<TestResponse>, status: number) {
  const counts: number[] = []
  for (let i = 0; i < 5; i++) {
    const before = proxy.roundTrips()
    const response = await send()
    assert.equal(response.status, status, response.text)
    counts.push(proxy.roundTrips() - before)
  }
  return Math.min(...counts)
}

test('creating a customer takes at most five database round trips', async () => {
  assert.ok((await countRoundTrips(() => post(proxied, '/customers', buildCustomer(), withKey()), 201)) <= 5)
})

test('an order of three lines takes at most ten database round trips', async () => {
  const order = buildOrder(['HOOD-S', 'HOOD-M', 'TEE'].map(sku => ({ sku, quantity: 1 })))
  assert.ok((await countRoundTrips(() => post(proxied, '/orders', order, withKey()), 201)) <= 10)
})

test('locking a voucher takes at most five database round trips', async () => {
  const number = await newVoucher(api)
  const validationId = await getValidationId(api, number)
  const lock = () => put(proxied, `/vouchers/${number}/lock`, { validationId, lockSeconds: 60 }, withKey())
  assert.ok((await countRoundTrips(lock, 200)) <= 5)
})

test('a poll without changes takes one database round trip', async () => {
  await post(api, '/customers', buildCustomer())
  for (const path of [
    '/customers/search',
    '/products',
    '/inventory',
    '/inventory?sku=TEE',
    '/orders/transactions/search',
  ]) {
    const addQuery = (query: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`
    const { data, meta } = (await api.get(addQuery('updated_after=2000-01-01'))).json
    assert.ok(data.length > 0, path)
    const poll = () => proxied.get(addQuery(`updated_after=${meta.asOf}`))
    assert.deepEqual((await poll()).json.data, [], path)
    const trips = await countRoundTrips(poll, 200)
    // The SKU is looked up by its own statement.
    assert.equal(trips, path.includes('sku=') ? 2 : 1, path)
  }
})
