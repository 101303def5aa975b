import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { advanceReturn } from '../../../src/backoffice/embedded/returns.ts'
import { beginChange } from '../../../src/store/lists/change-timestamp.ts'
import { cancelReturnLines } from '../../../src/store/orders/returns.ts'
import { insertVouchers } from '../../../src/store/vouchers/vouchers.ts'
import {
  buildOrder,
  buildReturn,
  createReturn,
  getCreatedRecord,
  getSales,
  getStock,
  type OrderLine,
  placeOrder,
  startOrderShop,
} from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import type { Caller } from '../../support/service.ts'
import { assertReplay, post, withKey } from '../../support/write.ts'

const { api, createShop } = await startOrderShop()
after(() => api.stop())
const adminCaller = await createShop({ fulfilment: 'manual' })

const place = (quantities: Record<string, number>, more: object = {}) =>
  placeOrder(
    adminCaller,
    Object.entries(quantities).map(([sku, quantity]): OrderLine => ({ sku, quantity })),
    more,
  )
const ship = (id: string, body: object = {}, headers = {}, caller: Caller = adminCaller) =>
  post(caller, `/orders/${id}/shipments`, body, headers)
const cancel = (id: string, body: object = {}, headers = {}) => post(adminCaller, `/orders/${id}/cancel`, body, headers)
const toLines = (...ids: string[]) => ({ lines: ids.map(orderLineId => ({ orderLineId })) })
const toUnits = (quantities: Record<string, number>) => ({
  lines: Object.entries(quantities).map(([orderLineId, quantity]) => ({ orderLineId, quantity })),
})
const getStatuses = async (id: string) =>
  (await adminCaller.get(`/orders/${id}`)).json.data.lines.map((line: { status: string }) => line.status)

test('an order is shipped once, with tracking and sale', async () => {
  const { id, orderNumber } = await place({ TEE: 2, UNKEPT: 1 })
  const stock = await getStock(adminCaller)
  const tracking = { carrier: 'EMS', trackingNumber: 'EM1', trackingUrl: 'https://track.example.com/EM1' }
  const key = withKey()
  const first = await ship(orderNumber, tracking, key)
  const { id: shipmentId, updateTimeStamp, shippedAt, ...shipment } = getCreatedRecord(first)
  assert.deepEqual(shipment, {
    orderId: id,
    orderNumber,
    ...tracking,
    storeNumber: null,
    cartons: [],
    lines: [
      { orderLineId: '1', sku: 'TEE', quantity: 2 },
      { orderLineId: '2', sku: 'UNKEPT', quantity: 1 },
    ],
  })
  assert.equal(first.headers.location, `/shipments/${shipmentId}`)
  assert.equal((await adminCaller.get(`/shipments/${shipmentId}`)).json.data.shippedAt, shippedAt)
  assertReplay(await ship(orderNumber, tracking, key), first)
  assert.deepEqual(await getStatuses(id), ['shipped', 'shipped'])
  assert.equal((await getSales(adminCaller, orderNumber)).length, 1)
  assert.deepEqual(await getStock(adminCaller), stock)
  assertProblem(await ship(id), 'invalid_transition', api.baseUrl)
  assertProblem(await cancel(id), 'invalid_transition', api.baseUrl)
  const { status, json } = await cancel(id, toLines('1', '9'))
  assert.deepEqual([status, json.code], [409, 'invalid_transition'])
})

