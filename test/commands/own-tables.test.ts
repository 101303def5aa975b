import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { shipOrder } from '../../src/backoffice/embedded/fulfilment.ts'
import { raw, sql } from '../../src/database/db.ts'
import { setBackOffice } from '../../src/store/backoffice/connections.ts'
import { insertVouchers } from '../../src/store/vouchers/vouchers.ts'
import { buildEnvironment } from '../import/import-command.ts'
import { createReturn, getCreatedRecord, type OrderShop, placeOrder, startOrderShop } from '../support/order-shop.ts'
import { createDirectory, runCommand } from '../support/processes.ts'

let shop: OrderShop
before(async () => {
  shop = await startOrderShop()
})
after(() => shop.api.stop())

test("local decisions are rejected for a back office's orders, returns and vouchers", async () => {
  const { db, keys } = shop.api
  const caller = await shop.createShop({ fulfilment: 'manual' })
  const { service } = caller
  const [waiting, sold] = [
    await placeOrder(caller, [{ sku: 'TEE', quantity: 1 }]),
    await placeOrder(caller, [{ sku: 'HOOD-S', quantity: 2 }]),
  ]
  await db.transaction(tx => shipOrder(tx, service, { number: sold.orderNumber }))
  const { returnNumber } = getCreatedRecord(await createReturn(caller, sold.id, { 'HOOD-S': 1 }))
  const amounts = { originalAmount: '20.00', usedAmount: '0.00' }
  await insertVouchers(db, keys, service, [
    { number: '800', pin: '1', state: 'active', ...amounts, expiryDate: '2099-12-31' },
  ])
  const tables = ['order_line', 'sales_return', 'stock', 'retail_transaction', 'voucher', 'voucher_entry']
  const readTables = () =>
    Promise.all(tables.map(name => db.rows(sql`select * from ${raw(name)} where service_id = ${service.id}`)))
  const original = await readTables()

  const settings = { driver: 'apparel21', url: 'http://127.0.0.1:9/', country: 'AU' } as const
  await db.transaction(tx => setBackOffice(tx, keys, service, settings))
  const environment = buildEnvironment(shop.api, join(createDirectory(), 'data'))
  const runRejected = async (...args: string[]) => {
    const { code, out, err } = await runCommand([...args, '--service', service.name], environment)
    assert.deepEqual([code, out], [1, ''], err)
    return err
  }
  const describeOwnership = (records: string, doing: string) =>
    `tillbridge: ${records} of ${service.name} belong to its back office (apparel21): ${doing}.\n`
  for (const command of [
    ['ship', waiting.orderNumber],
    ['cancel', waiting.orderNumber],
    ['return', returnNumber, 'receive'],
  ])
    assert.equal(await runRejected('order', ...command), describeOwnership('Orders', 'manage them there'))
  for (const decision of ['suspend', 'resume', 'unlock', 'activate'])
    assert.equal(await runRejected('voucher', decision, '800'), describeOwnership('Vouchers', 'manage them there'))
  assert.deepEqual(await readTables(), original)
})
