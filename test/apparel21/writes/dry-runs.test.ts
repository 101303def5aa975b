import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCustomer } from '../../support/customer-bodies.ts'
import { gift } from '../../support/voucher-shop.ts'
import { post, put } from '../../support/write.ts'
import { startShopFixture } from '../shop.ts'
import { createOrderFixture } from './orders.ts'
import { createReturnFixture } from './returns.ts'

const shop = await startShopFixture({ returnReasons: [{ code: 'SIZE', name: 'Wrong size' }] })
const { api, simulator } = shop
const orders = await createOrderFixture(shop)
const { buildOrder, tee } = orders
const { postReturn } = createReturnFixture(shop, orders)
const dryRun = { prefer: 'tx=rollback' }

/** Finds orders that were not placed through us and are no longer in the temporary web sales table. */
const findOldOrders = () =>
  [...simulator.state.orders.values()].filter(
    ({ inWebTable, lines }) => !inWebTable && lines.every(({ status }) => status === 'Shipped'),
  )

test('an order outside the web sales table is found by number', async () => {
  await shop.sync('transactions')
  const old = findOldOrders()
  assert.ok(old.length > 3)
  for (const { number, id } of old) {
    const listed = (await api.get(`/orders?order_number=${number}`)).json
    assert.equal(listed.data?.[0]?.id, String(id), number)
  }
})

test('an order that left the web sales table can be returned', async () => {
  const [old] = findOldOrders().filter(({ despatchType, lines }) => !despatchType && lines.length > 1)
  assert.ok(old)
  await api.db.pool.query('delete from sales_order where id = $1', [String(old.id)])
  const { rows } = await api.db.pool.query('select sku from variant where sku_id = $1', [String(old.lines[0]?.skuId)])
  const response = await postReturn(old.number, { [rows[0].sku]: 1 })
  assert.equal(response.status, 201, response.text)
})

test('a just changed price is read before an order is rejected', async () => {
  const { rows } = await api.db.pool.query('select sku_id from variant where sku = $1', [tee.sku])
  const sku = simulator.state.skus.get(Number(rows[0].sku_id))
  assert.ok(sku)
  const before = sku.price
  simulator.change({ kind: 'edit-sku', id: sku.id, fields: { price: before + 5 } })
  const amount = (before + 5).toFixed(2)
  const placed = await post(api, '/orders', buildOrder({ payments: [{ gateway: 'visa', amount }] }))
  assert.equal(placed.status, 201, placed.text)
  assert.equal(simulator.ledger.findCalls({ method: 'GET', path: '/Products/*' }).length, 1)
  assert.equal((await api.get(`/products?sku=${tee.sku}`)).json.data[0].colours[0].sizes[0].price, amount)
  simulator.ledger.clear()
  const wrong = await post(api, '/orders', buildOrder({ payments: [{ gateway: 'visa', amount: '1.00' }] }))
  assert.deepEqual([wrong.status, wrong.json.code], [422, 'payment_total_mismatch'])
  assert.equal(simulator.ledger.findCalls({ method: 'GET', path: '/Products/*' }).length, 1)
  simulator.change({ kind: 'edit-sku', id: sku.id, fields: { price: before } })
  await shop.sync('products')
})

test('a dry run rejects an unknown merchant as the write does', async () => {
  const body = buildOrder({ payments: [{ gateway: 'wrong', amount: tee.price }] })
  const [dryRunResponse, response] = [await post(api, '/orders', body, dryRun), await post(api, '/orders', body)]
  assert.deepEqual([response.status, response.json.code], [422, 'unknown_gateway'])
  assert.deepEqual([dryRunResponse.status, dryRunResponse.json.errors], [response.status, response.json.errors])
  assert.equal((await post(api, '/orders', buildOrder(), dryRun)).status, 201)
})

test('dry run and write reject a voucher sale with an unknown merchant', async () => {
  const body = { ...gift, gateway: 'wrong' }
  const [dryRunResponse, response] = [await post(api, '/vouchers', body, dryRun), await post(api, '/vouchers', body)]
  assert.deepEqual([response.status, response.json.code], [422, 'unknown_gateway'])
  assert.deepEqual([dryRunResponse.status, dryRunResponse.json.errors], [response.status, response.json.errors])
  assert.equal((await post(api, '/vouchers', gift, dryRun)).status, 202)
})

test('dry run and write reject an order number of the back office', async () => {
  const existingOrder = [...simulator.state.orders.values()].find(({ inWebTable }) => inWebTable)
  assert.ok(existingOrder)
  const body = buildOrder({ orderNumber: existingOrder.number })
  const [dryRunResponse, response] = [await post(api, '/orders', body, dryRun), await post(api, '/orders', body)]
  assert.deepEqual([response.status, response.json.code], [409, 'order_number_taken'])
  assert.deepEqual([dryRunResponse.status, dryRunResponse.json.errors], [response.status, response.json.errors])
})

test('dry run and write reject an email of an unknown person', async () => {
  const { id } = await createCustomer(api)
  const [person] = simulator.state.persons.values()
  assert.ok(person)
  const email = 'changed.there@example.com'
  simulator.change({ kind: 'edit-person', id: person.id, fields: { email } })
  const change = { contact: { email } }
  const path = `/customers/${id}`
  const [dryRunResponse, response] = [await put(api, path, change, dryRun), await put(api, path, change)]
  assert.deepEqual([response.status, response.json.code], [409, 'email_taken'])
  assert.deepEqual([dryRunResponse.status, dryRunResponse.json.errors], [response.status, response.json.errors])
  assert.equal((await put(api, path, { contact: { email: 'free@example.com' } }, dryRun)).status, 200)
})

test('dry run and write reject a return of a pick-up order', async () => {
  const [store] = [...simulator.state.stores.values()].filter(({ kind }) => kind === 'shop')
  const placed = await post(api, '/orders', buildOrder({ pickupStoreNumber: store?.number }))
  assert.equal(placed.status, 201, placed.text)
  simulator.change({ kind: 'despatch-order', id: Number(placed.json.data.id) })
  const dryRunResponse = await postReturn(placed.json.data.id, { [tee.sku]: 1 }, {}, dryRun)
  const response = await postReturn(placed.json.data.id, { [tee.sku]: 1 })
  assert.equal(response.status, 422, response.text)
  assert.deepEqual([dryRunResponse.status, dryRunResponse.json.errors], [response.status, response.json.errors])
})

test('dry run and write reject an order without an email', async () => {
  const person = [...simulator.state.persons.values()].find(({ email }) => !email)
  const body = buildOrder({ customerId: String(person?.id) })
  const [dryRunResponse, response] = [await post(api, '/orders', body, dryRun), await post(api, '/orders', body)]
  assert.deepEqual(
    [response.status, response.json.errors.map(({ pointer }: { pointer: string }) => pointer)],
    [422, ['/customerId']],
  )
  assert.deepEqual([dryRunResponse.status, dryRunResponse.json.errors], [response.status, response.json.errors])
})

test('dry run and write reject a customer change without an email', async () => {
  const person = [...simulator.state.persons.values()].find(({ email }) => !email)
  assert.ok(person)
  const path = `/customers/${person.id}`
  const [dryRunResponse, response] = [
    await put(api, path, { title: 'Dr' }, dryRun),
    await put(api, path, { title: 'Dr' }),
  ]
  assert.equal(response.status, 422, response.text)
  assert.deepEqual([dryRunResponse.status, dryRunResponse.json.errors], [response.status, response.json.errors])
})
