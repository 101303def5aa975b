import assert from 'node:assert/strict'
import { test } from 'node:test'
import { address, toCents, toDollars } from '../support/order-shop.ts'
import { assertProblem, getFieldErrors } from '../support/problem.ts'
import { post } from '../support/write.ts'
import { findItemsAndCustomer } from './sales.ts'
import type { Shop } from './shop.ts'

const quote = (shop: Shop, body: object) => post(shop.api, '/orders/quote', body)

async function postOrderWithPayment(shop: Shop, amount: string, more: object) {
  const { customerId } = await findItemsAndCustomer(shop)
  const payments = [{ gateway: 'paypal', amount, reference: 'PAYID-1' }]
  return post(shop.api, '/orders', { customerId, billingAddress: address, deliveryAddress: address, payments, ...more })
}

/** Contract of quotes and freight options, the same for every driver. */
export function addQuoteContract(shop: () => Shop) {
  test('a quote has the prices, discounts and freight of its order', async () => {
    const { items, customerId } = await findItemsAndCustomer(shop())
    const discounts = [{ type: 'manual', reason: 'Staff', amount: '1.00' }]
    const lines = [
      { sku: items[0].sku, quantity: 1, discounts },
      { sku: items[1].sku, quantity: 2 },
    ]
    const response = await quote(shop(), { customerId, lines, freight: '4.50' })
    assert.equal(response.status, 200, response.text)
    const { data } = response.json
    const [first, second] = [toCents(items[0].price) - 100, toCents(items[1].price) * 2]
    assert.deepEqual(
      data.lines.map(({ sku, price, value }: Record<string, string>) => [sku, price, value]),
      [
        [items[0].sku, items[0].price, toDollars(first)],
        [items[1].sku, items[1].price, toDollars(second)],
      ],
    )
    assert.deepEqual(data.lines[0].discounts, [{ ...discounts[0], percentage: null }])
    assert.equal(data.total, toDollars(first + second + 450))
    // The request's lines and the quote's lines lead to the same order, although `freight` is not sent again.
    for (const sentLines of [lines, data.lines.map(({ value: _, ...line }: { value: string }) => line)]) {
      const placed = await postOrderWithPayment(shop(), data.total, { quoteId: data.quoteId, lines: sentLines })
      assert.equal(placed.status, 201, placed.text)
      assert.deepEqual([placed.json.data.total, placed.json.data.freight], [data.total, '4.50'])
      assert.equal(placed.json.data.lines[0].value, toDollars(first))
    }
  })

  test('an order that differs from its quote is rejected', async () => {
    const { items } = await findItemsAndCustomer(shop())
    const lines = [{ sku: items[0].sku, quantity: 1 }]
    const { data } = (await quote(shop(), { lines })).json
    const { quoteId, total } = data
    const cases: [object, string, string[]][] = [
      [{ lines: [{ sku: items[0].sku, quantity: 2 }] }, total, ['/lines/0/quantity invalid_field']],
      [{ lines: [...lines, { sku: items[1].sku, quantity: 1 }] }, total, ['/lines/1/sku invalid_field']],
      [{ lines: [{ ...lines[0], price: '0.01' }] }, total, ['/lines/0/price invalid_field']],
      [{ lines, freight: '1.00' }, total, ['/freight invalid_field']],
      [{ lines }, '0.01', ['/payments payment_total_mismatch']],
    ]
    for (const [more, amount, errors] of cases) {
      const response = await postOrderWithPayment(shop(), amount, { quoteId, ...more })
      assert.equal(response.status, 422, response.text)
      assert.deepEqual(getFieldErrors(response), errors)
    }
    const forged = await postOrderWithPayment(shop(), total, { lines, quoteId: `${quoteId.slice(0, -4)}AAAA` })
    assert.deepEqual(getFieldErrors(forged), ['/quoteId invalid_field'])
  })

  test('an expired quote is rejected', async t => {
    const { items } = await findItemsAndCustomer(shop())
    const lines = [{ sku: items[0].sku, quantity: 1 }]
    const { data } = (await quote(shop(), { lines })).json
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 1_801_000 })
    const response = await postOrderWithPayment(shop(), data.total, { quoteId: data.quoteId, lines })
    t.mock.timers.reset()
    assertProblem(response, 'quote_expired', shop().api.baseUrl, '/orders')
  })

  test('a quote of unknown SKUs, units or shoppers is rejected', async () => {
    const { items } = await findItemsAndCustomer(shop())
    const unknown = await quote(shop(), {
      customerId: 'nobody',
      lines: [
        { sku: items[0].sku, quantity: 1 },
        { sku: 'unknown', quantity: 1 },
      ],
    })
    assert.deepEqual(getFieldErrors(unknown), ['/customerId invalid_field', '/lines/1/sku unknown_sku'])
    const none = await quote(shop(), { lines: [{ sku: items[0].sku, quantity: 0 }] })
    assert.deepEqual([none.status, none.json.errors[0].pointer], [422, '/lines/0/quantity'])
  })

  test('a coupon is quoted and ordered, or unavailable with a reason', async () => {
    const { api, simulator } = shop()
    const { capabilities } = (await api.get('/capabilities')).json.data
    const capability = capabilities.find(({ name }: { name: string }) => name === 'coupons')
    const { items, customerId } = await findItemsAndCustomer(shop())
    const lines = [{ sku: items[0].sku, quantity: 1 }]
    const reserved = await post(api, '/coupons/reservations', { code: 'BLACK21', customerId, lines })
    if (!capability.available) {
      assertProblem(reserved, 'capability_unavailable', api.baseUrl, '/coupons/reservations')
      assert.ok(capability.reason)
      return
    }
    assert.equal(reserved.status, 201, reserved.text)
    const { quote: quoted } = reserved.json.data
    assert.equal(quoted.total, toDollars(Math.round(toCents(items[0].price) * 0.8)))
    assert.equal((await postOrderWithPayment(shop(), quoted.total, { quoteId: quoted.quoteId, lines })).status, 201)
    assert.equal(simulator.ledger.findEffects('coupon redeemed', 'BLACK21').length, 1)
  })

  test('freight options are listed and quoted, or unavailable with a reason', async () => {
    const { api } = shop()
    const { capabilities } = (await api.get('/capabilities')).json.data
    const capability = capabilities.find(({ name }: { name: string }) => name === 'freightOptions')
    const listed = await api.get('/freight-options')
    if (!capability.available) {
      assert.deepEqual(listed.json.data, [])
      assert.ok(capability.reason)
      return
    }
    const { items } = await findItemsAndCustomer(shop())
    const lines = [{ sku: items[0].sku, quantity: 1 }]
    const [, standard] = listed.json.data
    assert.deepEqual([standard.name, standard.carrier], ['Standard', 'Australia Post'])
    const { data } = (await quote(shop(), { lines, freightOptionId: standard.id })).json
    assert.deepEqual([data.freight, data.freightOptionId], ['9.95', standard.id])
    assert.equal(data.total, toDollars(toCents(items[0].price) + 995))
    assert.equal((await postOrderWithPayment(shop(), data.total, { quoteId: data.quoteId, lines })).status, 201)
    const unknown = await quote(shop(), { lines, freightOptionId: '1' })
    assert.deepEqual(getFieldErrors(unknown), ['/freightOptionId invalid_field'])
  })
}
