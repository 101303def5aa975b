import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setGateways } from '../../../src/store/tenancy/gateways.ts'
import { assertRejected, buildCustomer } from '../../support/customer-bodies.ts'
import { getCreatedRecord } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import { gift } from '../../support/voucher-shop.ts'
import { post, put, withKey } from '../../support/write.ts'
import { countRows, startShopFixture } from '../shop.ts'
import { createOrderFixture } from './orders.ts'
import { createReturnFixture } from './returns.ts'

const buildReason = (code: string) => ({ code, name: code.toLowerCase() })
const shop = await startShopFixture({ returnReasons: [buildReason('SIZE'), buildReason('COLOUR')] })
const { api, simulator } = shop
const admin = await api.createAccount('admin')
const shopper = await createOrderFixture(shop)
const { tee, buildOrder, countPlaced, countOrders } = shopper
const { placeOrder, postReturn, countUpstreamReturns, getReturnable } = createReturnFixture(shop, shopper)

const loseCall = (kind: 'lost-response' | 'reset-before', path: string, method = 'POST') =>
  simulator.faults.add({ kind, method, path, times: 1 })
const rejectWith = (path: string, code: number) =>
  simulator.faults.add({ kind: 'error', method: 'POST', path, status: 403, code, times: 1 })
const [orders, returns] = ['/Persons/*/Orders', '/Persons/*/Returns']
/** Counts open write intents and reservations. */
const countOpen = async () => [await countRows(api, api, 'intent'), await countRows(api, api, 'reservation')]
const countCreatedPersons = () => simulator.ledger.findEffects('person created').length
const countVoucherSales = () => simulator.ledger.findEffects('voucher sold').length

/** Changes settings and waits until they are in effect, which the time zone in list responses shows. */
async function applySettings(change: object, timeZone: string) {
  assert.equal((await put(admin, '/settings', { ...change, timeZone })).status, 200)
  await waitUntil(
    async () => (await api.get('/stores')).json.meta.timeZone === timeZone,
    'the settings are in effect',
    5_000,
  )
}
const withSettings = (change: object, before: object, work: () => Promise<unknown>) =>
  applySettings(change, 'Australia/Sydney')
    .then(work)
    .finally(() => applySettings(before, 'Australia/Melbourne'))
const withoutPaypal = (work: () => Promise<unknown>) => {
  const replaceGateways = (names: readonly string[]) => api.db.transaction(tx => setGateways(tx, api.service, names))
  return replaceGateways(['visa', 'cash', 'wrong'])
    .then(work)
    .finally(() => replaceGateways(['visa', 'cash', 'wrong', 'paypal']))
}
const [noVouchers, vouchers] = [
  { vouchersEnabled: false, giftCardSku: null },
  { vouchersEnabled: true, giftCardSku: '9001' },
]
const [noReferences, anyReferences] = [{ referenceTypes: ['season'] }, { referenceTypes: [] }]
const [noSize, reasons] = [
  { returnReasons: [buildReason('COLOUR')] },
  { returnReasons: [buildReason('SIZE'), buildReason('COLOUR')] },
]

test('a placed order is finished although its gateway was removed', async () => {
  const [body, key, before] = [buildOrder(), withKey(), await countOrders()]
  for (const headers of [key, {}]) {
    loseCall('lost-response', orders)
    assertProblem(await post(api, '/orders', body, headers), 'outcome_unknown', api.baseUrl)
  }
  await withoutPaypal(async () => {
    assert.equal(getCreatedRecord(await post(api, '/orders', body, key)).payments[0].gateway, 'paypal')
    await shop.recoverWrites()
    assertRejected(api, await post(api, '/orders', body, withKey()), 'unknown_gateway', '/payments/0/gateway')
  })
  assert.deepEqual([countPlaced(), await countOrders(), await countOpen()], [2, before + 2, [0, 0]])
})

test('a placed order is finished although its repeat causes an upstream error', async () => {
  const [body, key, before] = [buildOrder(), withKey(), await countOrders()]
  loseCall('lost-response', orders)
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  rejectWith(orders, 5005)
  getCreatedRecord(await post(api, '/orders', body, key))
  assert.deepEqual([countPlaced(), await countOrders(), await countOpen()], [1, before + 1, [0, 0]])
})

test('a sold voucher is recorded although vouchers are no longer configured', async () => {
  const [key, countedBefore] = [withKey(), await countRows(api, api, 'upstream_voucher_sale')]
  for (const headers of [key, {}]) {
    loseCall('lost-response', orders)
    assertProblem(await post(api, '/vouchers', gift, headers), 'outcome_unknown', api.baseUrl)
  }
  await withSettings(noVouchers, vouchers, async () => {
    assert.equal((await post(api, '/vouchers', gift, key)).status, 202)
    await shop.recoverWrites(noVouchers)
    assertProblem(await post(api, '/vouchers', gift, withKey()), 'voucher_not_configured', api.baseUrl)
  })
  assert.deepEqual(
    [countVoucherSales(), await countRows(api, api, 'upstream_voucher_sale'), await countOpen()],
    [2, countedBefore + 2, [0, 0]],
  )
})

test('a sold voucher is recorded although its repeat causes an upstream error', async () => {
  const key = withKey()
  loseCall('lost-response', orders)
  assertProblem(await post(api, '/vouchers', gift, key), 'outcome_unknown', api.baseUrl)
  rejectWith(orders, 5129)
  assert.equal((await post(api, '/vouchers', gift, key)).status, 202)
  assert.deepEqual([countVoucherSales(), await countOpen()], [1, [0, 0]])
})

