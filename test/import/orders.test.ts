import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { cancelOrder, shipOrder } from '../../src/backoffice/embedded/fulfilment.ts'
import { advanceReturn } from '../../src/backoffice/embedded/returns.ts'
import { Order } from '../../src/domain/orders/orders.ts'
import { validateBody } from '../../src/http/body/validate.ts'
import { setBackOffice } from '../../src/store/backoffice/connections.ts'
import {
  createReturn,
  getCreatedRecord,
  getReturnable,
  getStock,
  placeOrder,
  startOrderShop,
} from '../support/order-shop.ts'
import type { Caller } from '../support/service.ts'
import { post } from '../support/write.ts'
import { createImporter, type ImportRun } from './import-command.ts'

const shop = await startOrderShop()
const importFile = createImporter(shop.api)
after(() => shop.api.stop())

const header =
  'orderNumber,customerId,placedAt,freight,total,sku,quantity,price,status,returned,paymentGateway,paymentAmount,paymentVoucher'
const importOrders = (caller: Caller, ...lines: string[]): Promise<ImportRun> =>
  importFile(caller, 'orders', `${[header, ...lines].join('\n')}\n`)
const readOrder = async (caller: Caller, name: string) => (await caller.get(`/orders/${name}`)).json.data

test('an imported order is readable, listed and returnable for its rest', async () => {
  const caller = await shop.createShop()
  const columns = `id,${header},storeNumber,billingCity,deliveryCity,discountAmount`
  const buildLine = (cells: string) => `8001,OLD-7,65432,2024-05-10 09:30:00,9.95,${cells}`
  const { code, counts } = await importFile(
    caller,
    'orders',
    [
      columns,
      buildLine('74.93,HOOD-S,3,20.00,shipped,1,paypal,74.93,,101,Melbourne,Fitzroy,6.00'),
      buildLine('74.93,GONE-1,1,10.98,returned,1,paypal,74.93,,404,Melbourne,Fitzroy,'),
      '',
    ].join('\n'),
  )
  assert.deepEqual([code, counts], [0, [2, 2, 0, 0, 0]])
  const order = await readOrder(caller, '8001')
  assert.deepEqual(validateBody(Order, order, { currency: 'AUD' }), [])
  assert.deepEqual(await readOrder(caller, 'OLD-7'), order)
  assert.deepEqual((await caller.get('/orders?order_number=OLD-7')).json.data, [order])
  assert.deepEqual((await caller.get('/customers/65432/orders')).json.data, [order])
  const { id, orderNumber, placedAt, freight, total, payments, billingAddress, deliveryAddress } = order
  assert.deepEqual(
    [id, orderNumber, placedAt, freight, total],
    ['8001', 'OLD-7', '2024-05-10 09:30:00', '9.95', '74.93'],
  )
  assert.deepEqual([billingAddress.city, deliveryAddress.city, billingAddress.postcode], ['Melbourne', 'Fitzroy', null])
  assert.deepEqual(payments, [{ gateway: 'paypal', amount: '74.93', reference: null, voucherNumber: null }])
  assert.deepEqual(
    order.lines.map((item: Record<string, unknown>) => [
      item.sku,
      item.productName,
      item.value,
      item.status,
      item.returned,
    ]),
    [
      ['HOOD-S', 'Style HOOD-S', '54.00', 'shipped', 1],
      ['GONE-1', 'GONE-1', '10.98', 'returned', 1],
    ],
  )
  assert.deepEqual(await getReturnable(caller, '8001'), [
    { sku: 'HOOD-S', sold: 3, returned: 1, returnable: 2 },
    { sku: 'GONE-1', sold: 1, returned: 1, returnable: 0 },
  ])
  const stock = (await getStock(caller))['1001 HOOD-S'] ?? 0
  const tooMany = await createReturn(caller, 'OLD-7', { 'HOOD-S': 3 })
  assert.deepEqual([tooMany.status, tooMany.json.code], [409, 'quantity_exceeds_returnable'])
  const back = getCreatedRecord(await createReturn(caller, 'OLD-7', { 'HOOD-S': 2 }))
  assert.deepEqual([back.orderId, back.total], ['8001', '36.00'])
  assert.equal((await post(caller, `/returns/${back.id}/receive`, {})).status, 200)
  assert.equal((await getStock(caller))['1001 HOOD-S'], stock + 2)
  assert.deepEqual(
    [(await readOrder(caller, '8001')).lines[0].returned, (await readOrder(caller, '8001')).lines[0].status],
    [3, 'returned'],
  )
})

