import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { created, john } from '../support/customer-bodies.ts'
import { address, cents, dollars } from '../support/order-shop.ts'
import { post } from '../support/write.ts'
import { openShop, type Shop, type Sold } from './shop.ts'

let shop: Shop
let tee: Sold
let hat: Sold
let customerId: string
before(async () => {
  shop = await openShop()
  ;({ tee, hat } = shop.sold())
  customerId = (await created(shop.api, john())).id
})
after(() => shop.stop())

/** Places an order with a line for each of these; returns its path and identifier. */
async function ordered(...items: Sold[]) {
  const total = dollars(items.reduce((sum, { price }) => sum + cents(price), 0))
  const answer = await post(shop.api, '/orders', {
    customerId,
    billingAddress: address,
    deliveryAddress: address,
    lines: items.map(({ sku }) => ({ sku, quantity: 1 })),
    payments: [{ gateway: 'paypal', amount: total, reference: 'PAYID-1' }],
  })
  assert.equal(answer.status, 201, answer.text)
  return { id: Number(answer.json.data.id), path: `/orders/${answer.json.data.id}` }
}
const read = async (path: string) => {
  const { json, headers } = await shop.api.get(path)
  return { statuses: json.data.lines.map(({ status }: { status: string }) => status), etag: headers.etag }
}

test('an order tells, once the feed has been pulled, that the back office has shipped or cancelled it', async () => {
  const [shipped, cancelled, waiting] = [await ordered(tee, hat), await ordered(hat), await ordered(tee)]
  const before = await read(shipped.path)
  assert.deepEqual(before.statuses, ['processing', 'processing'])
  shop.simulator.change({ kind: 'despatch-order', id: shipped.id })
  shop.simulator.change({ kind: 'cancel-order', id: cancelled.id })
  await shop.sync('orders')
  const now = await read(shipped.path)
  assert.deepEqual(now.statuses, ['shipped', 'shipped'])
  assert.notEqual(now.etag, before.etag)
  assert.deepEqual((await read(cancelled.path)).statuses, ['cancelled'])
  assert.deepEqual((await read(waiting.path)).statuses, ['processing'])
  const listed = (await shop.api.get(`/customers/${customerId}/orders`)).json.data
  assert.equal(listed.find(({ id }: { id: string }) => id === String(cancelled.id)).lines[0].status, 'cancelled')
})

test('of two lines of one SKU each has its own status', async () => {
  const two = await ordered(tee, tee)
  const lines = shop.simulator.state.orders.get(two.id)?.lines ?? []
  const [first, second] = lines
  assert.ok(first && second)
  first.status = 'Shipped'
  await shop.sync('orders')
  assert.deepEqual((await read(two.path)).statuses, ['shipped', 'processing'])
  await shop.sync('orders')
  assert.deepEqual((await read(two.path)).statuses, ['shipped', 'processing'])
  second.status = 'Cancelled'
  await shop.sync('orders')
  assert.deepEqual((await read(two.path)).statuses, ['shipped', 'cancelled'])
})

test('nobody is asked about who has no order under way, and an answer that cannot be read changes nothing', async () => {
  const open = await ordered(hat)
  await shop.sync('orders')
  shop.simulator.ledger.clear()
  shop.simulator.change({ kind: 'despatch-order', id: open.id })
  shop.simulator.faults.add({ kind: 'truncated', path: '/Persons/*/Orders' })
  await shop.sync('orders').catch(() => {})
  assert.deepEqual((await read(open.path)).statuses, ['processing'])
  shop.simulator.faults.clear()
  await shop.sync('orders')
  assert.deepEqual((await read(open.path)).statuses, ['shipped'])
  const asked = new Set(shop.simulator.ledger.calls.map(({ path }) => path))
  assert.ok(
    [...asked].every(path => path.includes(`/Persons/${customerId}/Orders`)),
    [...asked].join(),
  )
})
