import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRejected } from '../../support/customer-bodies.ts'
import { getCreatedRecord } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { withKey } from '../../support/write.ts'
import { startShopFixture } from '../shop.ts'
import { createOrderFixture } from './orders.ts'
import { createReturnFixture } from './returns.ts'

const shop = await startShopFixture()
const { api, simulator } = shop
const shopper = await createOrderFixture(shop)
const { tee, hat } = shopper
const { placeOrder, postReturn, countUpstreamReturns, getReturnable, getLastReturn } = createReturnFixture(
  shop,
  shopper,
)

test('items already returned another way cannot be returned again', async () => {
  const order = await placeOrder({ [tee.sku]: 2, [hat.sku]: 1 })
  const upstreamOrder = simulator.state.orders.get(Number(order.id)) ?? assert.fail()
  for (const line of upstreamOrder.lines) if (line.skuId === Number(tee.sku)) line.status = 'Returned'
  assertRejected(api, await postReturn(order.id, { [tee.sku]: 1 }), 'quantity_exceeds_returnable', '/lines/0/quantity')
  getCreatedRecord(await postReturn(order.id, { [hat.sku]: 1 }))
  // The back office reports our own returns in the same way once it has received them.
  const ownOrder = await placeOrder({ [tee.sku]: 2 })
  getCreatedRecord(await postReturn(ownOrder.id, { [tee.sku]: 1 }))
  simulator.change({ kind: 'receive-return', id: getLastReturn().id })
  getCreatedRecord(await postReturn(ownOrder.id, { [tee.sku]: 1 }))
})

test('a lost return whose lines are already marked is found later', async () => {
  for (const finish of ['repeat', 'recovery'] as const) {
    simulator.ledger.clear()
    const order = await placeOrder({ [tee.sku]: 2, [hat.sku]: 1 })
    const key = withKey()
    simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Returns', times: 1 })
    assertProblem(await postReturn(order.id, { [tee.sku]: 2 }, {}, key), 'outcome_unknown', api.baseUrl)
    simulator.change({ kind: 'receive-return', id: getLastReturn().id })
    if (finish === 'recovery') await shop.recoverWrites()
    const record = getCreatedRecord(await postReturn(order.id, { [tee.sku]: 2 }, {}, key))
    assert.deepEqual([record.returnNumber, countUpstreamReturns()], [getLastReturn().number, 1], finish)
    assert.deepEqual(await getReturnable(order.id), [
      { sku: tee.sku, sold: 2, returned: 2, returnable: 0 },
      { sku: hat.sku, sold: 1, returned: 0, returnable: 1 },
    ])
    // Its number leads to its ID, so its status can be read.
    assert.equal(record.returnAuthorisationNumber, getLastReturn().authorisation)
    await shop.sync('returns')
    assert.equal((await api.get(`/returns/${record.id}`)).json.data.status, 'received')
  }
})

test('the number of a return finds no order', async () => {
  const order = await placeOrder({ [tee.sku]: 1 })
  getCreatedRecord(await postReturn(order.id, { [tee.sku]: 1 }))
  const { number } = getLastReturn()
  assert.deepEqual((await api.get(`/orders?order_number=${number}`)).json.data ?? [], [])
})

test('a keyed return of items already returned is rejected without effect', async () => {
  const order = await placeOrder({ [tee.sku]: 1 })
  const upstreamOrder = simulator.state.orders.get(Number(order.id)) ?? assert.fail()
  for (const line of upstreamOrder.lines) line.status = 'Returned'
  const response = await postReturn(order.id, { [tee.sku]: 1 }, {}, withKey())
  assertRejected(api, response, 'quantity_exceeds_returnable', '/lines/0/quantity')
  assert.equal(countUpstreamReturns(), 0)
})
