import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { shipOrder } from '../../src/backoffice/embedded/fulfilment.ts'
import { createReturn, getCreatedRecord, placeOrder, startOrderShop } from '../support/order-shop.ts'
import type { Caller } from '../support/service.ts'
import { post } from '../support/write.ts'
import { createImporter } from './import-command.ts'

const { api, createShop } = await startOrderShop()
after(() => api.stop())
const importFile = createImporter(api)

const header = 'id,saleDate,orderNumber,lineId,sku,quantity,price,channel,customerId'
const lines = [{ sku: 'TEE', quantity: 4 }]

/** Imports rows of sales: ID, order number, line ID and quantity. */
const importSales = (caller: Caller, ...rows: readonly (readonly [string, string, string, number])[]) =>
  importFile(
    caller,
    'transactions',
    [
      header,
      ...rows.map(
        ([id, order, line, quantity]) => `${id},2026-11-26 16:05,${order},${line},TEE,${quantity},10.00,web,65432`,
      ),
      '',
    ].join('\n'),
  )

/** Returns the customer's sales: ID and total. */
async function listSales(caller: Caller): Promise<[id: string, total: string][]> {
  const { data } = (await caller.get('/customers/65432/transactions')).json
  return data.map(({ id, total }: { id: string; total: string }) => [id, total]).sort()
}

test('an imported sale replaces the sale of its order, once', async () => {
  const caller = await createShop()
  const order = await placeOrder(caller, lines)
  assert.deepEqual(await listSales(caller), [[`order-${order.id}`, '40.00']])
  const { endCursor } = (await caller.get('/changes?kinds=transaction')).json.meta
  const first = await importSales(caller, ['POS77', order.orderNumber, '1', 4])
  assert.deepEqual(first.counts, [1, 1, 0, 0, 0])
  assert.deepEqual(await listSales(caller), [['POS77', '40.00']])
  const changes = (await caller.get(`/changes?kinds=transaction&after_cursor=${endCursor}`)).json.data
  assert.deepEqual(changes.map(({ id, action }: { id: string; action: string }) => `${id} ${action}`).sort(), [
    'POS77 changed',
    `order-${order.id} removed`,
  ])
  assert.deepEqual((await importSales(caller, ['POS77', order.orderNumber, '1', 4])).counts, [1, 0, 0, 1, 0])
  assert.equal((await caller.get(`/orders/${order.id}`)).json.data.lines[0].status, 'shipped')
})

test('partial shipments of an order are all kept', async () => {
  const caller = await createShop()
  const order = await placeOrder(caller, lines)
  await importSales(caller, ['POS1', order.orderNumber, '1', 3])
  await importSales(caller, ['POS2', order.orderNumber, '1', 1])
  assert.deepEqual(await listSales(caller), [
    ['POS1', '30.00'],
    ['POS2', '10.00'],
  ])
})

test("shipping an order after its sale's import adds no second sale", async () => {
  const caller = await createShop({ fulfilment: 'manual' })
  const order = await placeOrder(caller, lines)
  await importSales(caller, ['POS5', order.orderNumber, '1', 4])
  await api.db.transaction(tx => shipOrder(tx, caller.service, { number: order.orderNumber }))
  assert.deepEqual(await listSales(caller), [['POS5', '40.00']])
  assert.equal((await caller.get(`/orders/${order.id}`)).json.data.lines[0].status, 'shipped')
})

test('an imported sale replaces the sales of all shipments of its order', async () => {
  const caller = await createShop({ fulfilment: 'manual' })
  const order = await placeOrder(caller, lines)
  const units = { lines: [{ orderLineId: '1', quantity: 2 }] }
  for (const _ of [1, 2]) getCreatedRecord(await post(caller, `/orders/${order.id}/shipments`, units))
  assert.deepEqual(await listSales(caller), [
    [`order-${order.id}`, '20.00'],
    [`order-${order.id}-2`, '20.00'],
  ])
  await importSales(caller, ['POS6', order.orderNumber, '1', 4])
  assert.deepEqual(await listSales(caller), [['POS6', '40.00']])
})

test('returns and sales of other orders leave the sale of an order', async () => {
  const [caller, other] = [await createShop(), await createShop()]
  const order = await placeOrder(caller, lines)
  const otherOrder = await placeOrder(other, lines)
  assert.equal(otherOrder.orderNumber, order.orderNumber)
  const { id } = getCreatedRecord(await createReturn(caller, order.id, { TEE: 1 }))
  await importSales(caller, ['POS8', order.orderNumber, '1', -1], ['POS9', 'W-OTHER', '1', 1])
  assert.deepEqual(await listSales(caller), [
    ['POS8', '-10.00'],
    ['POS9', '10.00'],
    [`order-${order.id}`, '40.00'],
    [`return-${id}`, '-10.00'],
  ])
  await importSales(caller, ['POS7', order.orderNumber, '1', 4])
  assert.deepEqual(await listSales(other), [[`order-${otherOrder.id}`, '40.00']])
})

test('an exported sale of our own can be imported again', async () => {
  const caller = await createShop()
  const taxLines = [
    { name: 'State', percentage: '1', amount: '0.40' },
    { name: 'City', percentage: null, amount: '0.43' },
  ]
  const payments = [{ gateway: 'paypal', amount: '40.83', reference: 'PAYID-1' }]
  const order = await placeOrder(caller, lines, { taxLines, payments })
  const { text } = await caller.get('/customers/65432/transactions', { accept: 'application/x-ndjson' })
  const { code, counts } = await importFile(caller, 'transactions', text, { file: 'sales.ndjson' })
  assert.equal(code, 0)
  assert.deepEqual(counts, [1, 0, 0, 1, 0])
  assert.deepEqual(await listSales(caller), [[`order-${order.id}`, '40.00']])
  const other = await createShop()
  await importFile(other, 'transactions', text, { file: 'sales.ndjson' })
  const [copy] = (await other.get('/customers/65432/transactions')).json.data
  assert.deepEqual(copy.taxLines, [{ name: 'State + City', percentage: null, amount: '0.83' }])
})