test('an order import is idempotent and updates orders without local changes', async () => {
  const caller = await shop.createShop()
  const first = [
    'O1,65432,2024-05-10,,20.00,TEE,2,10.00,processing,,,,',
    'O2,65432,2024-05-11,,10.00,TEE,1,10.00,processing,,,,',
  ]
  await importOrders(caller, ...first)
  const before = [await readOrder(caller, 'O1'), await readOrder(caller, 'O2')]
  assert.deepEqual((await importOrders(caller, ...first)).counts, [2, 0, 0, 2, 0])
  assert.deepEqual([await readOrder(caller, 'O1'), await readOrder(caller, 'O2')], before)
  const later = ['O1,65432,2024-05-10,,30.00,TEE,2,10.00,shipped,,,,', 'O1,,,,,UNKEPT,2,5.00,shipped,,,,']
  assert.deepEqual((await importOrders(caller, ...later)).counts, [2, 0, 2, 0, 0])
  const { id, total, lines } = await readOrder(caller, 'O1')
  assert.deepEqual([id, total, lines.length, lines[1].status], [before[0].id, '30.00', 2, 'shipped'])

  const db = shop.api.db
  await db.transaction(tx => shipOrder(tx, caller.service, { number: 'O2' }))
  getCreatedRecord(await createReturn(caller, 'O1', { TEE: 1 }))
  const { counts, reasons } = await importOrders(caller, ...first)
  assert.deepEqual(counts, [2, 0, 0, 1, 1], 'the line of O2 has not changed')
  assert.deepEqual(reasons, [
    'orderNumber belongs to an order that was shipped, cancelled or returned in Tillbridge since its import',
  ])
  assert.equal((await getReturnable(caller, 'O1'))[0].returned, 1)
})

test('imported orders cannot overwrite local ones, and numbering continues after them', async () => {
  const caller = await shop.createShop()
  const buildLine = (number: string) => `${number},65432,2024-05-10,,10.00,TEE,1,10.00,,,,,`
  await importOrders(caller, buildLine('W0000041'), buildLine('OTHER'))
  const ownOrder = await placeOrder(caller, [{ sku: 'TEE', quantity: 1 }])
  assert.equal(ownOrder.orderNumber, 'W0000042')
  const { code, reasons } = await importOrders(caller, buildLine('W0000042'), buildLine('W0250000'))
  assert.deepEqual([code, reasons], [2, ['orderNumber belongs to an order that was placed in Tillbridge']])
  assert.equal((await placeOrder(caller, [{ sku: 'TEE', quantity: 1 }])).orderNumber, 'W0250001')
  assert.deepEqual(await readOrder(caller, ownOrder.id), ownOrder)
})

