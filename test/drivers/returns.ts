import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertProblem, getFieldErrors } from '../support/problem.ts'
import { post } from '../support/write.ts'
import { assertLeavesNothing, dryRun } from './dry-runs.ts'
import { findItemsAndCustomer, placeOrder } from './sales.ts'
import type { Shop } from './shop.ts'

/** Contract of returns, the same for every driver that has them. */
export function addReturnContract(shop: () => Shop) {
  test('items on the order can be returned, others cannot', async () => {
    const { api } = shop()
    const { items } = await findItemsAndCustomer(shop())
    const order = await placeOrder(shop(), 2)
    await shop().ship(order.id)
    const path = `/orders/${order.id}/returns`
    const line = { sku: items[0].sku, quantity: 1, reasonCode: 'SIZE', notes: 'Too tight & "short"' }
    const foreign = await post(api, path, { lines: [line, { ...line, sku: items[1].sku }] })
    assertProblem(foreign, 'sku_not_on_order', api.baseUrl, path)
    assert.deepEqual(getFieldErrors(foreign), ['/lines/1/sku sku_not_on_order'])
    assert.deepEqual((await api.get(path)).json.data, [], 'a rejected return creates nothing')
    assert.equal((await post(api, path, { lines: [{ ...line, reasonCode: 'BORED' }] })).status, 422)
    const response = await post(api, path, { returnNumber: `R-${shop().release}-1`, lines: [line] })
    assert.equal(response.status, 201, response.text)
    const { data } = response.json
    assert.deepEqual([data.orderId, data.status, data.lines[0].quantity], [order.id, 'requested', 1])
    assert.equal(data.total, items[0].price)
    assert.ok(data.returnAuthorisationNumber)
    assert.deepEqual((await api.get(`/returns/${data.id}`)).json.data, data)
    const [returnableLine] = (await api.get(`/orders/${order.id}/returnable`)).json.data
    assert.deepEqual([returnableLine.sold, returnableLine.returned, returnableLine.returnable], [2, 1, 1])
    assertProblem(await post(api, '/orders/999999/returns', { lines: [line] }), 'not_found', api.baseUrl)
  })

  test('concurrent returns never exceed the quantity sold', async () => {
    const { api } = shop()
    const { items } = await findItemsAndCustomer(shop())
    const order = await placeOrder(shop(), 3)
    await shop().ship(order.id)
    const path = `/orders/${order.id}/returns`
    const two = { lines: [{ sku: items[0].sku, quantity: 2, reasonCode: 'FAULTY' }] }
    const responses = await Promise.all(Array.from({ length: 4 }, () => post(api, path, two)))
    assert.equal(
      responses.filter(({ status }) => status === 201).length,
      1,
      responses.map(({ text }) => text).join('\n'),
    )
    for (const response of responses)
      if (response.status !== 201) assertProblem(response, 'quantity_exceeds_returnable', api.baseUrl, path)
    const split = { lines: [1, 2].map(quantity => ({ sku: items[0].sku, quantity, reasonCode: 'FAULTY' })) }
    assertProblem(await post(api, path, split), 'quantity_exceeds_returnable', api.baseUrl, path)
    assert.equal((await post(api, path, { lines: [{ ...two.lines[0], quantity: 1 }] })).status, 201)
    assert.equal((await api.get(path)).json.data.length, 2)
  })

  test('a returned line needs only its SKU and returns everything left', async () => {
    const { api, release } = shop()
    const orderNumber = `NR-${release}`
    const order = await placeOrder(shop(), 3, { orderNumber })
    await shop().ship(order.id)
    const [{ sku }] = order.lines
    const path = `/orders/${orderNumber}/returns`
    const lines = [{ sku, quantity: 1, reasonCode: 'SIZE' }, { sku }]
    const response = await post(api, path, { lines })
    assert.equal(response.status, 201, response.text)
    assert.deepEqual(
      response.json.data.lines.map((line: { quantity: number; reasonCode: string }) => [
        line.quantity,
        line.reasonCode,
      ]),
      [
        [1, 'SIZE'],
        [2, 'FAULTY'],
      ],
    )
    const none = await post(api, path, { lines: [{ sku }] })
    assertProblem(none, 'quantity_exceeds_returnable', api.baseUrl, path)
    assert.deepEqual(getFieldErrors(none), ['/lines/0/quantity quantity_exceeds_returnable'])
  })

  test('a dry run of a return calculates without effect', async () => {
    const { api } = shop()
    const order = await placeOrder(shop(), 2)
    await shop().ship(order.id)
    const path = `/orders/${order.id}/returns`
    const line = { sku: order.lines[0].sku, quantity: 1, reasonCode: 'SIZE' }
    // The state that Apparel21 returns for the order is stored even by a dry run.
    await post(api, path, { lines: [{ ...line, quantity: 99 }] })
    const dryRunResponse = await assertLeavesNothing(shop(), () =>
      post(api, path, { returnNumber: 'T-1', lines: [line] }, dryRun),
    )
    assert.deepEqual(
      [dryRunResponse.status, dryRunResponse.json.data.id, dryRunResponse.json.data.returnNumber],
      [201, null, 'T-1'],
      dryRunResponse.text,
    )
    assert.equal((await api.get(`/orders/${order.id}/returnable`)).json.data[0].returned, 0)
  })
}

/** Contract of a back office whose release has no returns. */
export function addMissingReturnContract(shop: () => Shop) {
  test('a release without returns rejects them with the reason', async () => {
    const { api } = shop()
    const order = await placeOrder(shop(), 1)
    await shop().ship(order.id)
    const path = `/orders/${order.id}/returns`
    const body = { lines: [{ sku: order.lines[0].sku, quantity: 1, reasonCode: 'SIZE' }] }
    for (const headers of [dryRun, {}]) {
      const response = await post(api, path, body, headers)
      assertProblem(response, 'capability_unavailable', api.baseUrl, path)
      assert.match(response.json.detail, /2017\.2/)
    }
    assert.deepEqual((await api.get(path)).json.data, [])
    const { capabilities } = (await api.get('/capabilities')).json.data
    for (const name of ['returns', 'returnStatus']) {
      const capability = capabilities.find((candidate: { name: string }) => candidate.name === name)
      assert.equal(capability.available, false, name)
      assert.match(capability.reason, /2017\.2/)
    }
  })
}
