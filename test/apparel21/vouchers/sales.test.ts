import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { settings, startApparel21Api } from '../../drivers/apparel21.ts'
import { assertProblem, getFieldErrors } from '../../support/problem.ts'
import { post, put } from '../../support/write.ts'
import { createVoucherSaleFixture, inDays, startVoucherFixture } from './vouchers.ts'

const { simulator, api } = await startVoucherFixture()
const { issue, listSales, getOnlyOrder } = createVoucherSaleFixture({ simulator, api })

test('a voucher is sold as an order and pending until its email', async () => {
  const { status, json, headers } = await issue({
    orderNumber: 'W0000123',
    message: 'Happy birthday & <more>!\nJohn',
    mobile: '+61 491 570 006',
  })
  assert.equal(status, 202)
  assert.equal(headers.location, '/orders/W0000123')
  assert.deepEqual(json.data, {
    number: null,
    pin: null,
    status: 'pending',
    currency: 'AUD',
    orderNumber: 'W0000123',
    originalAmount: '150.00',
    usedAmount: '0.00',
    availableAmount: '0.00',
    expiryDate: null,
    lockedUntil: null,
    email: null,
  })
  const order = getOnlyOrder()
  const [line, ...otherLines] = order.lines
  assert.equal(otherLines.length, 0)
  assert.deepEqual([order.number, line?.skuId, line?.quantity, line?.value], ['W0000123', 9_001, 1, 150])
  assert.deepEqual([line?.senderName, line?.receiverName], ['John Smith', 'Ann Mary Lee'])
  assert.deepEqual(line?.voucher, {
    type: 'GV_EMAIL',
    number: '',
    subject: 'A gift for you',
    email: 'Ann.Lee@example.com',
    message: 'Happy birthday & <more>!\nJohn',
    deliveryDate: '',
    allotted: '',
  })
  assert.deepEqual([order.billing.contactName, order.billing.line1], ['John Smith', '111 Collins St'])
  assert.deepEqual(
    order.payments.map(payment => [payment.origin, payment.amount, payment.cardType]),
    [['CreditCard', 150, 'paypal']],
  )
  simulator.change({ kind: 'allot-vouchers' })
  const [mail] = simulator.state.mail
  assert.equal(mail?.to, 'Ann.Lee@example.com')
  const response = await post(api, '/vouchers/lookup', { number: mail?.voucher, pin: mail?.pin })
  assert.deepEqual([response.json.data.status, response.json.data.availableAmount], ['active', '150.00'])
  assert.equal(await api.db.run(sql`select from email`), 0, 'the service sends no email')
})

test('the recipient is found by email or created without consent', async () => {
  const shopper = [...simulator.state.persons.values()].find(({ email }) => email !== '')
  await issue({ receiverEmail: shopper?.email.toLowerCase() })
  assert.equal(getOnlyOrder().personId, shopper?.id)
  assert.equal(simulator.ledger.findEffects('person created').length, 0)
  simulator.ledger.clear()
  await issue()
  const person = simulator.state.persons.get(getOnlyOrder().personId)
  assert.deepEqual(
    [person?.firstname, person?.surname, person?.email, person?.privacy],
    ['Ann Mary', 'Lee', 'Ann.Lee@example.com', true],
  )
  assert.equal(person?.billing.line1, '', "the payer's address isn't stored for the recipient")
  simulator.ledger.clear()
  await issue({ receiverEmail: 'ann.lee@EXAMPLE.com' })
  assert.deepEqual([getOnlyOrder().personId, simulator.ledger.findEffects('person created').length], [person?.id, 0])
  for (const [receiverName, ...names] of [
    ['Prince', '-', 'Prince'],
    ['Wolfeschlegelsteinhausen Bergerdorff-Longest-All', 'Wolfeschlegelsteinha', 'Bergerdorff-Longest-'],
    ['a😀😀😀😀😀😀😀😀😀😀😀 Ann', 'a😀😀😀😀😀😀😀😀😀', 'Ann'],
  ] as const) {
    simulator.ledger.clear()
    assert.equal((await issue({ receiverName, receiverEmail: `${receiverName.length}@example.com` })).status, 202)
    const created = simulator.state.persons.get(getOnlyOrder().personId)
    assert.deepEqual([created?.firstname, created?.surname], names)
    assert.equal(getOnlyOrder().lines[0]?.receiverName, receiverName)
  }
})

