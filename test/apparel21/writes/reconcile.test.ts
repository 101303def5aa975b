import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { buildCustomer } from '../../support/customer-bodies.ts'
import { assertProblem } from '../../support/problem.ts'
import { gift } from '../../support/voucher-shop.ts'
import { assertReplay, post, put, withKey } from '../../support/write.ts'
import { countRows, startShopFixture } from '../shop.ts'
import { createOrderFixture } from './orders.ts'
import { createReturnFixture } from './returns.ts'

const shop = await startShopFixture()
const { api, simulator } = shop
const shopper = await createOrderFixture(shop)
const { tee, customerId, buildOrder, countPlaced, countOrders, validateVoucher, findVoucher } = shopper
const { placeOrder, postReturn, countUpstreamReturns, getReturnable } = createReturnFixture(shop, shopper)

/** Counts open write intents and reservations. */
const countOpen = async () => [await countRows(api, api, 'intent'), await countRows(api, api, 'reservation')]
const countAuditEntries = () => countRows(api, api, 'audit')
const loseResponse = (path: string, method = 'POST') =>
  simulator.faults.add({ kind: 'lost-response', method, path, times: 1 })
const loseRequest = (path: string, method = 'POST') =>
  simulator.faults.add({ kind: 'reset-before', method, path, times: 1 })

test('an order with a lost response is stored automatically with audit entry', async () => {
  const [before, lines] = [await countOrders(), await countAuditEntries()]
  loseResponse('/Persons/*/Orders')
  assertProblem(await post(api, '/orders', buildOrder()), 'outcome_unknown', api.baseUrl)
  assert.deepEqual([countPlaced(), await countOrders(), await countOpen()], [1, before, [1, 1]])
  assert.equal(await shop.recoverWrites(), 1)
  assert.deepEqual(
    [countPlaced(), await countOrders(), await countAuditEntries(), await countOpen()],
    [1, before + 1, lines + 1, [0, 0]],
  )
})

test('a repeat with the key gets the reconciled result', async () => {
  const [body, key, before] = [buildOrder(), withKey(), await countOrders()]
  loseResponse('/Persons/*/Orders')
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  await shop.recoverWrites()
  const posts = simulator.ledger.findCalls({ method: 'POST' }).length
  const first = await post(api, '/orders', body, key)
  assert.equal(first.status, 201, first.text)
  assertReplay(await post(api, '/orders', body, key), first)
  assert.equal(simulator.ledger.findCalls({ method: 'POST' }).length, posts, 'the back office gets no further request')
  assert.deepEqual([countPlaced(), await countOrders()], [1, before + 1])
})

test('a write not found twice is abandoned without being executed', async () => {
  const [key, before] = [withKey(), await countOrders()]
  loseRequest('/Persons/*/Orders')
  assertProblem(await post(api, '/orders', buildOrder(), key), 'outcome_unknown', api.baseUrl)
  await shop.recoverWrites()
  assert.deepEqual(await countOpen(), [1, 1], 'the request can still arrive')
  await shop.recoverWrites()
  assert.deepEqual([countPlaced(), await countOrders(), await countOpen()], [0, before, [0, 0]])
  assert.equal(simulator.ledger.findCalls({ path: '/OrderNumbers/*' }).length, 2, 'each check is one search')
  const repeat = await post(api, '/orders', buildOrder(), key)
  assert.deepEqual([repeat.status, countPlaced()], [201, 1])
})

test('nothing is reconciled or abandoned during an outage', async () => {
  loseResponse('/Persons/*/Orders')
  assertProblem(await post(api, '/orders', buildOrder()), 'outcome_unknown', api.baseUrl)
  simulator.faults.add({ kind: 'down' })
  for (let i = 0; i < 3; i++) assert.equal(await shop.recoverWrites(), 1)
  assert.deepEqual(await countOpen(), [1, 1])
  simulator.faults.clear()
  const before = await countOrders()
  // The open circuit breaker allows a probe after a while.
  while ((await countOpen())[0]) {
    await new Promise(resolve => setTimeout(resolve, 200))
    await shop.recoverWrites()
  }
  assert.equal(await countOrders(), before + 1)
})

