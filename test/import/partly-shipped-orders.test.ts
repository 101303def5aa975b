import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { cancelOrder, shipOrder } from '../../src/backoffice/embedded/fulfilment.ts'
import type { Db } from '../../src/database/db.ts'
import type { OrderName } from '../../src/domain/orders/orders.ts'
import type { Service } from '../../src/domain/tenancy/service-settings.ts'
import { getSales, getStock, joinRewards, startOrderShop } from '../support/order-shop.ts'
import type { Caller } from '../support/service.ts'
import { createImporter } from './import-command.ts'

const shop = await startOrderShop()
const importFile = createImporter(shop.api)
after(() => shop.api.stop())

const inTransaction = (
  work: (tx: Db, service: Service, name: OrderName) => Promise<unknown>,
  { service }: Caller,
  number: string,
) => shop.api.db.transaction(tx => work(tx, service, { number }))

/** Creates a shop with an order of 60.00, paid by a voucher, with 5.00 freight. One line has `status`, one is processing, and one is cancelled. */
async function createShopWithMixedOrder(status: string) {
  const caller = await shop.createShop()
  await joinRewards(shop.api, caller)
  assert.equal((await importFile(caller, 'vouchers', 'number,pin,balance,originalAmount\nV1,1,0.00,100.00\n')).code, 0)
  const { code } = await importFile(
    caller,
    'orders',
    [
      'orderNumber,customerId,placedAt,freight,total,sku,quantity,price,status,storeNumber,paymentGateway,paymentAmount,paymentVoucher',
      `M1,65432,2024-05-10,5.00,60.00,TEE,1,10.00,${status},102,card,60.00,V1`,
      'M1,,,,,HOOD-S,2,10.00,processing,101,,,',
      'M1,,,,,UNKEPT,5,5.00,cancelled,102,,,',
      '',
    ].join('\n'),
  )
  assert.equal(code, 0)
  const getStatuses = async () =>
    (await caller.get('/orders/M1')).json.data.lines.map((line: { status: string }) => line.status)
  const getBalance = async () => (await caller.get('/vouchers/V1', { 'x-voucher-pin': '1' })).json.data.availableAmount
  return { caller, getStatuses, getBalance }
}

test('the rest of a partly shipped order is sold and earns alone', async () => {
  const { caller, getStatuses } = await createShopWithMixedOrder('shipped')
  await inTransaction(shipOrder, caller, 'M1')
  assert.deepEqual(await getStatuses(), ['shipped', 'shipped', 'cancelled'])
  const [sale, ...otherSales] = await getSales(caller, 'M1')
  assert.deepEqual(
    [otherSales, sale.total, sale.storeNumber, sale.lines.map((line: { sku: string }) => line.sku)],
    [[], '20.00', '101', ['HOOD-S']],
  )
  assert.equal((await caller.get('/customers/65432/rewards')).json.data.availablePoints, 20)
  await assert.rejects(inTransaction(shipOrder, caller, 'M1'), /can't be shipped: it is already shipped/)
  await assert.rejects(inTransaction(cancelOrder, caller, 'M1'), /can't be cancelled: it is already shipped/)
})

test('the rest of a partly shipped order can be cancelled and refunded', async () => {
  const { caller, getStatuses, getBalance } = await createShopWithMixedOrder('shipped')
  const before = await getStock(caller)
  await inTransaction(cancelOrder, caller, 'M1')
  assert.deepEqual(await getStatuses(), ['shipped', 'cancelled', 'cancelled'])
  assert.equal(await getBalance(), '20.00')
  const stock = await getStock(caller)
  assert.deepEqual(stock, { ...before, '1001 HOOD-S': (before['1001 HOOD-S'] ?? 0) + 2 })
  assert.deepEqual(await getSales(caller, 'M1'), [])
})

test('freight is refunded if nothing was shipped', async () => {
  const { caller, getStatuses, getBalance } = await createShopWithMixedOrder('processing')
  await inTransaction(cancelOrder, caller, 'M1')
  assert.deepEqual(await getStatuses(), ['cancelled', 'cancelled', 'cancelled'])
  assert.equal(await getBalance(), '35.00')
  await assert.rejects(inTransaction(cancelOrder, caller, 'M1'), /can't be cancelled: it is already cancelled\.$/)
})