test('a sold voucher is recorded although the voucher SKU has changed', async () => {
  const countedBefore = await countRows(api, api, 'upstream_voucher_sale')
  loseCall('lost-response', orders)
  assertProblem(await post(api, '/vouchers', gift), 'outcome_unknown', api.baseUrl)
  await shop.recoverWrites({ giftCardSku: '4711' })
  assert.deepEqual([await countRows(api, api, 'upstream_voucher_sale'), await countOpen()], [countedBefore + 1, [0, 0]])
})

test('a sold voucher is recorded although its email date has passed', async () => {
  const countedBefore = await countRows(api, api, 'upstream_voucher_sale')
  const [west, east] = ['Etc/GMT+12', 'Etc/GMT-14']
  await applySettings({}, west)
  loseCall('lost-response', orders)
  const today = { deliveryDate: Temporal.Now.plainDateISO(west).toString() }
  assertProblem(await post(api, '/vouchers', { ...gift, ...today }), 'outcome_unknown', api.baseUrl)
  await applySettings({}, 'Australia/Melbourne')
  await shop.recoverWrites({ timeZone: east })
  assert.deepEqual(
    [countVoucherSales(), await countRows(api, api, 'upstream_voucher_sale'), await countOpen()],
    [1, countedBefore + 1, [0, 0]],
  )
})

test('a completed return is finished although its reason was removed', async () => {
  const bodies = [
    { id: (await placeOrder({ [tee.sku]: 2 })).id, headers: withKey() },
    { id: (await placeOrder({ [tee.sku]: 2 })).id, headers: {} },
  ] as const
  for (const { id, headers } of bodies) {
    loseCall('lost-response', returns)
    assertProblem(await postReturn(id, { [tee.sku]: 2 }, {}, headers), 'outcome_unknown', api.baseUrl)
  }
  await withSettings(noSize, reasons, async () => {
    const [{ id, headers }] = bodies
    assert.equal(getCreatedRecord(await postReturn(id, { [tee.sku]: 2 }, {}, headers)).lines[0].reasonCode, 'SIZE')
    await shop.recoverWrites(noSize)
  })
  assert.deepEqual([countUpstreamReturns(), await countOpen()], [2, [0, 0]])
  for (const { id } of bodies)
    assert.deepEqual(await getReturnable(id), [{ sku: tee.sku, sold: 2, returned: 2, returnable: 0 }])
})

test('a completed return is finished although its repeat causes an upstream error', async () => {
  const [{ id }, key] = [await placeOrder({ [tee.sku]: 1 }), withKey()]
  loseCall('lost-response', returns)
  assertProblem(await postReturn(id, { [tee.sku]: 1 }, {}, key), 'outcome_unknown', api.baseUrl)
  rejectWith(returns, 5085)
  getCreatedRecord(await postReturn(id, { [tee.sku]: 1 }, {}, key))
  assert.deepEqual([countUpstreamReturns(), await countOpen()], [1, [0, 0]])
})

test('a created customer is stored although its reference type is now restricted', async () => {
  const buildBody = () => buildCustomer({ mobile: '0400123456', references: { shopsFor: '4413' } })
  const [first, second, key, before] = [buildBody(), buildBody(), withKey(), await countRows(api, api, 'customer')]
  for (const [input, headers] of [
    [first, key],
    [second, {}],
  ] as const) {
    loseCall('lost-response', '/Persons')
    assertProblem(await post(api, '/customers', input, headers), 'outcome_unknown', api.baseUrl)
  }
  await withSettings(noReferences, anyReferences, async () => {
    assert.equal((await post(api, '/customers', first, key)).status, 201)
    await shop.recoverWrites(noReferences)
    assertRejected(api, await post(api, '/customers', buildBody(), withKey()), 'invalid_field', '/references/shopsFor')
  })
  assert.deepEqual(
    [countCreatedPersons(), await countRows(api, api, 'customer'), await countOpen()],
    [2, before + 2, [0, 0]],
  )
})

test('a completed customer change is stored although its reference type is restricted', async () => {
  const { id } = (await post(api, '/customers', buildCustomer())).json.data
  loseCall('lost-response', '/Persons/*', 'PUT')
  assertProblem(
    await put(api, `/customers/${id}`, { references: { shopsFor: '4413' } }),
    'outcome_unknown',
    api.baseUrl,
  )
  await shop.recoverWrites(noReferences)
  const { references } = (await api.get(`/customers/${id}`)).json.data
  assert.deepEqual([references.shopsFor?.referenceValueId, await countOpen()], ['4413', [0, 0]])
})

test('a write that never arrived is rejected after a look-up', async () => {
  const { id } = await placeOrder({ [tee.sku]: 1 })
  const [orderKey, voucherKey, returnKey] = [withKey(), withKey(), withKey()]
  const attempts = [
    { path: orders, again: () => post(api, '/orders', buildOrder(), orderKey) },
    { path: orders, again: () => post(api, '/vouchers', gift, voucherKey) },
    { path: returns, again: () => postReturn(id, { [tee.sku]: 1 }, {}, returnKey) },
  ]
  for (const { path, again } of attempts) {
    loseCall('reset-before', path)
    assertProblem(await again(), 'outcome_unknown', api.baseUrl)
  }
  const assertAllReturn = async (status: number) => {
    for (const { again } of attempts) assert.equal((await again()).status, status)
  }
  await withoutPaypal(() =>
    withSettings(noSize, reasons, async () => {
      await simulator.stopAccepting()
      await assertAllReturn(504)
      assert.equal((await countOpen())[0], 3, 'the outcome stays unknown while the back office is unreachable')
      await simulator.accept()
      await assertAllReturn(422)
    }),
  )
  assert.deepEqual([countPlaced(), countVoucherSales(), countUpstreamReturns(), await countOpen()], [0, 0, 0, [0, 0]])
})