test('a paying voucher stays locked until the outcome and is then spent', async () => {
  const { number, pin } = findVoucher('6000001')
  const payment = await validateVoucher(number, pin, tee.price)
  const body = buildOrder({ payments: [{ gateway: 'paypal', amount: tee.price, voucher: payment }] })
  loseResponse('/Persons/*/Orders')
  assertProblem(await post(api, '/orders', body), 'outcome_unknown', api.baseUrl)
  assert.deepEqual(await countOpen(), [1, 2])
  assertProblem(
    await post(api, '/vouchers/validate', { number, pin, amount: '1.00' }),
    'concurrent_update',
    api.baseUrl,
  )
  await shop.recoverWrites()
  assert.deepEqual(await countOpen(), [0, 0])
  const other = buildOrder({ payments: [{ gateway: 'paypal', amount: tee.price, voucher: payment }] })
  assertProblem(await post(api, '/orders', other), 'validation_id_incorrect', api.baseUrl)
  assert.equal(countPlaced(), 1)
})

test('an unknown return keeps its units reserved against other returns', async () => {
  const { id } = await placeOrder({ [tee.sku]: 2 })
  loseResponse('/Persons/*/Returns')
  assertProblem(await postReturn(id, { [tee.sku]: 2 }), 'outcome_unknown', api.baseUrl)
  assertProblem(await postReturn(id, { [tee.sku]: 1 }), 'concurrent_update', api.baseUrl)
  await shop.recoverWrites()
  assert.deepEqual(
    [countUpstreamReturns(), await getReturnable(id)],
    [1, [{ sku: tee.sku, sold: 2, returned: 2, returnable: 0 }]],
  )
  assertProblem(await postReturn(id, { [tee.sku]: 1 }), 'quantity_exceeds_returnable', api.baseUrl)
})

test('reconciliation never creates a return that did not arrive', async () => {
  const { id } = await placeOrder({ [tee.sku]: 2 })
  const before = await countRows(api, api, 'sales_return')
  loseRequest('/Persons/*/Returns')
  assertProblem(await postReturn(id, { [tee.sku]: 2 }), 'outcome_unknown', api.baseUrl)
  await shop.recoverWrites()
  assert.deepEqual([countUpstreamReturns(), await countOpen()], [0, [1, 1]], 'the request can still arrive')
  await shop.recoverWrites()
  assert.deepEqual(
    [countUpstreamReturns(), await countRows(api, api, 'sales_return'), await countOpen()],
    [0, before, [0, 0]],
  )
  assert.equal((await postReturn(id, { [tee.sku]: 2 })).status, 201)
})

test('a return without a confirmed number is neither completed nor abandoned', async () => {
  const { id } = await placeOrder({ [tee.sku]: 1 })
  loseResponse('/Persons/*/Returns')
  assertProblem(await postReturn(id, { [tee.sku]: 1 }), 'outcome_unknown', api.baseUrl)
  simulator.faults.add({ kind: 'error', method: 'POST', path: '/Persons/*/Returns', status: 403, code: 5139 })
  for (let i = 0; i < 3; i++) await shop.recoverWrites()
  assert.deepEqual([countUpstreamReturns(), await countOpen()], [1, [1, 1]])
  simulator.faults.clear()
  await shop.recoverWrites()
  assert.deepEqual([countUpstreamReturns(), await countOpen()], [1, [0, 0]])
  assert.deepEqual(await getReturnable(id), [{ sku: tee.sku, sold: 1, returned: 1, returnable: 0 }])
})