test('each part of an order has its own sale, store and stock', async () => {
  const { id, orderNumber } = await place({ TEE: 4, 'HOOD-S': 3 })
  const stock = await getStock(adminCaller)
  const first = getCreatedRecord(await ship(id, { ...toUnits({ 1: 1, 2: 2 }), storeNumber: '101' }))
  assert.deepEqual([first.storeNumber, first.lines.map((line: { quantity: number }) => line.quantity)], ['101', [1, 2]])
  const readLines = async () =>
    (await adminCaller.get(`/orders/${id}`)).json.data.lines.map(
      ({ status, shipped, cancelled, returned }: Record<string, unknown>) => [status, shipped, cancelled, returned],
    )
  assert.deepEqual(await readLines(), [
    ['processing', 1, 0, 0],
    ['processing', 2, 0, 0],
  ])
  // The units were allocated in store 102 and left store 101.
  assert.deepEqual(await getStock(adminCaller), {
    ...stock,
    '1002 TEE': (stock['1002 TEE'] ?? 0) + 1,
    '1002 HOOD-S': (stock['1002 HOOD-S'] ?? 0) + 2,
    '1001 HOOD-S': (stock['1001 HOOD-S'] ?? 0) - 2,
  })
  const tooMany = await ship(id, toUnits({ 1: 4 }))
  assertProblem(tooMany, 'invalid_transition', api.baseUrl)
  assert.match(tooMany.json.detail, /At most 3 of line 1 can be shipped, not 4/)
  assertProblem(await ship(id, toLines('1', '1')), 'invalid_field', api.baseUrl)
  assertProblem(await ship(id, { storeNumber: '999' }), 'invalid_field', api.baseUrl)
  assert.equal((await createReturn(adminCaller, id, { TEE: 2 })).json.code, 'quantity_exceeds_returnable')
  getCreatedRecord(await createReturn(adminCaller, id, { TEE: 1 }))
  const { refund } = (await cancel(id, toUnits({ 2: 1 }))).json.data
  assert.equal(refund.payments, '29.99')
  getCreatedRecord(await ship(id))
  assert.deepEqual(await readLines(), [
    ['shipped', 4, 0, 1],
    ['shipped', 2, 1, 0],
  ])
  const sales = await getSales(adminCaller, orderNumber)
  assert.deepEqual(
    sales
      .map(({ id: saleId, total, storeNumber }: Record<string, string>) => [
        saleId?.replace(/^return-.*/, 'return'),
        total,
        storeNumber,
      ])
      .toSorted(),
    [
      [`order-${id}`, '69.98', '101'],
      [`order-${id}-2`, '30.00', '102'],
      ['return', '-10.00', '102'],
    ],
  )
})

test('an order is ready for collection and then collected, once each', async () => {
  const step = (order: string, name: 'ready' | 'collected', headers = {}) =>
    post(adminCaller, `/orders/${order}/${name}`, {}, headers)
  const delivered = await step((await place({ TEE: 1 })).id, 'ready')
  assertProblem(delivered, 'invalid_transition', api.baseUrl)
  assert.match(delivered.json.detail, /it has no `pickupStoreNumber`/)
  const { id, orderNumber, readyAt } = await place({ TEE: 1, 'HOOD-S': 2 }, { pickupStoreNumber: '101' })
  assert.equal(readyAt, null)
  assert.match((await step(id, 'collected')).json.detail, /not `ready` yet/)
  const { endCursor } = (await adminCaller.get('/changes?kinds=order')).json.meta
  const key = withKey()
  const ready = await step(orderNumber, 'ready', key)
  assert.ok(ready.json.data.readyAt, ready.text)
  assertReplay(await step(orderNumber, 'ready', key), ready)
  assert.match((await step(id, 'ready')).json.detail, /it is already ready\.$/)
  const changes = (await adminCaller.get(`/changes?kinds=order&after_cursor=${endCursor}`)).json.data
  assert.deepEqual(
    changes.map(({ id: changed }: { id: string }) => changed),
    [id],
  )
  assert.equal((await cancel(id, toUnits({ 2: 1 }))).status, 200)
  const responses = await Promise.all([step(id, 'collected'), step(id, 'collected')])
  assert.deepEqual(responses.map(({ status }) => status).toSorted(), [200, 409])
  const { collectedAt, lines: collected } = (await adminCaller.get(`/orders/${id}`)).json.data
  assert.ok(collectedAt)
  assert.deepEqual(
    collected.map(({ status, shipped }: Record<string, unknown>) => [status, shipped]),
    [
      ['shipped', 1],
      ['shipped', 1],
    ],
  )
  const sales = await getSales(adminCaller, orderNumber)
  assert.deepEqual(
    sales.map(({ total }: { total: string }) => total),
    ['39.99'],
  )
})

