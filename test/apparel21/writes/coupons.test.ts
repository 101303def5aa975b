import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { address, toCents, toDollars } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import type { TestResponse } from '../../support/service.ts'
import { assertReplay, post, remove, withKey } from '../../support/write.ts'
import { openShop } from '../shop.ts'

const shop = await openShop()
after(() => shop.stop())
const { simulator, api } = shop
beforeEach(() => shop.reset())

const [buyer] = [...simulator.state.persons.values()].filter(({ email, id }) => email !== '' && id !== 3_001)
const customerId = String(buyer?.id)
const { tee } = shop.findItems()
const lines = [{ sku: tee.sku, quantity: 2 }]
const path = '/Coupons/Redemptions'

/** Adds a unique coupon that no other test uses. */
function addCoupon(code: string) {
  const template = simulator.state.coupons.get('SEASON1')
  assert.ok(template)
  simulator.state.coupons.set(code, { ...template, code, redeemed: false, lockedBy: '', lockedUntil: 0 })
  return code
}
const reserve = (code: string, headers = {}) => post(api, '/coupons/reservations', { code, customerId, lines }, headers)
const placeOrder = ({ quoteId, total }: { quoteId: string; total: string }, headers = {}) => {
  const payments = [{ gateway: 'paypal', amount: total, reference: 'PAYID-1' }]
  const body = { customerId, quoteId, billingAddress: address, deliveryAddress: address, lines, payments }
  return post(api, '/orders', body, headers)
}

/** Repeats a request with its key, as a client does, until its outcome is known. */
async function sendUntilFinal(send: () => Promise<TestResponse>): Promise<TestResponse> {
  for (;;) {
    const response = await send()
    const { status, json } = response
    if (status < 500 && json.code !== 'idempotency_in_progress' && json.code !== 'concurrent_update') return response
    await delay(100)
  }
}

test('a coupon is validated, reserved and redeemed by an order', async () => {
  const code = addCoupon('ONCE')
  const valid = await post(api, '/coupons/validate', { code, customerId })
  assert.deepEqual(valid.json.data, { code, name: 'New season', description: '20 % off' })
  assert.equal(simulator.ledger.findEffects('coupon reserved', code).length, 0)
  const reserved = await reserve(code)
  assert.equal(reserved.status, 201, reserved.text)
  const { quote } = reserved.json.data
  assert.equal(quote.total, toDollars(Math.round(toCents(tee.price) * 2 * 0.8)))
  assert.deepEqual([quote.lines[0].discounts[0].type, quote.lines[0].discounts[0].reason], ['coupon', code])
  const placed = await placeOrder(quote)
  assert.equal(placed.status, 201, placed.text)
  assert.equal(placed.json.data.total, quote.total)
  assert.equal(simulator.ledger.findEffects('coupon redeemed', code).length, 1)
  assert.equal((await reserve(code)).json.code, 'coupon_unusable')
  // The quote can't redeem the coupon again.
  assert.equal((await placeOrder(quote)).json.code, 'coupon_unusable')
})

test('an unusable coupon is rejected with the reason', async () => {
  for (const code of ['NONE', 'DISABLED', 'EARLY', 'EXPIRED', 'PERSONAL', 'ELSEWHERE']) {
    const response = await reserve(code)
    assertProblem(response, 'coupon_unusable', api.baseUrl, '/coupons/reservations')
    assert.ok(response.json.detail.length > 20)
  }
  assert.equal(simulator.state.coupons.get('ELSEWHERE')?.lockedBy, '')
})

test('a reserved coupon is locked until its own service releases it', async () => {
  const code = addCoupon('LOCKED')
  const { data } = (await reserve(code)).json
  const second = await reserve(code)
  assertProblem(second, 'coupon_locked', api.baseUrl, '/coupons/reservations')
  const other = await api.createService({})
  const foreign = await remove(other, `/coupons/reservations/${data.id}`)
  assert.equal(foreign.json.code, 'not_found')
  for (let i = 0; i < 2; i++) assert.equal((await remove(api, `/coupons/reservations/${data.id}`)).status, 200)
  assert.equal((await reserve(code)).status, 201)
})