test('reconciled customers are stored as in the back office, including consent', async () => {
  const countConsentChanges = () => countRows(api, api, 'consent_change')
  const [customers, consent] = [await countRows(api, api, 'customer'), await countConsentChanges()]
  loseResponse('/Persons')
  assertProblem(await post(api, '/customers', buildCustomer()), 'outcome_unknown', api.baseUrl)
  await shop.recoverWrites()
  assert.equal(await countRows(api, api, 'customer'), customers + 1)
  assert.ok((await countConsentChanges()) > consent)

  loseResponse('/Persons/*', 'PUT')
  assertProblem(await put(api, `/customers/${customerId}`, { title: 'Dr' }), 'outcome_unknown', api.baseUrl)
  const lines = await countAuditEntries()
  await shop.recoverWrites()
  assert.equal((await api.get(`/customers/${customerId}`)).json.data.title, 'Dr')
  assert.deepEqual([await countAuditEntries(), await countOpen()], [lines + 1, [0, 0]])
})

test('an email change is stored only if it was executed', async () => {
  const getEmail = async () => (await api.get(`/customers/${customerId}`)).json.data.contact.email
  const changeEmail = (to: string) => put(api, `/customers/${customerId}`, { contact: { email: to } })
  const [before, lines] = [await getEmail(), await countAuditEntries()]
  loseRequest('/Persons/*', 'PUT')
  assertProblem(await changeEmail('Moved@example.com'), 'outcome_unknown', api.baseUrl)
  await shop.recoverWrites()
  assert.deepEqual(await countOpen(), [1, 0], 'the request can still arrive')
  await shop.recoverWrites()
  assert.deepEqual([await getEmail(), await countAuditEntries(), await countOpen()], [before, lines, [0, 0]])

  loseResponse('/Persons/*', 'PUT')
  assertProblem(await changeEmail('Moved@example.com'), 'outcome_unknown', api.baseUrl)
  await shop.recoverWrites()
  assert.deepEqual(
    [await getEmail(), await countAuditEntries(), await countOpen()],
    ['Moved@example.com', lines + 1, [0, 0]],
  )
})

test('a voucher with a lost sale response is sold and recorded once', async () => {
  const sales = await countRows(api, api, 'upstream_voucher_sale')
  loseResponse('/Persons/*/Orders')
  assertProblem(await post(api, '/vouchers', gift), 'outcome_unknown', api.baseUrl)
  await shop.recoverWrites()
  assert.equal(await countRows(api, api, 'upstream_voucher_sale'), sales + 1)
  assert.equal(simulator.ledger.findEffects('voucher sold').length, 1)
})

test('two concurrent reconciliations store a write once', async () => {
  const before = await countOrders()
  loseResponse('/Persons/*/Orders')
  assertProblem(await post(api, '/orders', buildOrder()), 'outcome_unknown', api.baseUrl)
  const recoveredCounts = await Promise.all([shop.recoverWrites(), shop.recoverWrites(), shop.recoverWrites()])
  assert.ok(recoveredCounts.some(Boolean))
  assert.deepEqual([await countOrders(), await countOpen()], [before + 1, [0, 0]])
})

test('a repeat takes over a finished attempt and leaves the job nothing', async () => {
  const [body, key] = [buildOrder(), withKey()]
  loseResponse('/Persons/*/Orders')
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  assert.equal((await post(api, '/orders', body, key)).status, 201)
  assert.equal(await shop.recoverWrites(), 0)
  assert.equal(countPlaced(), 1)
})

test('a write intent is stored encrypted and only while open', async () => {
  loseResponse('/Persons/*/Orders')
  const payments = [{ gateway: 'visa', amount: tee.price, reference: 'canary-of-intents' }]
  assertProblem(await post(api, '/orders', buildOrder({ payments })), 'outcome_unknown', api.baseUrl)
  const [row] = await api.db.rows<{ text: string }>(
    sql`select encode(request, 'escape') as text from intent where service_id = ${api.service.id}`,
  )
  assert.ok(row)
  assert.doesNotMatch(row.text, /canary-of-intents/)
  await shop.recoverWrites()
  assert.deepEqual(await countOpen(), [0, 0])
})