test('a line is returned with its shipped units if others are cancelled', async () => {
  const { id } = await place({ UNKEPT: 3 })
  getCreatedRecord(await ship(id, toUnits({ 1: 2 })))
  const { id: returnId } = getCreatedRecord(await createReturn(adminCaller, id, { UNKEPT: 2 }))
  assert.equal((await post(adminCaller, `/returns/${returnId}/receive`, {})).status, 200)
  assert.deepEqual(await getStatuses(id), ['processing'])
  assert.equal((await cancel(id)).json.data.refund.total, '5.00')
  assert.deepEqual(await getStatuses(id), ['returned'])
})

test('concurrent shipments and cancellations never apply to a line twice', async () => {
  const { id, orderNumber } = await place({ 'HOOD-S': 2 })
  const responses = await Promise.all([ship(id), cancel(id), ship(id), cancel(id)])
  assert.equal(responses.filter(({ status }) => status < 300).length, 1)
  assert.equal(responses.filter(({ json }) => json.code === 'invalid_transition').length, 3)
  const isShipped = (await getStatuses(id))[0] === 'shipped'
  assert.equal((await adminCaller.get(`/orders/${id}/shipments`)).json.data.length, isShipped ? 1 : 0)
  assert.equal((await getSales(adminCaller, orderNumber)).length, isShipped ? 1 : 0)
})

test('a cancellation returns stock, vouchers first and then payments', async () => {
  const [number, pin] = ['800', '004200']
  const voucher = { number, pin, originalAmount: '12.00', usedAmount: '0.00', expiryDate: '2099-12-31' }
  await insertVouchers(api.db, api.keys, adminCaller.service, [{ ...voucher, state: 'active' }])
  const { validationId } = (await post(adminCaller, '/vouchers/validate', { number, pin, amount: '12.00' })).json.data
  const stock = await getStock(adminCaller)
  const { id } = await place(
    { TEE: 1, UNKEPT: 1 },
    {
      payments: [
        { gateway: 'visa', amount: '12.00', voucher: { number, validationId } },
        { gateway: 'paypal', amount: '3.00' },
      ],
    },
  )
  const dryRun = await cancel(id, {}, { prefer: 'tx=rollback' })
  assert.equal(dryRun.json.data.refund.payments, '3.00', dryRun.text)
  assert.deepEqual(await getStatuses(id), ['processing', 'processing'])
  const first = (await cancel(id, toLines('1'))).json.data
  assert.deepEqual(first.refund, {
    currency: 'AUD',
    total: '10.00',
    payments: '0.00',
    vouchers: [{ number, amount: '10.00' }],
  })
  assert.deepEqual(
    first.order.lines.map((line: { status: string }) => line.status),
    ['cancelled', 'processing'],
  )
  const { refund } = (await cancel(id)).json.data
  assert.deepEqual([refund.vouchers, refund.payments], [[{ number, amount: '2.00' }], '3.00'])
  assert.deepEqual(await getStock(adminCaller), stock)
  const { availableAmount } = (await post(adminCaller, '/vouchers/lookup', { number, pin })).json.data
  assert.equal(availableAmount, '12.00')

  const { username } = adminCaller
  const cancellations = (await adminCaller.get(`/console/orders/${id}/cancellations`)).json.data
  assert.deepEqual(
    cancellations.map(({ at: _, ...cancellation }: { at: string }) => cancellation),
    [
      { username, apiKey: null, lines: [{ sku: 'TEE', quantity: 1 }], refund: first.refund },
      { username, apiKey: null, lines: [{ sku: 'UNKEPT', quantity: 1 }], refund },
    ],
  )
  const { updateTimeStamp } = (await adminCaller.get(`/orders/${id}`)).json.data
  assert.equal(cancellations[1].at, updateTimeStamp)
  const admin = await api.createAccount('admin', adminCaller.service)
  const { entries } = (await admin.get(`/vouchers/${number}/ledger`)).json.data
  assert.deepEqual(
    entries.slice(-4).map((entry: { kind: string; username: string }) => [entry.kind, entry.username]),
    ['lock', 'redeem', 'refund', 'refund'].map(kind => [kind, username]),
  )
})

