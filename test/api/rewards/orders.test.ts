import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  buildOrder,
  cancelReturn,
  createReturn,
  getCreatedRecord,
  joinRewards,
  placeOrder,
  startOrderShop,
} from '../../support/order-shop.ts'
import type { Caller } from '../../support/service.ts'
import { post } from '../../support/write.ts'

const { api, createShop } = await startOrderShop()
after(() => api.stop())

/** Creates a shop in which 50 points become a reward. Customer 65432 is a member, and 65433 isn't. */
async function createMemberShop() {
  const shop = await createShop()
  await joinRewards(api, shop, { autoRewardPointThreshold: 50, autoRewardValue: '5.00', pointsExpiryMonths: 12 })
  return shop
}

async function readBalances(caller: Caller) {
  const { data } = (await caller.get('/customers/65432/rewards')).json
  return [data.availablePoints, data.availableRewards, data.pointsToNextReward]
}

test('an order earns for its items; a partial return takes a share', async () => {
  const shop = await createMemberShop()
  const order = await placeOrder(shop, [
    { sku: 'HOOD-S', quantity: 1 },
    { sku: 'TEE', quantity: 1 },
  ])
  assert.deepEqual(await readBalances(shop), [39, '0.00', 11])
  getCreatedRecord(await createReturn(shop, order.id, { TEE: 1 }))
  // 10.00 of 39.99 is worth 9.75 of 39 points.
  assert.deepEqual(await readBalances(shop), [30, '0.00', 20])
  getCreatedRecord(await createReturn(shop, order.id, { 'HOOD-S': 1 }))
  assert.deepEqual(await readBalances(shop), [0, '0.00', 50])
})

test('a reward made from two orders is taken back with the second', async () => {
  const shop = await createMemberShop()
  await placeOrder(shop, [{ sku: 'HOOD-S', quantity: 1 }])
  const second = await placeOrder(shop, [{ sku: 'HOOD-M', quantity: 1 }])
  assert.deepEqual(await readBalances(shop), [12, '5.00', 38])
  getCreatedRecord(await createReturn(shop, second.id, { 'HOOD-M': 1 }))
  assert.deepEqual(await readBalances(shop), [29, '0.00', 21])
})

test('an order replayed with its key earns once', async () => {
  const shop = await createMemberShop()
  const body = buildOrder([{ sku: 'TEE', quantity: 2 }])
  for (const replayed of [undefined, 'true']) {
    const response = await post(shop, '/orders', body, { 'idempotency-key': 'once' })
    assert.deepEqual([response.status, response.headers['idempotent-replayed']], [201, replayed])
  }
  assert.deepEqual(await readBalances(shop), [20, '0.00', 30])
})

test('a rejected order earns nothing', async () => {
  const shop = await createMemberShop()
  const rejected = await post(
    shop,
    '/orders',
    buildOrder([{ sku: 'TEE', quantity: 2 }], { payments: [{ gateway: 'paypal', amount: '1.00' }] }),
  )
  assert.equal(rejected.status, 422)
  assert.deepEqual(await readBalances(shop), [0, '0.00', 50])
})

test('a customer without membership buys and returns without points', async () => {
  const shop = await createMemberShop()
  const order = await placeOrder(shop, [{ sku: 'TEE', quantity: 1 }], { customerId: '65433' })
  getCreatedRecord(await createReturn(shop, order.id, { TEE: 1 }))
  assert.equal((await shop.get('/customers/65433/rewards')).status, 404)
  assert.deepEqual(await readBalances(shop), [0, '0.00', 50])
})

test('twenty concurrent orders earn the same as sequential ones', async () => {
  const shop = await createMemberShop()
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => post(shop, '/orders', buildOrder([{ sku: 'HOOD-M', quantity: 1 }]))),
  )
  assert.deepEqual(new Set(responses.map(response => response.status)), new Set([201]))
  // 20 × 33 points make 13 rewards of 50, and 10 points remain.
  assert.deepEqual(await readBalances(shop), [10, '65.00', 40])
  const orders = responses.map(response => getCreatedRecord(response).id)
  const returnResponses = await Promise.all(orders.map(id => createReturn(shop, id, { 'HOOD-M': 1 })))
  assert.deepEqual(new Set(returnResponses.map(response => response.status)), new Set([201]))
  assert.deepEqual(await readBalances(shop), [0, '0.00', 50])
})

test('item payments earn rewards, freight does not', async () => {
  const shop = await createShop()
  await joinRewards(api, shop)
  await placeOrder(shop, [{ sku: 'TEE', quantity: 3, discounts: [{ type: 'x', amount: '5.00' }] }], {
    freight: '9.00',
    payments: [{ gateway: 'visa', amount: '34.00' }],
  })
  assert.equal((await shop.get('/customers/65432/rewards')).json.data.availablePoints, 25)
})

test('a return takes back the earned points and its cancellation restores them', async () => {
  const shop = await createShop()
  await joinRewards(api, shop)
  const getPoints = async () => (await shop.get('/customers/65432/rewards')).json.data.availablePoints
  const { id } = await placeOrder(shop, [{ sku: 'TEE', quantity: 3 }])
  assert.equal(await getPoints(), 30)
  const { returnNumber } = getCreatedRecord(await createReturn(shop, id, { TEE: 2 }))
  assert.equal(await getPoints(), 10)
  await cancelReturn(api, shop, returnNumber)
  assert.equal(await getPoints(), 30)
})
