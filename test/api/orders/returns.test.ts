import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Return } from '../../../src/domain/orders/returns.ts'
import { validateBody } from '../../../src/http/body/validate.ts'
import {
  createReturn,
  getCreatedRecord,
  getReturnable,
  getSales,
  getStock,
  placeOrder,
  startOrderShop,
  toCents,
} from '../../support/order-shop.ts'
import { assertProblem, getErrorDetails, getFieldErrors } from '../../support/problem.ts'
import { post } from '../../support/write.ts'

const { api, createShop } = await startOrderShop()
after(() => api.stop())

test('a created return has its numbers, lines and refunds', async () => {
  const order = await placeOrder(api, [
    { sku: 'HOOD-S', quantity: 3, discounts: [{ type: 'loyalty', amount: '9.97' }] },
    { sku: 'TEE', quantity: 1 },
  ])
  const response = await post(api, `/orders/${order.id}/returns`, {
    returnNumber: 'RMA-1',
    lines: [
      { sku: 'TEE', quantity: 1, reasonCode: 'FAULTY', notes: 'A hole.\nNear the hem.' },
      { sku: 'HOOD-S', quantity: 2, reasonCode: 'SIZE' },
    ],
    restock: false,
  })
  const record = getCreatedRecord(response)
  const { id, createdAt, updateTimeStamp, ...fields } = record
  assert.equal(response.headers.location, `/returns/${id}`)
  assert.match(createdAt, /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/)
  assert.equal(updateTimeStamp, createdAt)
  assert.deepEqual(fields, {
    returnNumber: 'RMA-1',
    returnAuthorisationNumber: 'RA-RMA-1',
    orderId: order.id,
    orderNumber: order.orderNumber,
    customerId: '65432',
    exchangeOrderId: null,
    status: 'requested',
    restock: false,
    currency: 'AUD',
    // The three hoods cost 80.00, so two refund 53.33.
    total: '63.33',
    lines: [
      {
        id: '1',
        sequence: 1,
        orderLineId: '2',
        sku: 'TEE',
        quantity: 1,
        received: 0,
        reasonCode: 'FAULTY',
        notes: 'A hole.\nNear the hem.',
        price: '10.00',
        discounts: [],
        value: '10.00',
      },
      {
        id: '2',
        sequence: 2,
        orderLineId: '1',
        sku: 'HOOD-S',
        quantity: 2,
        received: 0,
        reasonCode: 'SIZE',
        notes: null,
        price: '29.99',
        discounts: [{ type: 'loyalty', reason: null, amount: '6.65', percentage: null }],
        value: '53.33',
      },
    ],
  })
  assert.deepEqual(validateBody(Return, record, { currency: 'AUD' }), [])

  const read = await api.get(`/returns/${id}`)
  assert.deepEqual(read.json.data, record)
  assert.equal(read.headers.etag, response.headers.etag)
  assert.equal((await api.get(`/returns/${id}`, { 'if-none-match': read.headers.etag })).status, 304)
  assert.deepEqual((await api.get(`/orders/${order.id}/returns`)).json.data, [record])
  assert.deepEqual(await getReturnable(api, order.id), [
    { sku: 'HOOD-S', sold: 3, returned: 2, returnable: 1 },
    { sku: 'TEE', sold: 1, returned: 1, returnable: 0 },
  ])
  const lines = (await api.get(`/orders/${order.id}`)).json.data.lines
  assert.deepEqual(
    lines.map((line: { returned: number; status: string }) => [line.returned, line.status]),
    [
      [2, 'shipped'],
      [1, 'shipped'],
    ],
  )
  // The last unit refunds the remaining amount.
  assert.equal(getCreatedRecord(await createReturn(api, order.id, { 'HOOD-S': 1 })).total, '26.67')
})

test('return reasons are those of the service', async () => {
  const reasons = [{ code: 'TIGHT', name: 'Too tight' }]
  const shop = await createShop({ returnReasons: reasons })
  assert.deepEqual((await shop.get('/return-reasons')).json, { data: reasons })
  assert.equal((await api.get('/return-reasons')).json.data[0].code, 'SIZE')
  const { id } = await placeOrder(shop, [{ sku: 'TEE', quantity: 1 }])
  const response = await createReturn(shop, id, { TEE: 1 })
  assertProblem(response, 'invalid_field', api.baseUrl, `/orders/${id}/returns`)
  assert.deepEqual(getFieldErrors(response), ['/lines/0/reasonCode invalid_field'])
  assert.deepEqual(getErrorDetails(response), ['`reasonCode` must be one of `TIGHT`.'])
})

