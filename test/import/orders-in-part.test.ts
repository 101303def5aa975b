import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { cancelOrder, shipOrder } from '../../src/backoffice/embedded/fulfilment.ts'
import type { Db } from '../../src/database/db.ts'
import type { OrderName } from '../../src/domain/orders/orders.ts'
import type { Service } from '../../src/domain/tenancy/service-settings.ts'
import { getSales, getStock, joinRewards, startOrderShop } from '../support/order-shop.ts'
import type { Caller } from '../support/service.ts'
import { importing } from './import-command.ts'

const shop = await startOrderShop()
const load = importing(shop.api)
after(() => shop.api.stop())

const act = (
  work: (tx: Db, service: Service, name: OrderName) => Promise<unknown>,
  { service }: Caller,
  number: string,
) => shop.api.db.transaction(tx => work(tx, service, { number }))

/** Creates a shop with an order of 60.00, paid by a voucher. One line is shipped, one cancelled, and one open: 20.00 and 5.00 freight. */
async function withMixed(status: string) {
  const at = await shop.createShop()
  await joinRewards(shop.api, at)
  assert.equal((await load(at, 'vouchers', 'number,pin,balance,originalAmount\nV1,1,0.00,100.00\n')).code, 0)
  const { code } = await load(
    at,
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
  const statuses = async () =>
    (await at.get('/orders/M1')).json.data.lines.map((line: { status: string }) => line.status)
  const balance = async () => (await at.get('/vouchers/V1', { 'x-voucher-pin': '1' })).json.data.availableAmount
  return { at, statuses, balance }
}

test('the rest of a partly shipped order is sold and earns alone', async () => {
  const { at, statuses } = await withMixed('shipped')
  await act(shipOrder, at, 'M1')
  assert.deepEqual(await statuses(), ['shipped', 'shipped', 'cancelled'])
  const [sale, ...otherSales] = await getSales(at, 'M1')
  assert.deepEqual(
    [otherSales, sale.total, sale.storeNumber, sale.lines.map((line: { sku: string }) => line.sku)],
    [[], '20.00', '101', ['HOOD-S']],
  )
  assert.equal((await at.get('/customers/65432/rewards')).json.data.availablePoints, 20)
  await assert.rejects(act(shipOrder, at, 'M1'), /can't be shipped: it is already shipped/)
  await assert.rejects(act(cancelOrder, at, 'M1'), /can't be cancelled: it is already shipped/)
})

test('the rest of a partly shipped order can be cancelled and refunded', async () => {
  const { at, statuses, balance } = await withMixed('shipped')
  const before = await getStock(at)
  await act(cancelOrder, at, 'M1')
  assert.deepEqual(await statuses(), ['shipped', 'cancelled', 'cancelled'])
  assert.equal(await balance(), '20.00')
  const stock = await getStock(at)
  assert.deepEqual(stock, { ...before, '1001 HOOD-S': (before['1001 HOOD-S'] ?? 0) + 2 })
  assert.deepEqual(await getSales(at, 'M1'), [])
})

test('freight is refunded if nothing was shipped', async () => {
  const { at, statuses, balance } = await withMixed('processing')
  await act(cancelOrder, at, 'M1')
  assert.deepEqual(await statuses(), ['cancelled', 'cancelled', 'cancelled'])
  assert.equal(await balance(), '35.00')
  await assert.rejects(act(cancelOrder, at, 'M1'), /can't be cancelled: it is already cancelled\.$/)
})