test('an order with wrong sums or rejected lines is rejected completely', async () => {
  const caller = await shop.createShop()
  const partlyRejected = 'Another line of this order was rejected. An order is imported completely or not at all.'
  const { counts, reasons } = await importOrders(
    caller,
    'GOOD,65432,2024-05-10,,10.00,TEE,1,10.00,,,,,',
    'SUM,65432,2024-05-10,1.00,20.00,TEE,1,10.00,,,,,',
    'LESS,65432,2024-05-10,1.00,9.00,TEE,1,10.00,,,,,',
    'PAID,65432,2024-05-10,,10.00,TEE,1,10.00,,,visa,9.00,',
    'HALF,65432,2024-05-10,,10.00,TEE,1,10.00,,,,,',
    'HALF,65432,2024-05-10,,10.00,TEE,one,10.00,,,,,',
    'TWO,65432,2024-05-10,,20.00,TEE,1,10.00,,,,,',
    'TWO,65433,2024-05-10,,20.00,TEE,1,10.00,,,,,',
    'WHO,404,2024-05-10,,10.00,TEE,1,10.00,,,,,',
    'MAIL,a@example.com,2024-05-10,,10.00,TEE,1,10.00,,,,,',
    'BACK,65432,2024-05-10,,20.00,TEE,2,10.00,,3,,,',
    'NOTYET,65432,2024-05-10,,20.00,TEE,2,10.00,processing,1,,,',
    'EMPTY,65432,2024-05-10,,20.00,,,,,,,,',
    'PAYS,65432,2024-05-10,,20.00,,,,,,visa,20.00,',
    'BARE,,2024-05-10,,10.00,TEE,1,10.00,,,,,',
  )
  assert.deepEqual(counts, [15, 1, 0, 0, 14])
  assert.deepEqual(
    reasons.map(reason => reason.trim()),
    [
      'total must be the sum of lines, freight and tax (tax on top of the prices belongs in tax): 11.00',
      'total must be the sum of lines, freight and tax (a discount of the order belongs in orderDiscount): 11.00',
      'paymentAmount must add up to the total of the order: 9.00, not 10.00',
      partlyRejected,
      'quantity must be an integer',
      partlyRejected,
      'customerId must be the same as in the first line of the order',
      'customerId must be an existing customer: 404',
      'customerId must be a customer ID (an email address belongs in customerEmail): a@example.com',
      'returned must be at most the quantity',
      'returned must be 0 if the line is processing',
      'must have a SKU, a productName with a quantity, or a paymentAmount',
      'orderNumber must have a line with a SKU or a productName',
      'customerId is required in the first line of an order',
    ],
  )
  assert.equal((await caller.get('/orders/HALF')).status, 404)
})

test('an order is rejected completely wherever its rejected line is', async () => {
  const caller = await shop.createShop()
  const buildOrderLine = (name: string) => `${name},65432,2024-05-10,,10.00,TEE,1,10.00,,,,,`
  const otherOrders = Array.from({ length: 999 }, (_, i) => buildOrderLine(`B${i}`))
  const { counts } = await importOrders(caller, ...otherOrders, buildOrderLine('EDGE'), 'EDGE,,,,,,,,,,visa,ten,')
  assert.deepEqual(counts, [1_001, 999, 0, 0, 2])
  assert.equal((await caller.get('/orders/EDGE')).status, 404)
  // The lines after the open quotation mark can't be parsed.
  const torn = await importOrders(caller, ...otherOrders, buildOrderLine('EDGE'), '"', 'EDGE,,,,,,,,,,visa,9.00,')
  assert.deepEqual(torn.counts, [1_002, 0, 0, 999, 3])
  assert.equal((await caller.get('/orders/EDGE')).status, 404)
})

test('refunds of imported voucher payments restore at most the issued amount', async () => {
  const caller = await shop.createShop()
  const issued = 'number,pin,balance,originalAmount\nV1,1,10.00,50.00\nV2,1,0,20.00\n'
  assert.equal((await importFile(caller, 'vouchers', issued)).code, 0)
  const { code } = await importOrders(
    caller,
    'P1,65432,2024-05-10,,30.00,TEE,3,10.00,shipped,,card,30.00,V1',
    'P2,65432,2024-05-10,,30.00,TEE,3,10.00,processing,,card,20.00,V2',
    'P2,,,,,,,,,,paypal,10.00,',
    'P3,65432,2024-05-10,,10.00,TEE,1,10.00,processing,,card,10.00,UNKNOWN',
  )
  assert.equal(code, 0)
  const getBalance = async (number: string) =>
    (await caller.get(`/vouchers/${number}`, { 'x-voucher-pin': '1' })).json.data.availableAmount
  const { db } = shop.api
  const { returnNumber } = getCreatedRecord(await createReturn(caller, 'P1', { TEE: 2 }))
  await db.transaction(tx => advanceReturn(tx, caller.service, { number: returnNumber }, 'receive'))
  const { refund } = await db.transaction(tx => advanceReturn(tx, caller.service, { number: returnNumber }, 'refund'))
  assert.deepEqual([refund?.vouchers, await getBalance('V1')], [[{ number: 'V1', amount: '20.00' }], '30.00'])
  for (const number of ['P2', 'P3']) await db.transaction(tx => cancelOrder(tx, caller.service, { number }))
  assert.deepEqual([await getBalance('V2'), (await readOrder(caller, 'P2')).lines[0].status], ['20.00', 'cancelled'])
})

