import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { cancelOrder, shipOrder } from '../../../src/backoffice/embedded/fulfilment.ts'
import { createImporter } from '../../import/import-command.ts'
import { buildOrder, getCreatedRecord, getSales, placeOrder, startOrderShop } from '../../support/order-shop.ts'
import { assertProblem, getFieldErrors } from '../../support/problem.ts'
import { post } from '../../support/write.ts'

const { api, createShop } = await startOrderShop()
after(() => api.stop())
const runImport = createImporter(api)

const stateTax = { name: 'NY State Tax', percentage: '4', amount: '0.40' }
const cityTax = { name: 'NYC Tax', percentage: null, amount: '0.43' }
const lines = [{ sku: 'TEE', quantity: 1 }]
const buildPayment = (amount: string) => ({ payments: [{ gateway: 'paypal', amount, reference: 'PAYID-1' }] })

test('sales taxes are part of the amount due and of the sale', async () => {
  const caller = await createShop()
  const body = buildOrder(lines, {
    taxLines: [stateTax, { name: 'NYC Tax', amount: '0.43' }],
    ...buildPayment('10.83'),
  })
  const dryRun = await caller.request('/orders', {
    method: 'POST',
    headers: { 'content-type': 'application/json', prefer: 'tx=rollback' },
    body: JSON.stringify(body),
  })
  const order = getCreatedRecord(await post(caller, '/orders', body))
  assert.deepEqual([dryRun.json.data.taxLines, dryRun.json.data.total], [order.taxLines, order.total])
  assert.deepEqual([order.taxLines, order.total], [[stateTax, cityTax], '10.83'])
  assert.deepEqual((await caller.get(`/orders/${order.id}`)).json.data, order)
  const [sale] = await getSales(caller, order.orderNumber)
  assert.deepEqual([sale.total, sale.taxLines], ['10.00', [stateTax, cityTax]])
  assert.deepEqual((await caller.get(`/transactions/order-${order.id}`)).json.data, sale)
  const accept = { accept: 'application/x-ndjson' }
  const exported = (await caller.get('/customers/65432/orders', accept)).text.trimEnd()
  assert.deepEqual(JSON.parse(exported).taxLines, [stateTax, cityTax])
  const untaxedOrder = await placeOrder(caller, lines)
  assert.deepEqual(untaxedOrder.taxLines, [])
  assert.ok(!('taxLines' in ((await getSales(caller, untaxedOrder.orderNumber))[0] ?? {})))
})

test('payments must include the taxes, and taxes must be amounts', async () => {
  const caller = await createShop()
  const place = (more: object) => post(caller, '/orders', buildOrder(lines, more))
  const short = await place({ taxLines: [stateTax], ...buildPayment('10.00') })
  assertProblem(short, 'payment_total_mismatch', api.baseUrl, '/orders')
  assert.match(short.json.detail, /must total 10\.40 AUD; they total 10\.00 AUD/)
  for (const [taxLine, field] of [
    [{ ...stateTax, amount: '-0.40' }, 'amount'],
    [{ ...stateTax, amount: '0.4' }, 'amount'],
    [{ ...stateTax, percentage: 'a lot' }, 'percentage'],
    [{ ...stateTax, name: '' }, 'name'],
  ] as const) {
    const rejected = await place({ taxLines: [taxLine], ...buildPayment('10.40') })
    assert.ok(getFieldErrors(rejected).includes(`/taxLines/0/${field} invalid_field`), rejected.text)
  }
})

test('cancelling an unshipped order refunds its taxes', async () => {
  const caller = await createShop({ fulfilment: 'manual' })
  const { orderNumber } = getCreatedRecord(
    await post(caller, '/orders', buildOrder(lines, { taxLines: [stateTax], ...buildPayment('10.40') })),
  )
  const {
    order: { id },
  } = await api.db.transaction(tx => cancelOrder(tx, caller.service, { number: orderNumber }))
  const { data } = (await caller.get(`/orders/${id}`)).json
  assert.deepEqual([data.lines[0].status, data.total], ['cancelled', '10.40'])
})

test('orders with a tax column are imported with their taxes', async () => {
  const caller = await createShop()
  const header = 'orderNumber,customerId,placedAt,tax,taxName,total,sku,quantity,price,paymentGateway,paymentAmount'
  const toRow = (number: string, tax: string, name: string, total: string) =>
    `${number},65432,2024-05-10 09:30,${tax},${name},${total},TEE,1,10.00,paypal,${total}`
  const { counts, reasons } = await runImport(
    caller,
    'orders',
    [
      header,
      toRow('T-1', '0.83', 'NY Tax', '10.83'),
      toRow('T-2', '0.83', '', '10.83'),
      toRow('T-3', '0.83', '', '10.50'),
      toRow('T-5', '0.83', '', '10.00'),
      toRow('T-4', '0.00', '', '10.00'),
      '',
    ].join('\n'),
  )
  assert.deepEqual(counts, [5, 4, 0, 0, 1])
  assert.deepEqual(reasons, [
    'total must be the sum of lines, freight and tax (a discount of the order belongs in orderDiscount): 10.83',
  ])
  const getTaxLines = async (number: string) => (await caller.get(`/orders/${number}`)).json.data.taxLines
  assert.deepEqual(await getTaxLines('T-1'), [{ name: 'NY Tax', percentage: null, amount: '0.83' }])
  assert.deepEqual(await getTaxLines('T-2'), [{ name: 'Tax', percentage: null, amount: '0.83' }])
  assert.deepEqual([await getTaxLines('T-4'), await getTaxLines('T-5')], [[], []], 'the prices include the tax')
})

test('an order shipped later has its taxes in the sale', async () => {
  const caller = await createShop({ fulfilment: 'manual' })
  const { orderNumber } = getCreatedRecord(
    await post(caller, '/orders', buildOrder(lines, { taxLines: [stateTax], ...buildPayment('10.40') })),
  )
  assert.deepEqual(await getSales(caller, orderNumber), [])
  await api.db.transaction(tx => shipOrder(tx, caller.service, { number: orderNumber }))
  assert.deepEqual((await getSales(caller, orderNumber))[0].taxLines, [stateTax])
})
