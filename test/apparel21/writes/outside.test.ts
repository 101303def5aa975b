import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCustomer } from '../../support/customer-bodies.ts'
import { address } from '../../support/order-shop.ts'
import { post, put } from '../../support/write.ts'
import { shopOfTests } from '../shop.ts'
import { ordersOf } from './orders.ts'
import { returnsOf } from './returns.ts'

const shop = await shopOfTests({ returnReasons: [{ code: 'SIZE', name: 'Wrong size' }] })
const { api, simulator } = shop
const orders = await ordersOf(shop)
const { order, tee } = orders
const { giveBack } = returnsOf(shop, orders)
const dryRun = { prefer: 'tx=rollback' }

/** Orders that were placed elsewhere, and of which the temporary table of web sales knows nothing any more. */
const oldOrders = () =>
  [...simulator.state.orders.values()].filter(
    ({ inWebTable, lines }) => !inWebTable && lines.every(({ status }) => status === 'Shipped'),
  )

test('an order outside the web sales table is found by number', async () => {
  await shop.sync('transactions')
  const old = oldOrders()
  assert.ok(old.length > 3)
  for (const { number, id } of old) {
    const listed = (await api.get(`/orders?order_number=${number}`)).json
    assert.equal(listed.data?.[0]?.id, String(id), number)
  }
})

test('a return names an order that left the table of web sales', async () => {
  const [old] = oldOrders().filter(({ despatchType, lines }) => !despatchType && lines.length > 1)
  assert.ok(old)
  await api.db.pool.query('delete from sales_order where id = $1', [String(old.id)])
  const { rows } = await api.db.pool.query('select sku from variant where sku_id = $1', [String(old.lines[0]?.skuId)])
  const response = await giveBack(old.number, { [rows[0].sku]: 1 })
  assert.equal(response.status, 201, response.text)
})

test('a just changed price is read before an order is rejected', async () => {
  const { rows } = await api.db.pool.query('select sku_id from variant where sku = $1', [tee.sku])
  const sku = simulator.state.skus.get(Number(rows[0].sku_id))
  assert.ok(sku)
  const before = sku.price
  simulator.change({ kind: 'edit-sku', id: sku.id, fields: { price: before + 5 } })
  const amount = (before + 5).toFixed(2)
  const placed = await post(api, '/orders', order({ payments: [{ gateway: 'visa', amount }] }))
  assert.equal(placed.status, 201, placed.text)
  assert.equal(simulator.ledger.callsTo({ method: 'GET', path: '/Products/*' }).length, 1)
  assert.equal((await api.get(`/products?sku=${tee.sku}`)).json.data[0].colours[0].sizes[0].price, amount)
  simulator.ledger.clear()
  const wrong = await post(api, '/orders', order({ payments: [{ gateway: 'visa', amount: '1.00' }] }))
  assert.deepEqual([wrong.status, wrong.json.code], [422, 'payment_total_mismatch'])
  assert.equal(simulator.ledger.callsTo({ method: 'GET', path: '/Products/*' }).length, 1)
  simulator.change({ kind: 'edit-sku', id: sku.id, fields: { price: before } })
  await shop.sync('products')
})

test('a dry run rejects an unknown merchant as the write does', async () => {
  const body = order({ payments: [{ gateway: 'wrong', amount: tee.price }] })
  const [trial, real] = [await post(api, '/orders', body, dryRun), await post(api, '/orders', body)]
  assert.deepEqual([real.status, real.json.code], [422, 'unknown_gateway'])
  assert.deepEqual([trial.status, trial.json.errors], [real.status, real.json.errors])
  assert.equal((await post(api, '/orders', order(), dryRun)).status, 201)
})

test('dry run and write reject a voucher sale with an unknown merchant', async () => {
  const gift = {
    amount: '50.00',
    receiverName: 'Ann Lee',
    receiverEmail: 'ann.lee@example.com',
    senderName: 'John Smith',
    subject: 'A gift for you',
    billingAddress: address,
    gateway: 'wrong',
  }
  const [trial, real] = [await post(api, '/vouchers', gift, dryRun), await post(api, '/vouchers', gift)]
  assert.deepEqual([real.status, real.json.code], [422, 'unknown_gateway'])
  assert.deepEqual([trial.status, trial.json.errors], [real.status, real.json.errors])
  assert.equal((await post(api, '/vouchers', { ...gift, gateway: 'visa' }, dryRun)).status, 202)
})

test('dry run and write reject an order number of the back office', async () => {
  const taken = [...simulator.state.orders.values()].find(({ inWebTable }) => inWebTable)
  assert.ok(taken)
  const body = order({ orderNumber: taken.number })
  const [trial, real] = [await post(api, '/orders', body, dryRun), await post(api, '/orders', body)]
  assert.deepEqual([real.status, real.json.code], [409, 'order_number_taken'])
  assert.deepEqual([trial.status, trial.json.errors], [real.status, real.json.errors])
})

test('dry run and write reject an email of an unknown person', async () => {
  const { id } = await createCustomer(api)
  const [person] = simulator.state.persons.values()
  assert.ok(person)
  const email = 'changed.there@example.com'
  simulator.change({ kind: 'edit-person', id: person.id, fields: { email } })
  const change = { contact: { email } }
  const path = `/customers/${id}`
  const [trial, real] = [await put(api, path, change, dryRun), await put(api, path, change)]
  assert.deepEqual([real.status, real.json.code], [409, 'email_taken'])
  assert.deepEqual([trial.status, trial.json.errors], [real.status, real.json.errors])
  assert.equal((await put(api, path, { contact: { email: 'free@example.com' } }, dryRun)).status, 200)
})

test('dry run and write reject a return of a pick-up order', async () => {
  const [store] = [...simulator.state.stores.values()].filter(({ kind }) => kind === 'shop')
  const placed = await post(api, '/orders', order({ pickupStoreNumber: store?.number }))
  assert.equal(placed.status, 201, placed.text)
  simulator.change({ kind: 'despatch-order', id: Number(placed.json.data.id) })
  const trial = await giveBack(placed.json.data.id, { [tee.sku]: 1 }, {}, dryRun)
  const real = await giveBack(placed.json.data.id, { [tee.sku]: 1 })
  assert.equal(real.status, 422, real.text)
  assert.deepEqual([trial.status, trial.json.errors], [real.status, real.json.errors])
})

test('dry run and write reject an order without an email', async () => {
  const person = [...simulator.state.persons.values()].find(({ email }) => !email)
  const body = order({ customerId: String(person?.id) })
  const [trial, real] = [await post(api, '/orders', body, dryRun), await post(api, '/orders', body)]
  assert.deepEqual(
    [real.status, real.json.errors.map(({ pointer }: { pointer: string }) => pointer)],
    [422, ['/customerId']],
  )
  assert.deepEqual([trial.status, trial.json.errors], [real.status, real.json.errors])
})

test('dry run and write reject a customer change without an email', async () => {
  const person = [...simulator.state.persons.values()].find(({ email }) => !email)
  assert.ok(person)
  const path = `/customers/${person.id}`
  const [trial, real] = [await put(api, path, { title: 'Dr' }, dryRun), await put(api, path, { title: 'Dr' })]
  assert.equal(real.status, 422, real.text)
  assert.deepEqual([trial.status, trial.json.errors], [real.status, real.json.errors])
})
