import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setGateways } from '../../../src/store/tenancy/gateways.ts'
import { assertRejected, buildCustomer } from '../../support/customer-bodies.ts'
import { getCreatedRecord } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import { gift } from '../../support/voucher-shop.ts'
import { post, put, withKey } from '../../support/write.ts'
import { count, shopOfTests } from '../shop.ts'
import { ordersOf } from './orders.ts'
import { returnsOf } from './returns.ts'

const reason = (code: string) => ({ code, name: code.toLowerCase() })
const shop = await shopOfTests({ returnReasons: [reason('SIZE'), reason('COLOUR')] })
const { api, simulator } = shop
const admin = await api.createAccount('admin')
const shopper = await ordersOf(shop)
const { tee, order, placed, rows } = shopper
const { bought, giveBack, returnsThere, returnable } = returnsOf(shop, shopper)

const lose = (kind: 'lost-answer' | 'reset-before', path: string, method = 'POST') =>
  simulator.faults.add({ kind, method, path, times: 1 })
const rejectWith = (path: string, code: number) =>
  simulator.faults.add({ kind: 'error', method: 'POST', path, status: 403, code, times: 1 })
const [orders, returns] = ['/Persons/*/Orders', '/Persons/*/Returns']
/** Counts open write intents and reservations. */
const open = async () => [await count(api, api, 'intent'), await count(api, api, 'reservation')]
const persons = () => simulator.ledger.effectsOf('person created').length
const sales = () => simulator.ledger.effectsOf('voucher sold').length

/** Changes settings and waits until they apply: lists show the time zone, which has Melbourne's time. */
async function set(changed: object, timeZone: string) {
  assert.equal((await put(admin, '/settings', { ...changed, timeZone })).status, 200)
  await waitUntil(async () => (await api.get('/stores')).json.meta.timeZone === timeZone, 'it is in force', 5_000)
}
const having = (changed: object, before: object, work: () => Promise<unknown>) =>
  set(changed, 'Australia/Sydney')
    .then(work)
    .finally(() => set(before, 'Australia/Melbourne'))
const withoutPaypal = (work: () => Promise<unknown>) => {
  const are = (names: readonly string[]) => api.db.transaction(tx => setGateways(tx, api.service, names))
  return are(['visa', 'cash', 'wrong'])
    .then(work)
    .finally(() => are(['visa', 'cash', 'wrong', 'paypal']))
}
const [noVouchers, vouchers] = [
  { vouchersEnabled: false, giftCardSku: null },
  { vouchersEnabled: true, giftCardSku: '9001' },
]
const [noReferences, anyReferences] = [{ referenceTypes: ['season'] }, { referenceTypes: [] }]
const [noSize, reasons] = [{ returnReasons: [reason('COLOUR')] }, { returnReasons: [reason('SIZE'), reason('COLOUR')] }]

test('a placed order is finished although its gateway was removed', async () => {
  const [body, key, before] = [order(), withKey(), await rows()]
  for (const headers of [key, {}]) {
    lose('lost-answer', orders)
    assertProblem(await post(api, '/orders', body, headers), 'outcome_unknown', api.baseUrl)
  }
  await withoutPaypal(async () => {
    assert.equal(getCreatedRecord(await post(api, '/orders', body, key)).payments[0].gateway, 'paypal')
    await shop.followUp()
    assertRejected(api, await post(api, '/orders', body, withKey()), 'unknown_gateway', '/payments/0/gateway')
  })
  assert.deepEqual([placed(), await rows(), await open()], [2, before + 2, [0, 0]])
})

test('a placed order is finished whatever error its repeat causes upstream', async () => {
  const [body, key, before] = [order(), withKey(), await rows()]
  lose('lost-answer', orders)
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  rejectWith(orders, 5005)
  getCreatedRecord(await post(api, '/orders', body, key))
  assert.deepEqual([placed(), await rows(), await open()], [1, before + 1, [0, 0]])
})

test('a sold voucher is recorded although vouchers are no longer configured', async () => {
  const [key, noted] = [withKey(), await count(api, api, 'upstream_voucher_sale')]
  for (const headers of [key, {}]) {
    lose('lost-answer', orders)
    assertProblem(await post(api, '/vouchers', gift, headers), 'outcome_unknown', api.baseUrl)
  }
  await having(noVouchers, vouchers, async () => {
    assert.equal((await post(api, '/vouchers', gift, key)).status, 202)
    await shop.followUp(noVouchers)
    assertProblem(await post(api, '/vouchers', gift, withKey()), 'voucher_not_configured', api.baseUrl)
  })
  assert.deepEqual([sales(), await count(api, api, 'upstream_voucher_sale'), await open()], [2, noted + 2, [0, 0]])
})

test('a sold voucher is recorded whatever error its repeat causes upstream', async () => {
  const key = withKey()
  lose('lost-answer', orders)
  assertProblem(await post(api, '/vouchers', gift, key), 'outcome_unknown', api.baseUrl)
  rejectWith(orders, 5129)
  assert.equal((await post(api, '/vouchers', gift, key)).status, 202)
  assert.deepEqual([sales(), await open()], [1, [0, 0]])
})

