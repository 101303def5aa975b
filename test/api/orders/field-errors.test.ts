import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  address,
  buildOrder,
  createReturn,
  getReturnable,
  getSales,
  getStock,
  placeOrder,
  startOrderShop,
} from '../../support/order-shop.ts'
import { assertProblem, getErrorDetails, getFieldErrors } from '../../support/problem.ts'
import type { TestResponse } from '../../support/service.ts'
import { post } from '../../support/write.ts'

const { api, createShop } = await startOrderShop()
after(() => api.stop())

const getDetail = ({ json }: TestResponse, pointer: string) =>
  json.errors.find((error: { pointer: string }) => error.pointer === pointer)?.detail

test('all errors of an order are reported together and nothing is stored', async () => {
  const shop = await createShop()
  const before = await getStock(shop)
  const response = await post(shop, '/orders', {
    ...buildOrder([
      { sku: 'HOOD-S', quantity: 1, price: '29.98' },
      { sku: 'hood-s', quantity: 1 },
      { sku: 'NONE', quantity: 1 },
      { sku: 'TEE', quantity: 1, discounts: [{ type: 'staff', amount: '10.01', percentage: '100.1' }] },
    ]),
    customerId: 'nobody',
    pickupStoreNumber: '999',
    payments: [
      { gateway: 'paypaI', amount: '1.00' },
      { gateway: 'visa', amount: '0.00', voucher: { number: '1', validationId: 'x' } },
      { gateway: 'visa', amount: '1.00', voucher: { number: '1', validationId: 'x' } },
    ],
  })
  assertProblem(response, 'invalid_field', api.baseUrl, '/orders')
  assert.deepEqual(getFieldErrors(response), [
    '/customerId invalid_field',
    '/pickupStoreNumber invalid_field',
    '/lines/0/price invalid_field',
    '/lines/1/sku unknown_sku',
    '/lines/2/sku unknown_sku',
    '/lines/3/discounts/0/percentage invalid_field',
    '/lines/3/discounts invalid_field',
    '/payments/0/gateway unknown_gateway',
    '/payments/1/amount invalid_field',
    '/payments/2/voucher/number invalid_field',
  ])
  assert.equal(getDetail(response, '/lines/0/price'), 'The price of HOOD-S must be 29.99 AUD.')
  assert.equal(
    getDetail(response, '/lines/3/discounts'),
    'The discounts of TEE must be at most 10.00 AUD, the value of the line.',
  )
  assert.equal(getDetail(response, '/payments/0/gateway'), 'Gateway paypaI not found; use one of paypal, visa.')
  assert.deepEqual(await getStock(shop), before)
  assert.deepEqual((await shop.get('/customers/65432/orders')).json.data, [])
  assert.deepEqual((await shop.get('/orders/transactions/search')).json.data, [])
})

test('a wrong payment total is rejected with the amount due', async () => {
  for (const [amount, detail] of [
    ['69.92', 'The payments must total 69.93 AUD; they total 69.92 AUD.'],
    [
      '69.94',
      'The payments must total 69.93 AUD; they total 69.94 AUD. Tax on top of the prices belongs in `taxLines`.',
    ],
  ]) {
    const body = buildOrder([{ sku: 'HOOD-S', quantity: 2 }], {
      freight: '9.95',
      payments: [{ gateway: 'visa', amount }],
    })
    const response = await post(api, '/orders', body)
    assertProblem(response, 'payment_total_mismatch', api.baseUrl, '/orders')
    assert.equal(response.json.detail, detail)
  }
})

test('an invalid order shape is 400 and a broken rule 422', async () => {
  const valid = buildOrder([{ sku: 'TEE', quantity: 1 }])
  const buildLine = (quantity: unknown) => ({ ...valid, lines: [{ sku: 'TEE', quantity }] })
  const { customerId: _, ...anonymous } = valid
  const { country: __, ...nowhere } = address
  for (const [body, status, expected] of [
    [buildLine(0), 422, '/lines/0/quantity invalid_field'],
    [buildLine(-1), 422, '/lines/0/quantity invalid_field'],
    [buildLine(10_000), 422, '/lines/0/quantity invalid_field'],
    [buildLine(1.5), 400, '/lines/0/quantity invalid_body'],
    [buildLine('1'), 400, '/lines/0/quantity invalid_body'],
    [anonymous, 400, '/customerId invalid_body'],
    [{ ...valid, billingAddress: nowhere }, 400, '/billingAddress/country invalid_body'],
    [{ ...valid, deliveryAddress: { ...address, city: '' } }, 422, '/deliveryAddress/city invalid_field'],
    [{ ...valid, deliveryAddress: { ...address, city: ' ' } }, 422, '/deliveryAddress/city invalid_field'],
    [{ ...valid, lines: [] }, 422, '/lines invalid_field'],
    [{ ...valid, lines: Array(201).fill({ sku: 'TEE', quantity: 1 }) }, 422, '/lines invalid_field'],
    [{ ...valid, orderNumber: ' W1' }, 422, '/orderNumber invalid_field'],
    [{ ...valid, orderNumber: 'W'.repeat(31) }, 422, '/orderNumber invalid_field'],
    [{ ...valid, freight: '-1.00' }, 422, '/freight invalid_field'],
    [{ ...valid, freight: '1.001' }, 422, '/freight invalid_field'],
    [{ ...valid, freight: '01.00' }, 422, '/freight invalid_field'],
    [{ ...valid, payments: [{ gateway: 'visa', amount: 10 }] }, 400, '/payments/0/amount invalid_body'],
    [{ ...valid, total: '10.00' }, 400, '/total invalid_body'],
  ] as const) {
    const response = await post(api, '/orders', body)
    assert.equal(response.status, status, response.text)
    assert.deepEqual(getFieldErrors(response), [expected])
  }
  assert.equal((await post(api, '/orders', JSON.stringify(buildLine(2 ** 53)))).json.code, 'malformed_json')
})

