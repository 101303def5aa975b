import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { buildCustomer } from '../../support/customer-bodies.ts'
import { assertProblem } from '../../support/problem.ts'
import { assertReplay, post, put, withKey } from '../../support/write.ts'
import { count, shopOfTests } from '../shop.ts'
import { ordersOf } from './orders.ts'
import { returnsOf } from './returns.ts'

const shop = await shopOfTests()
const { api, simulator } = shop
const shopper = await ordersOf(shop)
const { tee, customerId, order, placed, rows, validated, voucher } = shopper
const { bought, giveBack, returnsThere, returnable } = returnsOf(shop, shopper)

/** Counts open write intents and reservations. */
const open = async () => [await count(api, api, 'intent'), await count(api, api, 'reservation')]
const audited = () => count(api, api, 'audit')
const loseResponse = (path: string, method = 'POST') =>
  simulator.faults.add({ kind: 'lost-answer', method, path, times: 1 })
const loseRequest = (path: string, method = 'POST') =>
  simulator.faults.add({ kind: 'reset-before', method, path, times: 1 })

test('an order with a lost response is stored automatically with audit entry', async () => {
  const [before, lines] = [await rows(), await audited()]
  loseResponse('/Persons/*/Orders')
  assertProblem(await post(api, '/orders', order()), 'outcome_unknown', api.baseUrl)
  assert.deepEqual([placed(), await rows(), await open()], [1, before, [1, 1]])
  assert.equal(await shop.followUp(), 1)
  assert.deepEqual([placed(), await rows(), await audited(), await open()], [1, before + 1, lines + 1, [0, 0]])
})

test('a repeat with the key gets the reconciled result', async () => {
  const [body, key, before] = [order(), withKey(), await rows()]
  loseResponse('/Persons/*/Orders')
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  await shop.followUp()
  const posts = simulator.ledger.callsTo({ method: 'POST' }).length
  const first = await post(api, '/orders', body, key)
  assert.equal(first.status, 201, first.text)
  assertReplay(await post(api, '/orders', body, key), first)
  assert.equal(simulator.ledger.callsTo({ method: 'POST' }).length, posts, 'the back office gets no further request')
  assert.deepEqual([placed(), await rows()], [1, before + 1])
})

test('a write not found twice is abandoned without being executed', async () => {
  const [key, before] = [withKey(), await rows()]
  loseRequest('/Persons/*/Orders')
  assertProblem(await post(api, '/orders', order(), key), 'outcome_unknown', api.baseUrl)
  await shop.followUp()
  assert.deepEqual(await open(), [1, 1], 'it may still arrive')
  await shop.followUp()
  assert.deepEqual([placed(), await rows(), await open()], [0, before, [0, 0]])
  assert.equal(simulator.ledger.callsTo({ path: '/OrderNumbers/*' }).length, 2, 'a look is one search')
  const repeat = await post(api, '/orders', order(), key)
  assert.deepEqual([repeat.status, placed()], [201, 1])
})

test('nothing is reconciled or abandoned during an outage', async () => {
  loseResponse('/Persons/*/Orders')
  assertProblem(await post(api, '/orders', order()), 'outcome_unknown', api.baseUrl)
  simulator.faults.add({ kind: 'down' })
  for (let i = 0; i < 3; i++) assert.equal(await shop.followUp(), 1)
  assert.deepEqual(await open(), [1, 1])
  simulator.faults.clear()
  const before = await rows()
  // The breaker lets one through when its time is over.
  while ((await open())[0]) {
    await new Promise(resolve => setTimeout(resolve, 200))
    await shop.followUp()
  }
  assert.equal(await rows(), before + 1)
})

test('a paying voucher stays locked until the outcome and is then spent', async () => {
  const { number, pin } = voucher('6000001')
  const payment = await validated(number, pin, tee.price)
  const body = order({ payments: [{ gateway: 'paypal', amount: tee.price, voucher: payment }] })
  loseResponse('/Persons/*/Orders')
  assertProblem(await post(api, '/orders', body), 'outcome_unknown', api.baseUrl)
  assert.deepEqual(await open(), [1, 2])
  assertProblem(
    await post(api, '/vouchers/validate', { number, pin, amount: '1.00' }),
    'concurrent_update',
    api.baseUrl,
  )
  await shop.followUp()
  assert.deepEqual(await open(), [0, 0])
  const other = order({ payments: [{ gateway: 'paypal', amount: tee.price, voucher: payment }] })
  assertProblem(await post(api, '/orders', other), 'validation_id_incorrect', api.baseUrl)
  assert.equal(placed(), 1)
})

test('an unknown return keeps its units reserved against other returns', async () => {
  const { id } = await bought({ [tee.sku]: 2 })
  loseResponse('/Persons/*/Returns')
  assertProblem(await giveBack(id, { [tee.sku]: 2 }), 'outcome_unknown', api.baseUrl)
  assertProblem(await giveBack(id, { [tee.sku]: 1 }), 'concurrent_update', api.baseUrl)
  await shop.followUp()
  assert.deepEqual([returnsThere(), await returnable(id)], [1, [{ sku: tee.sku, sold: 2, returned: 2, returnable: 0 }]])
  assertProblem(await giveBack(id, { [tee.sku]: 1 }), 'quantity_exceeds_returnable', api.baseUrl)
})