test('a sold voucher is recorded although the voucher SKU has changed', async () => {
  const noted = await count(api, api, 'upstream_voucher_sale')
  lose('lost-answer', orders)
  assertProblem(await post(api, '/vouchers', gift), 'outcome_unknown', api.baseUrl)
  await shop.followUp({ giftCardSku: '4711' })
  assert.deepEqual([await count(api, api, 'upstream_voucher_sale'), await open()], [noted + 1, [0, 0]])
})

test('a sold voucher is recorded although its email date has passed', async () => {
  const noted = await count(api, api, 'upstream_voucher_sale')
  const [west, east] = ['Etc/GMT+12', 'Etc/GMT-14']
  await set({}, west)
  lose('lost-answer', orders)
  const today = { deliveryDate: Temporal.Now.plainDateISO(west).toString() }
  assertProblem(await post(api, '/vouchers', { ...gift, ...today }), 'outcome_unknown', api.baseUrl)
  await set({}, 'Australia/Melbourne')
  await shop.followUp({ timeZone: east })
  assert.deepEqual([sales(), await count(api, api, 'upstream_voucher_sale'), await open()], [1, noted + 1, [0, 0]])
})

test('a completed return is finished although its reason was removed', async () => {
  const bodies = [
    { id: (await bought({ [tee.sku]: 2 })).id, headers: withKey() },
    { id: (await bought({ [tee.sku]: 2 })).id, headers: {} },
  ] as const
  for (const { id, headers } of bodies) {
    lose('lost-answer', returns)
    assertProblem(await giveBack(id, { [tee.sku]: 2 }, {}, headers), 'outcome_unknown', api.baseUrl)
  }
  await having(noSize, reasons, async () => {
    const [{ id, headers }] = bodies
    assert.equal(getCreatedRecord(await giveBack(id, { [tee.sku]: 2 }, {}, headers)).lines[0].reasonCode, 'SIZE')
    await shop.followUp(noSize)
  })
  assert.deepEqual([returnsThere(), await open()], [2, [0, 0]])
  for (const { id } of bodies)
    assert.deepEqual(await returnable(id), [{ sku: tee.sku, sold: 2, returned: 2, returnable: 0 }])
})

test('a completed return is finished whatever error its repeat causes upstream', async () => {
  const [{ id }, key] = [await bought({ [tee.sku]: 1 }), withKey()]
  lose('lost-answer', returns)
  assertProblem(await giveBack(id, { [tee.sku]: 1 }, {}, key), 'outcome_unknown', api.baseUrl)
  rejectWith(returns, 5085)
  getCreatedRecord(await giveBack(id, { [tee.sku]: 1 }, {}, key))
  assert.deepEqual([returnsThere(), await open()], [1, [0, 0]])
})

test('a created customer is stored although its reference type is now restricted', async () => {
  const body = () => buildCustomer({ mobile: '0400123456', references: { shopsFor: '4413' } })
  const [first, second, key, before] = [body(), body(), withKey(), await count(api, api, 'customer')]
  for (const [input, headers] of [
    [first, key],
    [second, {}],
  ] as const) {
    lose('lost-answer', '/Persons')
    assertProblem(await post(api, '/customers', input, headers), 'outcome_unknown', api.baseUrl)
  }
  await having(noReferences, anyReferences, async () => {
    assert.equal((await post(api, '/customers', first, key)).status, 201)
    await shop.followUp(noReferences)
    assertRejected(api, await post(api, '/customers', body(), withKey()), 'invalid_field', '/references/shopsFor')
  })
  assert.deepEqual([persons(), await count(api, api, 'customer'), await open()], [2, before + 2, [0, 0]])
})

test('a completed customer change is stored although its reference type is restricted', async () => {
  const { id } = (await post(api, '/customers', buildCustomer())).json.data
  lose('lost-answer', '/Persons/*', 'PUT')
  assertProblem(
    await put(api, `/customers/${id}`, { references: { shopsFor: '4413' } }),
    'outcome_unknown',
    api.baseUrl,
  )
  await shop.followUp(noReferences)
  const { references } = (await api.get(`/customers/${id}`)).json.data
  assert.deepEqual([references.shopsFor?.referenceValueId, await open()], ['4413', [0, 0]])
})

test('a write that never arrived is rejected after a look-up', async () => {
  const { id } = await bought({ [tee.sku]: 1 })
  const [ofOrder, ofVoucher, ofReturn] = [withKey(), withKey(), withKey()]
  const tries = [
    { path: orders, again: () => post(api, '/orders', order(), ofOrder) },
    { path: orders, again: () => post(api, '/vouchers', gift, ofVoucher) },
    { path: returns, again: () => giveBack(id, { [tee.sku]: 1 }, {}, ofReturn) },
  ]
  for (const { path, again } of tries) {
    lose('reset-before', path)
    assertProblem(await again(), 'outcome_unknown', api.baseUrl)
  }
  const are = async (status: number) => {
    for (const { again } of tries) assert.equal((await again()).status, status)
  }
  await withoutPaypal(() =>
    having(noSize, reasons, async () => {
      await simulator.stopAccepting()
      await are(504)
      assert.equal((await open())[0], 3, 'the outcome stays unknown while the back office is unreachable')
      await simulator.accept()
      await are(422)
    }),
  )
  assert.deepEqual([placed(), sales(), returnsThere(), await open()], [0, 0, 0, [0, 0]])
})
