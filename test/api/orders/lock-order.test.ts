import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Db, type Sql, sql } from '../../../src/database/db.ts'
import { insertVouchers } from '../../../src/store/vouchers/vouchers.ts'
import { buildEnvironment } from '../../import/import-command.ts'
import {
  buildOrder,
  buildReturn,
  getCreatedRecord,
  joinRewards,
  placeOrder,
  startOrderShop,
} from '../../support/order-shop.ts'
import { waitForBlockedConnections } from '../../support/postgres/hold-locks.ts'
import { createDirectory, runCommand } from '../../support/processes.ts'
import { post } from '../../support/write.ts'

// Orders, returns and exchanges lock rows in the same order. Each test pauses a write and locks the rows that the write
// must not have locked yet.

const { api, createShop } = await startOrderShop()
after(() => api.stop())
const { db } = api

/** Runs `heldLock`, starts a write that waits for it, and then runs `nextLock` as a competing write would. Returns the result. */
async function lockWhileWaiting<T>(heldLock: Sql, write: () => Promise<T>, nextLock: Sql): Promise<T> {
  let running: Promise<T> | undefined
  await db.transaction(async (tx: Db) => {
    await tx.run(sql`set local lock_timeout = '5s'`)
    // If both wait for each other, PostgreSQL ends the write.
    await tx.run(sql`set local deadlock_timeout = '20s'`)
    assert.ok(await tx.run(heldLock), 'nothing was locked')
    running = write()
    await waitForBlockedConnections({ db })
    assert.ok(await tx.run(nextLock), 'nothing was locked')
  })
  return running as Promise<T>
}

const voucherNumber = '830'
const buildVoucherLock = (id: number) =>
  sql`select from voucher where service_id = ${id} and number = ${voucherNumber} for update`

test('an exchange locks stock before the reward account, like an order', async () => {
  const shop = await createShop({ oversell: 'refuse' })
  await joinRewards(api, shop)
  const bought = await placeOrder(shop, [{ sku: 'TEE', quantity: 1 }])
  const exchange = () =>
    post(shop, `/orders/${bought.id}/exchanges`, {
      orderReturn: buildReturn({ TEE: 1 }),
      order: buildOrder([{ sku: 'TEE', quantity: 2 }], { payments: [{ gateway: 'visa', amount: '10.00' }] }),
    })
  const { id } = shop.service
  const response = await lockWhileWaiting(
    sql`select from stock where service_id = ${id} and sku_id = 'id-TEE' for update`,
    exchange,
    sql`select from reward_account where service_id = ${id} for update`,
  )
  getCreatedRecord(response)
  const { points } = (await shop.get('/customers/65432/rewards')).json.data
  const available = points.map((lot: { available: number }) => lot.available)
  assert.deepEqual(available.toSorted(), [0, 20])
})

test('a cancelled exchange locks the returned order before vouchers', async () => {
  const shop = await createShop({ fulfilment: 'manual' })
  const pin = '004200'
  const voucher = { number: voucherNumber, pin, originalAmount: '20.00', usedAmount: '0.00', expiryDate: '2099-12-31' }
  await insertVouchers(db, api.keys, shop.service, [{ ...voucher, state: 'active' }])
  const bought = await placeOrder(shop, [{ sku: 'TEE', quantity: 1 }])
  getCreatedRecord(await post(shop, `/orders/${bought.id}/shipments`, {}))
  const validated = await post(shop, '/vouchers/validate', { number: voucherNumber, pin, amount: '19.99' })
  const { validationId } = validated.json.data
  const payments = [{ gateway: 'visa', amount: '19.99', voucher: { number: voucherNumber, validationId } }]
  const exchanged = getCreatedRecord(
    await post(shop, `/orders/${bought.id}/exchanges`, {
      orderReturn: buildReturn({ TEE: 1 }),
      order: buildOrder([{ sku: 'HOOD-S', quantity: 1 }], { payments }),
    }),
  )
  const response = await lockWhileWaiting(
    sql`select from sales_order where service_id = ${shop.service.id} and id = ${bought.id} for update`,
    () => post(shop, `/orders/${exchanged.order.id}/cancel`, {}),
    buildVoucherLock(shop.service.id),
  )
  assert.equal(response.status, 200, response.text)
  const { vouchers, exchange } = response.json.data.refund
  assert.deepEqual([vouchers, exchange], [[{ number: voucherNumber, amount: '19.99' }], '10.00'])
})

test('a command that PostgreSQL ends because of a deadlock runs again', async () => {
  const shop = await createShop({ fulfilment: 'manual' })
  const { id, orderNumber } = await placeOrder(shop, [{ sku: 'TEE', quantity: 1 }])
  const { service } = shop
  const { code, out, err } = await lockWhileWaiting(
    sql`select from stock where service_id = ${service.id} and sku_id = 'id-TEE' for update`,
    () =>
      runCommand(['order', 'cancel', orderNumber, '--service', service.name], buildEnvironment(api, createDirectory())),
    sql`select from sales_order where service_id = ${service.id} and id = ${id} for update`,
  )
  assert.deepEqual([code, out], [0, `Order ${orderNumber} cancelled.\n`], err)
})