test('a return for an unknown or foreign order gets the same 404', async () => {
  const { id } = await placeOrder(api, [{ sku: 'TEE', quantity: 1 }])
  const other = await createShop()
  for (const units of [{ TEE: 1 }, { NONE: 1 }]) {
    const responses = [await createReturn(other, id, units), await createReturn(other, 'none', units)]
    for (const response of responses) assertProblem(response, 'not_found', api.baseUrl)
    assert.deepEqual(new Set(responses.map(response => response.json.detail)), new Set(['Order not found.']))
  }
  const { id: returnId } = getCreatedRecord(await createReturn(api, id, { TEE: 1 }))
  assertProblem(await other.get(`/returns/${returnId}`), 'not_found', api.baseUrl, `/returns/${returnId}`)
})

test("returned units go back to their store's stock unless unsellable", async () => {
  const shop = await createShop()
  const before = await getStock(shop)
  const { id } = await placeOrder(
    shop,
    [
      { sku: 'HOOD-S', quantity: 4 },
      { sku: 'UNKEPT', quantity: 1 },
    ],
    { pickupStoreNumber: '101' },
  )
  assert.equal((await getStock(shop))['1001 HOOD-S'], 6)
  const unsellable = getCreatedRecord(await createReturn(shop, id, { 'HOOD-S': 1 }, { restock: false }))
  assert.equal((await post(shop, `/returns/${unsellable.id}/receive`, {})).status, 200)
  assert.equal((await getStock(shop))['1001 HOOD-S'], 6)
  const sellable = getCreatedRecord(await createReturn(shop, id, { 'HOOD-S': 3, UNKEPT: 1 }))
  assert.equal((await getStock(shop))['1001 HOOD-S'], 6)
  assert.equal((await post(shop, `/returns/${sellable.id}/receive`, {})).status, 200)
  assert.deepEqual(await getStock(shop), { ...before, '1001 HOOD-S': 9 })
})

test('a return appears in the retail history with negative quantity and value', async () => {
  const shop = await createShop()
  const { id, orderNumber } = await placeOrder(shop, [
    { sku: 'HOOD-S', quantity: 2, discounts: [{ type: 'loyalty', amount: '4.00' }] },
  ])
  const { id: returnId, returnNumber } = getCreatedRecord(await createReturn(shop, id, { 'HOOD-S': 1 }))
  const { lines, saleDate, updateTimeStamp, ...sale } = (await getSales(shop, orderNumber)).find(
    (item: { number: string }) => item.number === returnNumber,
  )
  assert.equal(saleDate, updateTimeStamp)
  assert.deepEqual(sale, {
    id: `return-${returnId}`,
    number: returnNumber,
    orderNumber,
    channel: 'web',
    type: 'sale',
    customerId: '65432',
    storeNumber: '102',
    storeName: 'Warehouse',
    currency: 'AUD',
    total: '-27.99',
  })
  assert.deepEqual(
    lines.map((line: Record<string, unknown>) => [line.sku, line.quantity, line.price, line.value, line.discounts]),
    [['HOOD-S', -1, '29.99', '-27.99', [{ type: 'loyalty', reason: null, amount: '-2.00', percentage: null }]]],
  )
})

test('partial returns add up in price, discounts and value, also in history', async () => {
  const shop = await createShop()
  const discounts = [
    { type: 'loyalty', amount: '4.00', percentage: '4.45' },
    { type: 'loyalty', amount: '0.01' },
    { type: 'staff', amount: '3.33', reason: 'Christmas' },
  ]
  const { id, orderNumber } = await placeOrder(shop, [{ sku: 'HOOD-S', quantity: 3, discounts }])
  let discountCents = 0
  for (const quantity of [1, 1, 1]) {
    const record = getCreatedRecord(await createReturn(shop, id, { 'HOOD-S': quantity }))
    const sale = (await getSales(shop, orderNumber)).find(
      ({ number }: { number: string }) => number === record.returnNumber,
    )
    for (const [sign, [line]] of [
      [1, record.lines],
      [-1, sale.lines],
    ]) {
      const amounts = line.discounts.map(({ amount }: { amount: string }) => toCents(amount))
      assert.equal(line.quantity, sign * quantity)
      const sum = amounts.reduce((total: number, amount: number) => total + amount, 0)
      assert.equal(toCents(line.value), toCents(line.price) * line.quantity - sum, JSON.stringify(line))
      discountCents += sign === 1 ? sum : 0
    }
  }
  assert.equal(discountCents, 734)
})
