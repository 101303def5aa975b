import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { cancelOrder, shipOrder } from '../../src/backoffice/embedded/fulfilment.ts'
import { advanceReturn } from '../../src/backoffice/embedded/returns.ts'
import type { ReturnAction } from '../../src/domain/orders/transitions.ts'
import { insertVouchers } from '../../src/store/vouchers/vouchers.ts'
import {
  buildReturn,
  fillShop,
  getCreatedRecord,
  getSales,
  getStock,
  joinRewards,
  placeOrder,
  toCents,
  toDollars,
} from '../support/order-shop.ts'
import { createDirectory, runCommand, runSuccessfully } from '../support/processes.ts'
import { type Caller, startTestApi, type TestApi } from '../support/service.ts'
import { post } from '../support/write.ts'

let api: TestApi
let caller: Caller
let environment: Record<string, string>
const settings = { currency: 'AUD', writesPerMinute: 'off', readsPerMinute: 'off', oversell: 'allow' } as const

before(async () => {
  api = await startTestApi({ settings: { ...settings, fulfilment: 'manual' }, role: 'maintainer' })
  caller = api
  await fillShop(api.db, api.service)
  environment = { DATA_DIR: join(createDirectory(), 'data'), DATABASE_URL: api.database.connection }
})
after(() => api.stop())

const runOrderCommand = (...args: string[]) => runSuccessfully(['order', ...args], environment)
/** Returns the error output of a command that fails. */
async function runRejected(...args: string[]) {
  const { code, out, err } = await runCommand(['order', ...args], environment)
  assert.deepEqual([code, out], [1, ''], err)
  return err
}

// The functions of the commands, in this process.
const ship = (number: string) => api.db.transaction(tx => shipOrder(tx, api.service, { number }))
const cancel = (number: string) => api.db.transaction(tx => cancelOrder(tx, api.service, { number }))
const advance = (number: string, name: ReturnAction) =>
  api.db.transaction(tx => advanceReturn(tx, api.service, { number }, name))

const listStatuses = async (id: string) =>
  (await caller.get(`/orders/${id}`)).json.data.lines.map((line: { status: string }) => line.status)

test('help shows all commands with examples', async () => {
  const help = await runOrderCommand('--help')
  for (const command of ['ship', 'cancel', 'return']) assert.match(help, new RegExp(`\\$ tillbridge order ${command} `))
  assert.match(await runOrderCommand('return', '--help'), /receive.*refund.*cancel/s)
  const { code, err } = await runCommand(['order', 'return', 'R1', 'burn'], environment)
  assert.equal(code, 1)
  assert.match(err, /Allowed choices are receive, refund, cancel/)
})

test('a shipped order has a shipment with carrier and tracking', async () => {
  const { id, orderNumber } = await placeOrder(caller, [
    { sku: 'TEE', quantity: 2 },
    { sku: 'UNKEPT', quantity: 1 },
  ])
  const url = 'https://track.example.com/33ABC1'
  assert.match(await runRejected('ship', orderNumber, '--tracking-url', 'javascript:alert(1)'), /must be a web address/)
  await runOrderCommand(
    'ship',
    orderNumber,
    '--carrier',
    'Australia Post',
    '--tracking-number',
    '33ABC1',
    '--tracking-url',
    url,
  )
  const [shipment, ...otherShipments] = (await caller.get(`/orders/${id}/shipments`)).json.data
  assert.deepEqual(
    [otherShipments.length, shipment.carrier, shipment.trackingNumber, shipment.trackingUrl],
    [0, 'Australia Post', '33ABC1', url],
  )
  assert.deepEqual(
    shipment.lines.map((line: { sku: string; quantity: number }) => [line.sku, line.quantity]),
    [
      ['TEE', 2],
      ['UNKEPT', 1],
    ],
  )
  const { lines } = (await caller.get(`/orders/${id}`)).json.data
  assert.deepEqual(
    lines.map((line: { tracking: { trackingNumber: string }[] }) => line.tracking.map(parcel => parcel.trackingNumber)),
    [['33ABC1'], ['33ABC1']],
  )
  const changes = (await caller.get('/changes?kinds=shipment')).json.data
  assert.deepEqual(
    changes.map((change: { path: string }) => change.path),
    [`/shipments/${shipment.id}`],
  )
})