test('reconciliation never creates a return that did not arrive', async () => {
  const { id } = await bought({ [tee.sku]: 2 })
  const before = await count(api, api, 'sales_return')
  loseRequest('/Persons/*/Returns')
  assertProblem(await giveBack(id, { [tee.sku]: 2 }), 'outcome_unknown', api.baseUrl)
  await shop.followUp()
  assert.deepEqual([returnsThere(), await open()], [0, [1, 1]], 'it may still arrive')
  await shop.followUp()
  assert.deepEqual([returnsThere(), await count(api, api, 'sales_return'), await open()], [0, before, [0, 0]])
  assert.equal((await giveBack(id, { [tee.sku]: 2 })).status, 201)
})

test('a return without a confirmed number is neither completed nor abandoned', async () => {
  const { id } = await bought({ [tee.sku]: 1 })
  loseResponse('/Persons/*/Returns')
  assertProblem(await giveBack(id, { [tee.sku]: 1 }), 'outcome_unknown', api.baseUrl)
  simulator.faults.add({ kind: 'error', method: 'POST', path: '/Persons/*/Returns', status: 403, code: 5139 })
  for (let i = 0; i < 3; i++) await shop.followUp()
  assert.deepEqual([returnsThere(), await open()], [1, [1, 1]])
  simulator.faults.clear()
  await shop.followUp()
  assert.deepEqual([returnsThere(), await open()], [1, [0, 0]])
  assert.deepEqual(await returnable(id), [{ sku: tee.sku, sold: 1, returned: 1, returnable: 0 }])
})

test('reconciled customers are stored as in the back office, including consent', async () => {
  const consents = () => count(api, api, 'consent_change')
  const [customers, consent] = [await count(api, api, 'customer'), await consents()]
  loseResponse('/Persons')
  assertProblem(await post(api, '/customers', buildCustomer()), 'outcome_unknown', api.baseUrl)
  await shop.followUp()
  assert.equal(await count(api, api, 'customer'), customers + 1)
  assert.ok((await consents()) > consent)

  loseResponse('/Persons/*', 'PUT')
  assertProblem(await put(api, `/customers/${customerId}`, { title: 'Dr' }), 'outcome_unknown', api.baseUrl)
  const lines = await audited()
  await shop.followUp()
  assert.equal((await api.get(`/customers/${customerId}`)).json.data.title, 'Dr')
  assert.deepEqual([await audited(), await open()], [lines + 1, [0, 0]])
})

test('an email change is stored only if it was executed', async () => {
  const email = async () => (await api.get(`/customers/${customerId}`)).json.data.contact.email
  const change = (to: string) => put(api, `/customers/${customerId}`, { contact: { email: to } })
  const [before, lines] = [await email(), await audited()]
  loseRequest('/Persons/*', 'PUT')
  assertProblem(await change('Moved@example.com'), 'outcome_unknown', api.baseUrl)
  await shop.followUp()
  assert.deepEqual(await open(), [1, 0], 'it may still arrive')
  await shop.followUp()
  assert.deepEqual([await email(), await audited(), await open()], [before, lines, [0, 0]])

  loseResponse('/Persons/*', 'PUT')
  assertProblem(await change('Moved@example.com'), 'outcome_unknown', api.baseUrl)
  await shop.followUp()
  assert.deepEqual([await email(), await audited(), await open()], ['Moved@example.com', lines + 1, [0, 0]])
})

test('a voucher with a lost sale response is sold and recorded once', async () => {
  const gift = {
    amount: '50.00',
    gateway: 'visa',
    receiverName: 'Ann Lee',
    receiverEmail: 'settled@example.com',
    senderName: 'John Smith',
    subject: 'A gift for you',
    billingAddress: order().billingAddress,
  }
  const sales = await count(api, api, 'upstream_voucher_sale')
  loseResponse('/Persons/*/Orders')
  assertProblem(await post(api, '/vouchers', gift), 'outcome_unknown', api.baseUrl)
  await shop.followUp()
  assert.equal(await count(api, api, 'upstream_voucher_sale'), sales + 1)
  assert.equal(simulator.ledger.effectsOf('voucher sold').length, 1)
})

test('two concurrent reconciliations store a write once', async () => {
  const before = await rows()
  loseResponse('/Persons/*/Orders')
  assertProblem(await post(api, '/orders', order()), 'outcome_unknown', api.baseUrl)
  const followed = await Promise.all([shop.followUp(), shop.followUp(), shop.followUp()])
  assert.ok(followed.some(Boolean))
  assert.deepEqual([await rows(), await open()], [before + 1, [0, 0]])
})

test('a repeat takes over a finished attempt and leaves the job nothing', async () => {
  const [body, key] = [order(), withKey()]
  loseResponse('/Persons/*/Orders')
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  assert.equal((await post(api, '/orders', body, key)).status, 201)
  assert.equal(await shop.followUp(), 0)
  assert.equal(placed(), 1)
})

test('a write intent is stored encrypted and only while open', async () => {
  loseResponse('/Persons/*/Orders')
  const payments = [{ gateway: 'visa', amount: tee.price, reference: 'canary-of-intents' }]
  assertProblem(await post(api, '/orders', order({ payments })), 'outcome_unknown', api.baseUrl)
  const [row] = await api.db.rows<{ text: string }>(
    sql`select encode(request, 'escape') as text from intent where service_id = ${api.service.id}`,
  )
  assert.ok(row)
  assert.doesNotMatch(row.text, /canary-of-intents/)
  await shop.followUp()
  assert.deepEqual(await open(), [0, 0])
})