test('an NDJSON order can state shared fields once, within one service', async () => {
  const caller = await shop.createShop()
  const rows = [
    {
      orderNumber: 'N1',
      customerId: '65432',
      placedAt: '2024-05-10T09:30',
      total: '20.00',
      sku: 'TEE',
      quantity: 1,
      price: '10.00',
    },
    { orderNumber: 'N1', skuId: 'id-TEE', quantity: 1, price: '12.50', value: '10.00' },
    { orderNumber: 'N1', paymentGateway: 'visa', paymentAmount: '12.00', paymentReference: 'A' },
    { orderNumber: 'N1', paymentGateway: 'visa', paymentAmount: '8.00', paymentReference: 'B' },
  ]
  const { code } = await importFile(caller, 'orders', rows.map(row => JSON.stringify(row)).join('\n'), {
    file: 'orders.ndjson',
  })
  assert.equal(code, 0)
  const { lines, payments } = await readOrder(caller, 'N1')
  assert.deepEqual(lines[1].discounts, [{ type: 'discount', reason: null, amount: '2.50', percentage: null }])
  assert.deepEqual(
    payments.map((payment: { reference: string }) => payment.reference),
    ['A', 'B'],
  )
  assert.equal((await (await shop.createShop()).get('/orders/N1')).status, 404)
})

test('lines without sequence are numbered in file order', async () => {
  const caller = await shop.createShop()
  const rows = [
    'orderNumber,customerId,placedAt,total,sequence,sku,quantity,price',
    'S1,65432,2024-05-10,30.00,,TEE,1,10.00',
    'S1,,,,,HOOD-S,1,20.00',
    'S2,65432,2024-05-10,10.00,,TEE,1,10.00',
    '',
  ]
  const { reasons, counts } = await importFile(caller, 'orders', rows.join('\n'))
  assert.deepEqual([reasons, counts], [[], [3, 3, 0, 0, 0]])
  const listNumberedLines = async (name: string) =>
    (await readOrder(caller, name)).lines.map((line: Record<string, unknown>) => [line.id, line.sku])
  assert.deepEqual(await listNumberedLines('S1'), [
    ['1', 'TEE'],
    ['2', 'HOOD-S'],
  ])
  assert.deepEqual(await listNumberedLines('S2'), [['1', 'TEE']])
})

test('remarks concern imported lines only', async () => {
  const caller = await shop.createShop()
  const buildLine = (number: string, total: string) => `${number},65432,2024-05-10,,${total},GONE-1,1,10.00,,,,,`
  const { counts, out } = await importOrders(caller, buildLine('R1', '10.00'), buildLine('R2', '11.00'))
  assert.deepEqual(counts, [2, 1, 0, 0, 1])
  assert.match(out, /^1 +unknown SKU: stored as in the file/m)
})

test('a service with a back office cannot import orders and vouchers', async () => {
  const { db, keys } = shop.api
  const caller = await shop.createShop()
  const settings = { driver: 'apparel21', url: 'http://127.0.0.1:9/', country: 'AU' } as const
  await db.transaction(tx => setBackOffice(tx, keys, caller.service, settings))
  for (const kind of ['orders', 'vouchers']) {
    const { code, err } = await importFile(caller, kind, '')
    assert.equal(code, 1)
    assert.match(err, /belong to its back office \(apparel21\): they can't be imported/)
  }
})
