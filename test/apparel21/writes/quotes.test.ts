import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { address, toCents, toDollars } from '../../support/order-shop.ts'
import { getFieldErrors } from '../../support/problem.ts'
import { post, withKey } from '../../support/write.ts'
import { openShop } from '../shop.ts'

const shop = await openShop()
after(() => shop.stop())
const { simulator, api } = shop
beforeEach(() => shop.reset())

const member = [...simulator.state.persons.values()].find(
  ({ email, loyalties }) => email !== '' && loyalties.some(({ active }) => active),
)
const card = member?.loyalties.find(({ active }) => active)
assert.ok(member && card)
const customerId = String(member.id)
const postQuote = (body: object) => post(api, '/orders/quote', body)
const postOrder = (quoteId: string, total: string, lines: object[], more: object = {}, headers = {}) =>
  post(
    api,
    '/orders',
    {
      customerId,
      quoteId,
      billingAddress: address,
      deliveryAddress: address,
      lines,
      payments: [{ gateway: 'paypal', amount: total, reference: 'PAYID-1' }],
      ...more,
    },
    headers,
  )

test('promotions and loyalty of the back office are quoted and ordered', async () => {
  simulator.state.loyaltyPercents.set(card.typeId, 5)
  const { tee } = shop.findItems()
  const lines = [{ sku: tee.sku, quantity: 4 }]
  const { data } = (await postQuote({ customerId, lines, freightOptionId: '161' })).json
  const [line] = data.lines
  assert.deepEqual(
    line.discounts.map(({ type, percentage }: Record<string, string>) => [type, percentage]),
    [
      ['promotion', '10'],
      ['loyalty', '5'],
    ],
  )
  const afterPromotion = Math.round(toCents(tee.price) * 4 * 0.9)
  assert.equal(line.value, toDollars(afterPromotion - Math.round(afterPromotion * 0.05)))
  const placed = await postOrder(data.quoteId, data.total, lines)
  assert.equal(placed.status, 201, placed.text)
  assert.equal(placed.json.data.total, data.total)
  const stored = simulator.state.orders.get(Number(placed.json.data.id))
  assert.deepEqual(
    stored?.lines[0]?.discounts.map(({ typeId, promoId, loyaltyId }) => [typeId, promoId, loyaltyId]),
    [
      [2, '1080', ''],
      [3, '', String(card.id)],
    ],
  )
  assert.deepEqual([stored?.freight?.id, stored?.freight?.name, stored?.freight?.value], ['161', 'Express', 15])
  simulator.state.loyaltyPercents.clear()
})

test('an ordered quote keeps its price although the product is older here', async () => {
  const { tee } = shop.findItems()
  const lines = [{ sku: tee.sku, quantity: 1 }]
  const price = toCents(tee.price) + 100
  simulator.change({ kind: 'edit-sku', id: Number(tee.sku), fields: { price: price / 100 } })
  const { data } = (await postQuote({ customerId, lines })).json
  assert.equal(data.total, toDollars(price))
  assert.equal((await postOrder(data.quoteId, data.total, lines)).status, 201)
  simulator.change({ kind: 'edit-sku', id: Number(tee.sku), fields: { price: Number(tee.price) } })
})

test('a quote for one shopper is not accepted for another', async () => {
  const { tee } = shop.findItems()
  const lines = [{ sku: tee.sku, quantity: 1 }]
  const other = [...simulator.state.persons.values()].find(({ id, email }) => email !== '' && id !== member.id)
  const { data } = (await postQuote({ customerId, lines })).json
  const response = await postOrder(data.quoteId, data.total, lines, { customerId: String(other?.id) })
  assert.deepEqual(getFieldErrors(response), ['/customerId invalid_field'])
})

test('a cart that does not add up is rejected', async () => {
  const { tee } = shop.findItems()
  for (const fault of ['empty-body', 'html'] as const) {
    simulator.faults.add({ kind: fault, path: '/Carts/*' })
    const response = await postQuote({ customerId, lines: [{ sku: tee.sku, quantity: 1 }] })
    assert.deepEqual([response.status, response.json.code], [502, 'back_office_error'])
    simulator.faults.clear()
  }
})

test('64 clients get quotes from a slow, hanging and failing back office', async () => {
  const { tee, hat } = shop.findItems()
  const path = '/Carts/*'
  simulator.faults.add({ kind: 'latency', path, seconds: 0.2 })
  simulator.faults.add({ kind: 'hang', path, probability: 0.05 })
  simulator.faults.add({ kind: 'lost-response', path, probability: 0.1 })
  const lines = [
    { sku: tee.sku, quantity: 1 },
    { sku: hat.sku, quantity: 2 },
  ]
  const total = toDollars(toCents(tee.price) + 2 * toCents(hat.price))
  const sendUntilQuoted = async () => {
    for (;;) {
      const response = await postQuote({ customerId, lines })
      if (response.status !== 503) return response
    }
  }
  let settled = 0
  const pending = Array.from({ length: 64 }, () => sendUntilQuoted().finally(() => settled++))
  // No connection is held during a back office call, so other requests are answered before the quotes.
  assert.equal((await api.get('/products?limit=1')).status, 200)
  assert.ok(settled < 64)
  for (const { status, json, text } of await Promise.all(pending)) {
    assert.equal(status, 200, text)
    assert.equal(json.data.total, total)
  }
})

test('an order is found again after its quote has expired', async t => {
  const { tee } = shop.findItems()
  const lines = [{ sku: tee.sku, quantity: 1 }]
  const { data } = (await postQuote({ customerId, lines })).json
  const key = withKey()
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  assert.equal((await postOrder(data.quoteId, data.total, lines, {}, key)).status, 504)
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 1_801_000 })
  const repeat = await postOrder(data.quoteId, data.total, lines, {}, key)
  t.mock.timers.reset()
  assert.deepEqual([repeat.status, repeat.json.data?.total], [201, data.total], repeat.text)
  assert.equal(simulator.ledger.findEffects('order created').length, 1)
})

test('64 clients order by quote once each while responses are lost', async () => {
  const { tee } = shop.findItems()
  const lines = [{ sku: tee.sku, quantity: 3 }]
  const { data } = (await postQuote({ customerId, lines, freightOptionId: '162' })).json
  const path = '/Persons/*/Orders'
  simulator.faults.add({ kind: 'latency', method: 'POST', path, seconds: 0.1 })
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path, probability: 0.2 })
  simulator.faults.add({ kind: 'hang', path: '/FreightOptions', probability: 0.1 })
  const sendUntilPlaced = async () => {
    const key = withKey()
    for (;;) {
      const response = await postOrder(data.quoteId, data.total, lines, {}, key)
      if (response.status < 500 && response.status !== 409) return response
    }
  }
  const [placed, options] = await Promise.all([
    Promise.all(Array.from({ length: 64 }, sendUntilPlaced)),
    Promise.all(Array.from({ length: 64 }, () => api.get('/freight-options'))),
  ])
  const ids = new Set(placed.map(({ status, json }) => (status === 201 ? json.data.id : json.detail)))
  assert.equal(ids.size, 64)
  for (const { json } of placed) assert.equal(json.data.total, data.total)
  assert.equal(simulator.ledger.findEffects('order created').length, 64)
  for (const { status } of options) assert.ok(status === 200 || status === 503, String(status))
})