test('placing an order requires a maintainer, reading it a visitor', async () => {
  const visitor = await api.createAccount('visitor')
  const response = await post(visitor, '/orders', buildOrder([{ sku: 'TEE', quantity: 1 }]))
  assertProblem(response, 'insufficient_role', api.baseUrl, '/orders')
  const { id } = await placeOrder(api, [{ sku: 'TEE', quantity: 1 }])
  assert.equal((await visitor.get(`/orders/${id}`)).status, 200)
})

test('all SKUs missing from the order are reported and nothing is created', async () => {
  const shop = await createShop()
  const { id, orderNumber } = await placeOrder(shop, [{ sku: 'TEE', quantity: 2 }])
  const stock = await getStock(shop)
  const response = await createReturn(shop, id, { TEE: 1, 'HOOD-S': 1, NONE: 1 })
  assertProblem(response, 'sku_not_on_order', api.baseUrl, `/orders/${id}/returns`)
  assert.deepEqual(getFieldErrors(response), ['/lines/1/sku sku_not_on_order', '/lines/2/sku sku_not_on_order'])
  assert.deepEqual(getErrorDetails(response), [
    `SKU HOOD-S isn't on order ${orderNumber}.`,
    `SKU NONE isn't on order ${orderNumber}.`,
  ])
  assert.deepEqual((await shop.get(`/orders/${id}/returns`)).json.data, [])
  assert.deepEqual(await getReturnable(shop, id), [{ sku: 'TEE', sold: 2, returned: 0, returnable: 2 }])
  assert.deepEqual(await getStock(shop), stock)
  assert.equal((await getSales(shop, orderNumber)).length, 1)
})

test('all errors of a return are reported at once, its own first', async () => {
  const { id } = await placeOrder(api, [{ sku: 'TEE', quantity: 1 }])
  const response = await post(api, `/orders/${id}/returns`, {
    lines: [
      { sku: 'TEE', quantity: 2, reasonCode: 'SIZE' },
      { sku: 'tee', quantity: 1, reasonCode: 'NO' },
    ],
  })
  assert.equal(response.status, 422)
  assert.deepEqual(getFieldErrors(response), [
    '/lines/1/sku sku_not_on_order',
    '/lines/1/reasonCode invalid_field',
    '/lines/0/quantity quantity_exceeds_returnable',
  ])
})

test('a return with an invalid shape is 400, with broken rules 422', async () => {
  const { id } = await placeOrder(api, [{ sku: 'TEE', quantity: 1 }])
  const buildLine = (more: object) => ({ lines: [{ sku: 'TEE', quantity: 1, reasonCode: 'SIZE', ...more }] })
  for (const [body, status, expected] of [
    [buildLine({ quantity: 0 }), 422, '/lines/0/quantity invalid_field'],
    [buildLine({ quantity: -1 }), 422, '/lines/0/quantity invalid_field'],
    [buildLine({ quantity: 1.5 }), 400, '/lines/0/quantity invalid_body'],
    [buildLine({ quantity: '1' }), 400, '/lines/0/quantity invalid_body'],
    [buildLine({ reasonCode: undefined }), 400, '/lines/0/reasonCode invalid_body'],
    [buildLine({ value: '1.00' }), 400, '/lines/0/value invalid_body'],
    [buildLine({ notes: 'a\u0000b' }), 422, '/lines/0/notes invalid_field'],
    [{ lines: [] }, 422, '/lines invalid_field'],
    [{ ...buildLine({}), restock: 'yes' }, 400, '/restock invalid_body'],
  ] as const) {
    const response = await post(api, `/orders/${id}/returns`, body)
    assert.equal(response.status, status, response.text)
    assert.deepEqual(getFieldErrors(response), [expected])
  }
  assert.equal((await createReturn(api, id, { TEE: 2 ** 53 })).json.code, 'malformed_json')
  assert.deepEqual(await getReturnable(api, id), [{ sku: 'TEE', sold: 1, returned: 0, returnable: 1 }])
})

test('creating a return requires a maintainer', async () => {
  const { id } = await placeOrder(api, [{ sku: 'TEE', quantity: 1 }])
  const response = await createReturn(await api.createAccount('visitor'), id, { TEE: 1 })
  assertProblem(response, 'insufficient_role', api.baseUrl, `/orders/${id}/returns`)
})