test('a return restocks when it is received, and is then refunded once', async () => {
  const { id } = await place({ TEE: 2 })
  getCreatedRecord(await ship(id))
  const stock = await getStock(adminCaller)
  const create = async () => getCreatedRecord(await createReturn(adminCaller, id, { TEE: 1 })).id as string
  const advance = (returnId: string, action: string, body = {}) =>
    post(adminCaller, `/returns/${returnId}/${action}`, body)
  const restockedReturn = await create()
  assert.deepEqual(await getStock(adminCaller), stock)
  const early = await advance(restockedReturn, 'refund')
  assertProblem(early, 'invalid_transition', api.baseUrl)
  assert.match(early.json.detail, /is requested, so it can't be refunded\. Possible: receive or cancel\.$/)
  assert.equal((await advance(restockedReturn, 'receive')).json.data.status, 'received')
  const restocked = { ...stock, '1002 TEE': (stock['1002 TEE'] ?? 0) + 1 }
  assert.deepEqual(await getStock(adminCaller), restocked)
  assertProblem(await advance(restockedReturn, 'receive'), 'invalid_transition', api.baseUrl)
  const refunds = await Promise.all([advance(restockedReturn, 'refund'), advance(restockedReturn, 'refund')])
  assert.deepEqual(refunds.map(({ status }) => status).toSorted(), [200, 409])
  const { orderReturn: record, refund } = refunds.find(({ status }) => status === 200)?.json.data ?? {}
  assert.deepEqual([record.status, refund.payments], ['refunded', '10.00'])
  const discardedReturn = await create()
  assert.equal((await advance(discardedReturn, 'receive', { restock: false })).json.data.restock, false)
  assert.deepEqual(await getStock(adminCaller), restocked)
  const { data } = (await adminCaller.get('/changes?kinds=return&limit=100')).json
  assert.ok(data.some(({ path }: { path: string }) => path === `/returns/${discardedReturn}`))
})

test('a return is received in parts, and restocks each unit once', async () => {
  const { id } = await place({ TEE: 3, 'HOOD-S': 2 })
  getCreatedRecord(await ship(id))
  const stock = await getStock(adminCaller)
  const add = (tees: number, hoods: number) => ({
    ...stock,
    '1002 TEE': (stock['1002 TEE'] ?? 0) + tees,
    '1002 HOOD-S': (stock['1002 HOOD-S'] ?? 0) + hoods,
  })
  const create = async () => getCreatedRecord(await createReturn(adminCaller, id, { TEE: 3, 'HOOD-S': 2 }))
  const { id: returnId, returnNumber, lines: created } = await create()
  assert.deepEqual(
    created.map(({ quantity, received }: Record<string, number>) => [quantity, received]),
    [
      [3, 0],
      [2, 0],
    ],
  )
  const receive = (parts: Record<string, number>, more = {}, headers = {}) =>
    post(
      adminCaller,
      `/returns/${returnId}/receive`,
      { lines: Object.entries(parts).map(([returnLineId, quantity]) => ({ returnLineId, quantity })), ...more },
      headers,
    )
  const { endCursor } = (await adminCaller.get('/changes?kinds=return')).json.meta
  const key = withKey()
  const first = await receive({ 1: 1 }, {}, key)
  assert.deepEqual([first.json.data.status, first.json.data.lines[0].received], ['requested', 1], first.text)
  assertReplay(await receive({ 1: 1 }, {}, key), first)
  assert.deepEqual(await getStock(adminCaller), add(1, 0))
  const changes = (await adminCaller.get(`/changes?kinds=return&after_cursor=${endCursor}`)).json.data
  assert.deepEqual(
    changes.map(({ path }: { path: string }) => path),
    [`/returns/${returnId}`],
  )
  assert.match((await receive({ 1: 3 })).json.detail, /At most 2 of line 1 can be received, not 3/)
  assertProblem(await receive({ 9: 1 }), 'invalid_field', api.baseUrl)
  assertProblem(await post(adminCaller, `/returns/${returnId}/refund`, {}), 'invalid_transition', api.baseUrl)
  const repeatedLine = { lines: [{ returnLineId: '1' }, { returnLineId: '1' }] }
  assertProblem(await post(adminCaller, `/returns/${returnId}/receive`, repeatedLine), 'invalid_field', api.baseUrl)
  // Two clients receive the same two units.
  const responses = await Promise.all([receive({ 1: 2 }), receive({ 1: 2 })])
  assert.deepEqual(responses.map(({ status }) => status).toSorted(), [200, 409])
  assert.equal((await receive({ 2: 1 }, { restock: false })).json.data.status, 'requested')
  assert.deepEqual(await getStock(adminCaller), add(3, 0))
  const remaining = await post(adminCaller, `/returns/${returnId}/receive`, { restock: true })
  assert.equal(remaining.json.data.status, 'received')
  assert.deepEqual(await getStock(adminCaller), add(3, 1))
  assert.deepEqual(await getStatuses(id), ['returned', 'returned'])
  // Cancelling takes off what was restocked, and the units can be returned again.
  await api.db.transaction(tx => advanceReturn(tx, adminCaller.service, { number: returnNumber }, 'cancel'))
  assert.deepEqual(await getStock(adminCaller), stock)
  const again = await create()
  assert.equal((await post(adminCaller, `/returns/${again.id}/receive`, {})).json.data.status, 'received')
  assert.equal((await post(adminCaller, `/returns/${again.id}/refund`, {})).json.data.refund.total, '89.98')
})

test('cancelled lines of a return count in neither total nor stock', async () => {
  const { id } = await place({ TEE: 1, 'HOOD-S': 2 })
  getCreatedRecord(await ship(id))
  const stock = await getStock(adminCaller)
  const created = getCreatedRecord(await createReturn(adminCaller, id, { TEE: 1, 'HOOD-S': 2 }))
  const cancelLine = (sequence: number) =>
    api.db.transaction(async tx => {
      const { at } = await beginChange(tx, adminCaller.service, ['sales_return'])
      await cancelReturnLines(tx, adminCaller.service, created.id, [sequence], at)
    })
  const readTotal = async () => (await adminCaller.get(`/returns/${created.id}`)).json.data.total
  await cancelLine(2)
  assert.equal(await readTotal(), '10.00')
  assert.equal((await post(adminCaller, `/returns/${created.id}/receive`, {})).status, 200)
  assert.deepEqual(await getStock(adminCaller), { ...stock, '1002 TEE': (stock['1002 TEE'] ?? 0) + 1 })
  await cancelLine(1)
  assert.equal(await readTotal(), '0.00')
  assert.equal((await post(adminCaller, `/returns/${created.id}/refund`, {})).json.data.refund.total, '0.00')
})

const exchange = (id: string, returned: Record<string, number>, order: object, headers = {}) =>
  post(adminCaller, `/orders/${id}/exchanges`, { orderReturn: buildReturn(returned), order }, headers)

test('an exchange creates a return and the paid order once', async () => {
  const { id } = await place({ TEE: 1 })
  getCreatedRecord(await ship(id))
  const buildPaidOrder = (amount: string) =>
    buildOrder([{ sku: 'HOOD-S', quantity: 1 }], { payments: [{ gateway: 'visa', amount }] })
  const wrong = await exchange(id, { TEE: 1 }, buildPaidOrder('29.99'))
  assertProblem(wrong, 'payment_total_mismatch', api.baseUrl)
  assert.deepEqual(
    wrong.json.errors.map(({ pointer }: { pointer: string }) => pointer),
    ['/order/payments'],
  )
  assert.match(wrong.json.detail, /must total 19\.99 AUD/)
  assertProblem(
    await exchange(id, { TEE: 1 }, { ...buildPaidOrder('19.99'), customerId: '65433' }),
    'invalid_field',
    api.baseUrl,
  )
  assertProblem(await exchange('none', { TEE: 1 }, buildPaidOrder('19.99')), 'not_found', api.baseUrl)
  assert.equal((await adminCaller.get(`/orders/${id}/returns`)).json.data.length, 0)

  const key = withKey()
  const first = await exchange(id, { TEE: 1 }, buildPaidOrder('19.99'), key)
  const { orderReturn, order: placed, refund } = getCreatedRecord(first)
  assert.deepEqual([orderReturn.exchangeOrderId, orderReturn.total, refund], [placed.id, '10.00', '0.00'])
  assert.deepEqual(
    placed.payments.map(({ gateway, amount, reference }: Record<string, unknown>) => [gateway, amount, reference]),
    [
      ['visa', '19.99', null],
      ['exchange', '10.00', orderReturn.returnNumber],
    ],
  )
  assertReplay(await exchange(id, { TEE: 1 }, buildPaidOrder('19.99'), key), first)
  assert.equal((await exchange(id, { TEE: 1 }, buildPaidOrder('19.99'))).json.code, 'quantity_exceeds_returnable')
  const path = `/returns/${orderReturn.id}`
  await assert.rejects(
    api.db.transaction(tx => advanceReturn(tx, adminCaller.service, { number: orderReturn.returnNumber }, 'cancel')),
    /it pays for the order of an exchange/,
  )
  assert.equal((await post(adminCaller, `${path}/receive`, {})).status, 200)
  assert.equal((await post(adminCaller, `${path}/refund`, {})).json.data.refund.total, '0.00')
  const { total, payments } = (await cancel(placed.id)).json.data.refund
  assert.deepEqual([total, payments], ['29.99', '29.99'])
})

test('a return refunds the rest of an exchange and its cancelled units', async () => {
  const { id } = await place({ TEE: 2 })
  getCreatedRecord(await ship(id))
  const stock = await getStock(adminCaller)
  const order = buildOrder([{ sku: 'UNKEPT', quantity: 2 }], { payments: [] })
  const { orderReturn, order: placed, refund } = getCreatedRecord(await exchange(id, { TEE: 2 }, order))
  assert.equal(refund, '10.00')
  const cancelled = (await cancel(placed.id, toUnits({ 1: 1 }))).json.data.refund
  assert.deepEqual([cancelled.exchange, cancelled.payments], ['5.00', '0.00'])
  const path = `/returns/${orderReturn.id}`
  assert.equal((await post(adminCaller, `${path}/receive`, {})).status, 200)
  assert.deepEqual(await getStock(adminCaller), { ...stock, '1002 TEE': (stock['1002 TEE'] ?? 0) + 2 })
  assert.equal((await post(adminCaller, `${path}/refund`, {})).json.data.refund.payments, '15.00')
})

test('a returned exchange is refunded as the returned order was paid', async () => {
  const [number, pin] = ['820', '004200']
  const voucher = { number, pin, originalAmount: '20.00', usedAmount: '0.00', expiryDate: '2099-12-31' }
  await insertVouchers(api.db, api.keys, adminCaller.service, [{ ...voucher, state: 'active' }])
  const readBalance = async () =>
    (await post(adminCaller, '/vouchers/lookup', { number, pin })).json.data.availableAmount
  const { validationId } = (await post(adminCaller, '/vouchers/validate', { number, pin, amount: '20.00' })).json.data
  const payments = [{ gateway: 'visa', amount: '20.00', voucher: { number, validationId } }]
  const { id } = await place({ UNKEPT: 4 }, { payments })
  getCreatedRecord(await ship(id))
  const refund = async (returnId: string) => {
    assert.equal((await post(adminCaller, `/returns/${returnId}/receive`, {})).status, 200)
    return (await post(adminCaller, `/returns/${returnId}/refund`, {})).json.data.refund
  }
  /** Exchanges two units for a more expensive item, and then returns that item. Returns the IDs of both returns. */
  const exchangeAndReturn = async () => {
    const order = buildOrder([{ sku: 'HOOD-M', quantity: 1 }], { payments: [{ gateway: 'visa', amount: '23.33' }] })
    const { orderReturn, order: placed } = getCreatedRecord(await exchange(id, { UNKEPT: 2 }, order))
    getCreatedRecord(await ship(placed.id))
    return [orderReturn.id, getCreatedRecord(await createReturn(adminCaller, placed.id, { 'HOOD-M': 1 })).id] as const
  }

  const [firstReturn, secondReturn] = await exchangeAndReturn()
  assert.deepEqual(await refund(secondReturn), {
    currency: 'AUD',
    total: '33.33',
    vouchers: [],
    exchange: '10.00',
    payments: '23.33',
  })
  assert.equal(await readBalance(), '0.00', 'the first return is not received yet')
  assert.deepEqual((await refund(firstReturn)).vouchers, [{ number, amount: '10.00' }])

  const [refunded, last] = await exchangeAndReturn()
  assert.equal((await refund(refunded)).total, '0.00')
  assert.deepEqual(await refund(last), {
    currency: 'AUD',
    total: '33.33',
    vouchers: [{ number, amount: '10.00' }],
    payments: '23.33',
  })
  assert.equal(await readBalance(), '20.00')
})

test('an exchange uses vouchers, and without stock nothing is stored', async () => {
  const shop = await createShop({ oversell: 'refuse' })
  const bought = await placeOrder(shop, [{ sku: 'TEE', quantity: 1 }])
  const send = (quantity: number, payments: object[]) =>
    post(shop, `/orders/${bought.id}/exchanges`, {
      orderReturn: buildReturn({ TEE: 1 }),
      order: buildOrder([{ sku: 'HOOD-M', quantity }], { payments }),
    })
  const rejected = await send(5, [{ gateway: 'visa', amount: '156.65' }])
  assert.deepEqual(
    [rejected.json.code, rejected.json.errors[0].pointer],
    ['insufficient_stock', '/order/lines/0/quantity'],
  )
  assert.equal((await shop.get(`/orders/${bought.id}/returns`)).json.data.length, 0)
  const [number, pin] = ['810', '004200']
  const voucher = { number, pin, originalAmount: '23.33', usedAmount: '0.00', expiryDate: '2099-12-31' }
  await insertVouchers(api.db, api.keys, shop.service, [{ ...voucher, state: 'active' }])
  const validated = await post(shop, '/vouchers/validate', { number, pin, amount: '23.33' })
  assert.equal(validated.status, 200, validated.text)
  const { validationId } = validated.json.data
  getCreatedRecord(await send(1, [{ gateway: 'visa', amount: '23.33', voucher: { number, validationId } }]))
  assert.equal((await post(shop, '/vouchers/lookup', { number, pin })).json.data.availableAmount, '0.00')
})

test('unknown orders, returns and tracking pages are rejected', async () => {
  assertProblem(await ship('none'), 'not_found', api.baseUrl)
  assertProblem(await cancel('none'), 'not_found', api.baseUrl)
  assertProblem(await post(adminCaller, '/returns/none/receive', {}), 'not_found', api.baseUrl)
  const { id } = await place({ UNKEPT: 1 })
  assertProblem(await ship(id, { trackingUrl: 'javascript:alert(1)' }), 'invalid_field', api.baseUrl)
  assertProblem(await ship(id, {}, {}, api), 'not_found', api.baseUrl)
})