test('a reservation with an invalid discount is released', async () => {
  const code = addCoupon('NEGATIVE')
  Object.assign(simulator.state.coupons.get(code) ?? {}, { percentage: -20 })
  const response = await reserve(code, withKey())
  assertProblem(response, 'back_office_error', api.baseUrl, '/coupons/reservations')
  assert.equal(simulator.ledger.findEffects('coupon reserved', code).length, 1)
  assert.equal(simulator.state.coupons.get(code)?.lockedBy, '')
})

test('a dry run of a reservation reserves nothing', async () => {
  const code = addCoupon('DRY')
  const { status, json } = await reserve(code, { prefer: 'tx=rollback' })
  assert.deepEqual([status, json.data.id, json.data.quote.lines.length], [201, null, 1])
  assert.equal(simulator.state.coupons.get(code)?.lockedBy, '')
})

test('a lost response is resolved by the request, never rejected', async () => {
  for (const [code, kind] of [
    [addCoupon('LOST'), 'lost-response'],
    [addCoupon('CUT'), 'truncated'],
    [addCoupon('HUNG'), 'hang'],
    [addCoupon('RESET'), 'reset-before'],
  ] as const) {
    simulator.faults.add({ kind, method: 'POST', path, times: 1 })
    const key = withKey()
    assert.equal((await reserve(code, key)).json.code, 'outcome_unknown', kind)
    const reserved = await sendUntilFinal(() => reserve(code, key))
    assert.equal(reserved.status, 201, reserved.text)
    assertReplay(await reserve(code, key), reserved)
    // The order redeems the reservation, although the response to the order is lost, too.
    simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Orders', times: 1 })
    const orderKey = withKey()
    assert.equal((await placeOrder(reserved.json.data.quote, orderKey)).status, 504)
    const placed = await sendUntilFinal(() => placeOrder(reserved.json.data.quote, orderKey))
    assert.equal(placed.status, 201, placed.text)
    assert.equal(simulator.ledger.findEffects('coupon redeemed', code).length, 1)
  }
})

test('a reservation in doubt is released if its client never repeats it', async () => {
  const code = addCoupon('LEFT')
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path, times: 1 })
  const key = withKey()
  assert.equal((await reserve(code, key)).json.code, 'outcome_unknown')
  assert.notEqual(simulator.state.coupons.get(code)?.lockedBy, '')
  await shop.recoverWrites()
  assert.equal(simulator.state.coupons.get(code)?.lockedBy, '')
  // A late repeat of the request reserves the coupon again.
  const reserved = await reserve(code, key)
  assert.equal(reserved.status, 201, reserved.text)
  await shop.recoverWrites()
  assert.equal((await placeOrder(reserved.json.data.quote)).status, 201)
})

test('a lost release is repeated until the coupon is free', async () => {
  const code = addCoupon('KEPT')
  const { id } = (await reserve(code)).json.data
  simulator.faults.add({ kind: 'hang', method: 'DELETE', path: `${path}/*`, times: 1 })
  assert.equal((await remove(api, `/coupons/reservations/${id}`)).json.code, 'outcome_unknown')
  assert.notEqual(simulator.state.coupons.get(code)?.lockedBy, '')
  assert.equal(await shop.recoverWrites(), 1)
  assert.equal(simulator.state.coupons.get(code)?.lockedBy, '')
  assert.equal(await shop.recoverWrites(), 0)
})

test('one of 64 clients gets a coupon despite back-office failures', async () => {
  const code = addCoupon('RACE')
  simulator.faults.add({ kind: 'latency', path: `${path}*`, seconds: 0.05 })
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path, probability: 0.2 })
  simulator.faults.add({ kind: 'hang', method: 'POST', path, probability: 0.03 })
  const responses = await Promise.all(
    Array.from({ length: 64 }, () => {
      const key = withKey()
      return sendUntilFinal(() => reserve(code, key))
    }),
  )
  const won = responses.filter(({ status }) => status === 201)
  assert.equal(won.length, 1)
  for (const response of responses)
    if (response.status !== 201) assertProblem(response, 'coupon_locked', api.baseUrl, '/coupons/reservations')
  simulator.faults.clear()
  assert.equal((await placeOrder(won[0]?.json.data.quote)).status, 201)
  assert.equal(simulator.ledger.findEffects('coupon redeemed', code).length, 1)
})
