import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isProblem } from '../support/problem.ts'
import { post } from '../support/write.ts'
import { codesOf, placed } from './sales.ts'
import type { Shop } from './shop.ts'

/** How every driver knows an order again, and what a return may leave out (contract 6, 15). */
export function orderNameContract(shop: () => Shop) {
  test('an order goes by its identifier and by its number, and the identifier wins', async () => {
    const { api, release, driver } = shop()
    const orderNumber = `N/${release} ü`
    const { id } = await placed(shop(), 1, { orderNumber })
    const { data } = (await api.get(`/orders/${id}`)).json
    assert.equal(data.orderNumber, orderNumber)
    const number = encodeURIComponent(orderNumber)
    assert.deepEqual((await api.get(`/orders/${number}`)).json.data, data)
    for (const path of ['returns', 'returnable'])
      assert.deepEqual(
        (await api.get(`/orders/${number}/${path}`)).json.data,
        (await api.get(`/orders/${id}/${path}`)).json.data,
      )
    assert.deepEqual((await api.get(`/orders?order_number=${number}`)).json.data, [data])
    assert.deepEqual((await api.get('/orders?order_number=NOBODYS')).json.data, [])
    isProblem(await api.get('/orders'), 'invalid_parameter', api.baseUrl)
    for (const path of ['', '/returns', '/returnable'])
      isProblem(await api.get(`/orders/NOBODYS${path}`), 'not_found', api.baseUrl)
    const stranger = await api.tenant()
    for (const name of [id, number]) isProblem(await stranger.get(`/orders/${name}`), 'not_found', api.baseUrl)
    assert.deepEqual((await stranger.get(`/orders?order_number=${number}`)).json.data, [])
    // Those of the embedded driver are longer than a number may be.
    if (driver === 'embedded') return
    const other = await placed(shop(), 1, { orderNumber: id })
    assert.equal((await api.get(`/orders/${id}`)).json.data.id, id)
    assert.equal((await api.get(`/orders?order_number=${id}`)).json.data[0].id, other.id)
  })

  test('a returned line needs its SKU alone: all that is left comes back, for the usual reason', async () => {
    const { api, release } = shop()
    const orderNumber = `NR-${release}`
    const order = await placed(shop(), 3, { orderNumber })
    await shop().ship(order.id)
    const [{ sku }] = order.lines
    const path = `/orders/${orderNumber}/returns`
    const lines = [{ sku, quantity: 1, reasonCode: 'SIZE' }, { sku }]
    const answer = await post(api, path, { lines })
    assert.equal(answer.status, 201, answer.text)
    assert.deepEqual(
      answer.json.data.lines.map((line: { quantity: number; reasonCode: string }) => [line.quantity, line.reasonCode]),
      [
        [1, 'SIZE'],
        [2, 'FAULTY'],
      ],
    )
    const none = await post(api, path, { lines: [{ sku }] })
    isProblem(none, 'quantity_exceeds_returnable', api.baseUrl, path)
    assert.deepEqual(codesOf(none), [['/lines/0/quantity', 'quantity_exceeds_returnable']])
  })
}