test('a sale with a key and a lost response creates one order', async () => {
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  const key = { 'idempotency-key': 'gift-1' }
  const first = await issue({}, key)
  if (first.status !== 202) assertProblem(first, 'outcome_unknown', api.baseUrl, '/vouchers')
  const { status, json } = first.status === 202 ? first : await issue({}, key)
  assert.equal(status, 202)
  const order = getOnlyOrder()
  assert.equal(json.data.orderNumber, order.number)
  const stored = await api.db.rows(sql`select order_id, customer_id from upstream_voucher_sale`)
  assert.deepEqual(stored, [{ order_id: String(order.id), customer_id: String(order.personId) }])
  const replay = await issue({}, key)
  assert.equal(replay.headers['idempotent-replayed'], 'true')
  assert.equal(listSales().length, 1)
})

test('a sale with an unknown outcome is found by repeating its key', async () => {
  for (const kind of ['lost-response', 'html'] as const) {
    simulator.reset()
    const fault = simulator.faults.add({ kind, applied: true, method: 'POST', path: '/Persons/*/Orders' })
    const key = { 'idempotency-key': `gift-${kind}` }
    const unknown = await issue({}, key)
    assertProblem(unknown, 'outcome_unknown', api.baseUrl, '/vouchers')
    simulator.faults.remove(fault.id)
    const again = await issue({}, key)
    assert.equal(again.status, 202)
    assert.deepEqual([listSales().length, getOnlyOrder().number], [1, again.json.data.orderNumber])
  }
})

test('a given number of an unknown sale stays reserved for its repeat', async () => {
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  const key = { 'idempotency-key': 'gift-55' }
  assertProblem(await issue({ orderNumber: 'W-55' }, key), 'outcome_unknown', api.baseUrl)
  assertProblem(await api.get('/orders/W-55'), 'not_found', api.baseUrl)
  assertProblem(await issue({ orderNumber: 'W-55' }), 'concurrent_update', api.baseUrl, '/vouchers')
  assert.equal((await issue({ orderNumber: 'W-55' }, key)).status, 202)
  assert.equal(listSales().length, 1)
  assert.equal((await api.get('/orders/W-55')).status, 200)
  const third = await issue({ orderNumber: 'W-55' })
  assertProblem(third, 'order_number_taken', api.baseUrl, '/vouchers')
  assert.deepEqual(getFieldErrors(third), ['/orderNumber order_number_taken'])
})

test('a number of another order is taken and nothing is sold', async () => {
  assert.equal((await issue({ orderNumber: 'W-66' })).status, 202)
  await api.db.run(sql`delete from upstream_voucher_sale`)
  for (const more of [{ amount: '151.00' }, { receiverEmail: 'other@example.com' }, { senderName: 'Jo' }])
    assertProblem(await issue({ ...more, orderNumber: 'w-66' }), 'order_number_taken', api.baseUrl)
  simulator.change({ kind: 'forget-order', id: getOnlyOrder().id })
  assertProblem(await issue({ senderName: 'Jo', orderNumber: 'W-66' }), 'order_number_taken', api.baseUrl)
  assert.equal((await issue({ orderNumber: 'W-66' })).status, 202, 'an identical sale is found at any age')
  const long = await issue({ orderNumber: 'W'.repeat(31) })
  assert.deepEqual(getFieldErrors(long), ['/orderNumber invalid_field'])
  assert.equal(listSales().length, 1)
})

test('one of several concurrent sales with one number succeeds', async () => {
  const responses = await Promise.all(Array.from({ length: 6 }, () => issue({ orderNumber: 'W-77' })))
  assert.equal(responses.filter(({ status }) => status === 202).length, 1)
  for (const response of responses)
    if (response.status !== 202) assertProblem(response, 'order_number_taken', api.baseUrl)
  assert.equal(listSales().length, 1)
})

test('a key reused after a day sells another voucher', async () => {
  const key = { 'idempotency-key': 'gift-old' }
  const first = (await issue({}, key)).json.data.orderNumber
  await api.db.run(sql`update idempotent_response set created_at = now() - interval '25 hours'`)
  const second = await issue({ amount: '20.00' }, key)
  assert.equal(second.status, 202)
  assert.notEqual(second.json.data.orderNumber, first)
  assert.equal(listSales().length, 2)
})

