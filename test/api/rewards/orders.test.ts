import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { upsertPrograms, upsertRewardAccounts } from '../../../src/store/rewards/rewards.ts'
import { fillShop, made, orderOf, placed, returnOf } from '../../support/order-shop.ts'
import { type Caller, startTestService, type TestService } from '../../support/service.ts'
import { post } from '../../support/write.ts'

let api: TestService
before(async () => {
  api = await startTestService()
})
after(() => api.stop())

/** A shop with a programme of a point for each dollar, and 50 points for a reward; 65432 is a member, 65433 is not. */
async function memberShop() {
  const shop = await api.tenant({ currency: 'AUD' })
  await fillShop(api.db, shop.service)
  const tier = {
    programId: '1',
    tierId: '1',
    name: 'Fledgling',
    sequence: 1,
    accrualSpend: '1.00',
    accrualPoints: 1,
    autoRewardPointThreshold: 50,
    autoRewardValue: '5.00',
    pointsExpiryMonths: 12,
  }
  await upsertPrograms(api.db, shop.service, [{ program: { programId: '1', name: 'Retail Rewards' }, tier }])
  await upsertRewardAccounts(api.db, shop.service, [{ id: 'a1', customerId: '65432', programId: '1', tierId: '1' }])
  return shop
}

async function balances(shop: Caller) {
  const { data } = (await shop.get('/customers/65432/rewards')).json
  return [data.availablePoints, data.availableRewards, data.pointsToNextReward]
}

test('an order earns for what its goods cost, and a return of some takes their share back', async () => {
  const shop = await memberShop()
  const order = await placed(shop, [
    { sku: 'HOOD-S', quantity: 1 },
    { sku: 'TEE', quantity: 1 },
  ])
  assert.deepEqual(await balances(shop), [39, '0.00', 11])
  made(await post(shop, `/orders/${order.id}/returns`, returnOf({ TEE: 1 })))
  // 10.00 of 39.99 are 9.75 of 39 points.
  assert.deepEqual(await balances(shop), [30, '0.00', 20])
  made(await post(shop, `/orders/${order.id}/returns`, returnOf({ 'HOOD-S': 1 })))
  assert.deepEqual(await balances(shop), [0, '0.00', 50])
})

test('a reward is made of the points of two orders, and goes back with the second', async () => {
  const shop = await memberShop()
  await placed(shop, [{ sku: 'HOOD-S', quantity: 1 }])
  const second = await placed(shop, [{ sku: 'HOOD-M', quantity: 1 }])
  assert.deepEqual(await balances(shop), [12, '5.00', 38])
  made(await post(shop, `/orders/${second.id}/returns`, returnOf({ 'HOOD-M': 1 })))
  assert.deepEqual(await balances(shop), [29, '0.00', 21])
})

test('an order that is asked for again with its key earns once', async () => {
  const shop = await memberShop()
  const body = orderOf([{ sku: 'TEE', quantity: 2 }])
  for (const replayed of [undefined, 'true']) {
    const answer = await post(shop, '/orders', body, { 'idempotency-key': 'once' })
    assert.deepEqual([answer.status, answer.headers['idempotent-replayed']], [201, replayed])
  }
  assert.deepEqual(await balances(shop), [20, '0.00', 30])
})

test('an order that is refused earns nothing', async () => {
  const shop = await memberShop()
  const refused = await post(
    shop,
    '/orders',
    orderOf([{ sku: 'TEE', quantity: 2 }], { payments: [{ gateway: 'paypal', amount: '1.00' }] }),
  )
  assert.equal(refused.status, 422)
  assert.deepEqual(await balances(shop), [0, '0.00', 50])
})

test('who is no member buys and returns without points', async () => {
  const shop = await memberShop()
  const order = await placed(shop, [{ sku: 'TEE', quantity: 1 }], { customerId: '65433' })
  made(await post(shop, `/orders/${order.id}/returns`, returnOf({ TEE: 1 })))
  assert.equal((await shop.get('/customers/65433/rewards')).status, 404)
  assert.deepEqual(await balances(shop), [0, '0.00', 50])
})

test('twenty orders of one member at once earn what they earn one after the other', async () => {
  const shop = await memberShop()
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => post(shop, '/orders', orderOf([{ sku: 'HOOD-M', quantity: 1 }]))),
  )
  assert.deepEqual(new Set(answers.map(answer => answer.status)), new Set([201]))
  // 20 × 33 points: 13 rewards of 50, and 10 left.
  assert.deepEqual(await balances(shop), [10, '65.00', 40])
  const orders = answers.map(answer => made(answer).id)
  const back = await Promise.all(orders.map(id => post(shop, `/orders/${id}/returns`, returnOf({ 'HOOD-M': 1 }))))
  assert.deepEqual(new Set(back.map(answer => answer.status)), new Set([201]))
  assert.deepEqual(await balances(shop), [0, '0.00', 50])
})