test('the command ships and cancels units of lines', async () => {
  const { id, orderNumber } = await placeOrder(caller, [
    { sku: 'TEE', quantity: 3 },
    { sku: 'UNKEPT', quantity: 1 },
  ])
  assert.match(await runRejected('ship', orderNumber, '--lines', '1:x'), /--lines must be lines such as 1, or 1:2/)
  assert.match(
    await runOrderCommand('ship', orderNumber, '--lines', '1:2', '2', '--store', '101'),
    /^Lines 1:2, 2 of order \S+ shipped\.\n$/,
  )
  const [shipment] = (await caller.get(`/orders/${id}/shipments`)).json.data
  assert.deepEqual(
    [shipment.storeNumber, shipment.lines.map((line: { quantity: number }) => line.quantity)],
    ['101', [2, 1]],
  )
  assert.deepEqual(await listStatuses(id), ['processing', 'shipped'])
  assert.match(await runOrderCommand('cancel', orderNumber, '--lines', '1:1'), /^Lines 1:1 of order \S+ cancelled\.\n$/)
  assert.deepEqual(await listStatuses(id), ['shipped', 'shipped'])
})

test('an order with a pick-up store is ready and then collected', async () => {
  const { id, orderNumber } = await placeOrder(caller, [{ sku: 'TEE', quantity: 1 }], { pickupStoreNumber: '101' })
  assert.match(await runRejected('collected', orderNumber), /can't be collected: it is not `ready` yet/)
  assert.equal(await runOrderCommand('ready', orderNumber), `Order ${orderNumber} is ready.\n`)
  assert.equal(await runOrderCommand('collected', orderNumber), `Order ${orderNumber} is collected.\n`)
  assert.deepEqual(await listStatuses(id), ['shipped'])
})

test('a shipped order is sold once with lines, sale and points', async () => {
  await joinRewards(api, caller)
  const readPoints = async () => (await caller.get('/customers/65432/rewards')).json.data.availablePoints
  const { id, orderNumber } = await placeOrder(caller, [
    { sku: 'TEE', quantity: 2 },
    { sku: 'UNKEPT', quantity: 1 },
  ])
  const stock = await getStock(caller)
  assert.deepEqual(await listStatuses(id), ['processing', 'processing'])
  assert.equal(await readPoints(), 0)

  assert.equal(
    await runOrderCommand('ship', orderNumber, '--service', api.service.name),
    `Order ${orderNumber} shipped.\n`,
  )
  assert.deepEqual(await listStatuses(id), ['shipped', 'shipped'])
  assert.deepEqual(
    (await getSales(caller, orderNumber)).map((sale: { total: string }) => sale.total),
    ['25.00'],
  )
  assert.equal(await readPoints(), 25)
  assert.deepEqual(await getStock(caller), stock)

  assert.match(await runRejected('ship', orderNumber), /^tillbridge: Order \S+ can't be shipped: it is already shipped/)
  await assert.rejects(cancel(orderNumber), /can't be cancelled: it is already shipped/)
  assert.equal((await getSales(caller, orderNumber)).length, 1)
  assert.equal(await readPoints(), 25)
})

test('an order shipped and cancelled concurrently ends as one of both', async () => {
  const stock = await getStock(caller)
  const { id, orderNumber } = await placeOrder(caller, [{ sku: 'TEE', quantity: 1 }])
  const outcomes = await Promise.allSettled([ship, cancel, ship, cancel].map(act => act(orderNumber)))
  assert.equal(outcomes.filter(end => end.status === 'fulfilled').length, 1)
  const [status] = await listStatuses(id)
  const isShipped = status === 'shipped'
  assert.ok(isShipped || status === 'cancelled')
  assert.equal((await getSales(caller, orderNumber)).length, isShipped ? 1 : 0)
  assert.equal((await getStock(caller))['1002 TEE'], (stock['1002 TEE'] ?? 0) - (isShipped ? 1 : 0))
})

test('a cancelled order restores its stock and voucher payments', async () => {
  const buildVoucherRow = (number: string) => ({
    number,
    pin: '004200',
    state: 'active' as const,
    originalAmount: '20.00',
    usedAmount: '0.00',
    expiryDate: '2099-12-31',
  })
  await insertVouchers(api.db, api.keys, api.service, [buildVoucherRow('800'), buildVoucherRow('801')])
  const stock = await getStock(caller)
  const buildPayment = async (number: string, amount: string) => {
    const { json } = await post(caller, '/vouchers/validate', { number, pin: '004200', amount })
    return { gateway: 'visa', amount, voucher: { number, validationId: json.data.validationId } }
  }
  const readAvailable = async (number: string) =>
    (await caller.get(`/vouchers/${number}`, { 'x-voucher-pin': '004200' })).json.data.availableAmount
  const { id, orderNumber } = await placeOrder(caller, [{ sku: 'HOOD-S', quantity: 1 }], {
    payments: [
      await buildPayment('801', '20.00'),
      await buildPayment('800', '5.00'),
      { gateway: 'paypal', amount: toDollars(toCents('29.99') - 2500) },
    ],
  })
  assert.deepEqual([await readAvailable('800'), await readAvailable('801')], ['15.00', '0.00'])
  assert.equal(await runOrderCommand('cancel', orderNumber), `Order ${orderNumber} cancelled.\n`)
  assert.deepEqual([await readAvailable('800'), await readAvailable('801')], ['20.00', '20.00'])
  assert.deepEqual(await getStock(caller), stock)
  assert.deepEqual(await listStatuses(id), ['cancelled'])
  assert.deepEqual(await getSales(caller, orderNumber), [])
  await assert.rejects(ship(orderNumber), /can't be shipped: it is already cancelled\.$/)
  await assert.rejects(cancel(orderNumber), /can't be cancelled: it is already cancelled\.$/)
  assert.equal(
    (await post(caller, `/orders/${id}/returns`, buildReturn({ 'HOOD-S': 1 }))).json.code,
    'quantity_exceeds_returnable',
  )
})

test('a return is received and then refunded in order', async () => {
  const { id, orderNumber } = await placeOrder(caller, [{ sku: 'TEE', quantity: 1 }])
  await ship(orderNumber)
  const { id: returnId, returnNumber } = getCreatedRecord(
    await post(caller, `/orders/${id}/returns`, buildReturn({ TEE: 1 })),
  )
  const readStatus = async () => (await caller.get(`/returns/${returnId}`)).json.data.status
  assert.match(
    await runRejected('return', returnNumber, 'refund'),
    /is requested, so it can't be refunded\. Possible: receive or cancel\.\n$/,
  )
  assert.equal(await runOrderCommand('return', returnNumber, 'receive'), `Return ${returnNumber} is received.\n`)
  assert.equal(await readStatus(), 'received')
  await assert.rejects(
    advance(returnNumber, 'receive'),
    /is received, so it can't be received\. Possible: refund or cancel\.$/,
  )
  await advance(returnNumber, 'refund')
  assert.equal(await readStatus(), 'refunded')
  await assert.rejects(
    advance(returnNumber, 'cancel'),
    /is refunded, so it can't be cancelled\. No action is possible\.$/,
  )
  assert.equal((await caller.get(`/orders/${id}/returnable`)).json.data[0].returnable, 0)
})

test('a cancelled return makes its items returnable again', async () => {
  const { id, orderNumber } = await placeOrder(caller, [{ sku: 'TEE', quantity: 1 }])
  await ship(orderNumber)
  const { returnNumber } = getCreatedRecord(await post(caller, `/orders/${id}/returns`, buildReturn({ TEE: 1 })))
  const outcomes = await Promise.allSettled(Array.from({ length: 3 }, () => advance(returnNumber, 'cancel')))
  assert.equal(outcomes.filter(end => end.status === 'fulfilled').length, 1)
  assert.deepEqual((await caller.get(`/orders/${id}/returnable`)).json.data, [
    { sku: 'TEE', sold: 1, returned: 0, returnable: 1 },
  ])
  assert.equal((await getSales(caller, orderNumber)).length, 3)
  getCreatedRecord(await post(caller, `/orders/${id}/returns`, buildReturn({ TEE: 1 })))
})

test('a missing order, return or service is named, also across services', async () => {
  const name = api.service.name
  const { orderNumber } = await placeOrder(caller, [{ sku: 'TEE', quantity: 1 }])
  const other = await api.createService(settings)
  assert.equal(await runRejected('ship', 'none', '--service', name), 'tillbridge: Order none not found.\n')
  assert.equal(
    await runRejected('cancel', orderNumber, '--service', other.service.name),
    `tillbridge: Order ${orderNumber} not found.\n`,
  )
  await assert.rejects(advance('none', 'receive'), /Return none not found\.$/)
  assert.match(await runRejected('ship', orderNumber, '--service', 'nope'), /^tillbridge: Service nope not found\./)
  assert.match(
    await runRejected('ship', orderNumber),
    /^tillbridge: --service is required, because there are several services/,
  )
})

test('a refund restores vouchers first, in number order', async () => {
  const automaticShop = await api.createService({ ...settings, fulfilment: 'automatic' })
  await fillShop(api.db, automaticShop.service)
  const [first, second] = ['700', '701']
  await insertVouchers(
    api.db,
    api.keys,
    automaticShop.service,
    [first, second].map(number => ({
      number,
      pin: '004200',
      originalAmount: '8.00',
      usedAmount: '0.00',
      state: 'active' as const,
      expiryDate: '2099-12-31',
    })),
  )
  const readBalances = () =>
    Promise.all([first, second].map(async number => (await lookUpVoucher(number)).availableAmount))
  const lookUpVoucher = async (number: string) =>
    (await post(automaticShop, '/vouchers/lookup', { number, pin: '004200' })).json.data
  const buildPayment = async (number: string, amount: string) => {
    const { validationId } = (await post(automaticShop, '/vouchers/validate', { number, pin: '004200', amount })).json
      .data
    return { gateway: 'visa', amount, voucher: { number, validationId } }
  }
  const payments = [
    { gateway: 'visa', amount: '7.00' },
    await buildPayment(first, '8.00'),
    await buildPayment(second, '5.00'),
  ]
  const order = await placeOrder(automaticShop, [{ sku: 'TEE', quantity: 2 }], { payments })
  assert.deepEqual(await readBalances(), ['0.00', '3.00'])
  const refundOne = async () => {
    const { returnNumber } = getCreatedRecord(
      await post(automaticShop, `/orders/${order.id}/returns`, buildReturn({ TEE: 1 })),
    )
    for (const name of ['receive', 'refund']) {
      const output = await runOrderCommand('return', returnNumber, name, '--service', automaticShop.service.name)
      if (name === 'refund') return output
    }
    return ''
  }
  assert.match(await refundOne(), /is refunded\. 8\.00 refunded to voucher 700\. 2\.00 refunded to voucher 701\.\n$/)
  assert.deepEqual(await readBalances(), ['8.00', '5.00'])
  assert.equal((await lookUpVoucher(first)).status, 'active')
  assert.match(await refundOne(), /is refunded\. 3\.00 refunded to voucher 701\.\n$/)
  assert.deepEqual(await readBalances(), ['8.00', '8.00'])
})