test("missing configuration is named, first our own, then the back office's", async () => {
  const bare = await api.createService({ ...settings, vouchersEnabled: false, giftCardSku: null, voucherType: null })
  const missing = await issue({}, {}, bare)
  assertProblem(missing, 'voucher_not_configured', api.baseUrl, '/vouchers')
  for (const name of ['vouchersEnabled', 'voucherType', 'giftCardSku'])
    assert.match(missing.json.detail, new RegExp(name))
  const named = await api.createService({ ...settings, giftCardSku: 'GIFTCARD' })
  await put(named, '/settings', { gateways: ['paypal'] })
  const unknown = await issue({}, {}, named)
  assertProblem(unknown, 'voucher_not_configured', api.baseUrl)
  assert.match(unknown.json.detail, /GIFTCARD/)
  assert.equal(simulator.ledger.calls.length, 0)
  for (const more of [{ giftCardSku: '4711' }, { voucherType: 'GV_NONE' }, { voucherType: 'GV_STORE' }]) {
    const caller = await api.createService({ ...settings, ...more })
    await put(caller, '/settings', { gateways: ['paypal'] })
    assertProblem(await issue({}, {}, caller), 'voucher_not_configured', api.baseUrl, '/vouchers')
  }
  assert.equal(listSales().length, 0)
})

test('all errors of a sale are reported together without a call', async () => {
  const response = await issue({ amount: '0.00', gateway: 'pаypal', deliveryDate: inDays(-1), billingAddress: {} })
  assert.equal(response.status, 422)
  assert.deepEqual(
    response.json.errors.map(({ pointer }: { pointer: string }) => pointer),
    ['/amount', '/gateway', '/deliveryDate', '/billingAddress'],
  )
  assert.equal(simulator.ledger.calls.length, 0)
})

test('a delayed email requires a supporting version and is otherwise rejected', async () => {
  const later = { deliveryDate: inDays(20) }
  assert.equal((await issue(later)).status, 202)
  assert.equal(getOnlyOrder().lines[0]?.voucher?.deliveryDate, inDays(20))
  const {
    simulator: older,
    api: olderApi,
    stop: stopOlder,
  } = await startApparel21Api({ simulatorOptions: { release: '2022.1' } })
  try {
    const rejected = await issue(later, {}, olderApi)
    assert.deepEqual(getFieldErrors(rejected), ['/deliveryDate invalid_field'])
    assert.match(rejected.json.detail, /2022\.3/)
    assert.equal((await issue({ deliveryDate: inDays(0) }, {}, olderApi)).status, 202)
    assert.equal(older.ledger.findEffects('voucher sold').length, 1)
  } finally {
    await stopOlder()
  }
})

test('a sale rejected by the back office points into the request body', async () => {
  const cases = [
    ...([
      [5100, 'unknown_gateway', '/gateway'],
      [5069, 'invalid_field', '/receiverEmail'],
      [5004, 'invalid_field', '/receiverEmail'],
    ] as const),
    ...([
      [5072, 'invalid_field', '/receiverName'],
      [5075, 'invalid_field', '/subject'],
      [5246, 'invalid_field', '/message'],
    ] as const),
    ...([
      [5005, 'invalid_field', '/billingAddress'],
      [5129, 'voucher_not_configured'],
      [5076, 'voucher_not_configured'],
    ] as const),
    ...([
      [5026, 'back_office_error'],
      [5094, 'back_office_error'],
      [5077, 'back_office_error'],
    ] as const),
  ]
  for (const [code, errorCode, pointer] of cases) {
    simulator.faults.add({ kind: 'error', method: 'POST', path: '/Persons/*/Orders', status: 403, code, times: 1 })
    const response = await issue()
    assertProblem(response, errorCode, api.baseUrl, '/vouchers')
    assert.equal(response.json.errors?.[0]?.pointer, pointer, String(code))
  }
  simulator.faults.add({ kind: 'error', method: 'POST', path: '/Persons', status: 400, code: 5091, times: 1 })
  assertProblem(await issue({ receiverEmail: 'new@example.com' }), 'back_office_error', api.baseUrl)
  simulator.faults.add({ kind: 'error', method: 'POST', path: '/Persons', status: 400, code: 5006, times: 1 })
  assert.deepEqual(getFieldErrors(await issue({ receiverEmail: 'hidden@example.com' })), [
    '/receiverEmail invalid_field',
  ])
})
