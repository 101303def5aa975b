import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Order } from '../../src/domain/orders/orders.ts'
import { validateBody } from '../../src/http/body/validate.ts'
import { importAndWait } from '../support/import-and-wait.ts'
import { startOrderShop } from '../support/order-shop.ts'
import type { Caller } from '../support/service.ts'
import { createImporter } from './import-command.ts'

const shop = await startOrderShop()
const importFile = createImporter(shop.api)
after(() => shop.api.stop())

const readOrder = async (caller: Caller, name: string) => (await caller.get(`/orders/${name}`)).json.data

const tooFine = `orderNumber,customerId,placedAt,total,sku,quantity,price
A1,65432,2024-05-10,5.00,TEE,1,5.00
A2,65432,2024-05-10,5.99,TEE,1,5.9950
A2,,,,TEE,1,0.00
A3,65432,2024-05-10,6.00,TEE,1,6.0000
`

test('a price finer than the currency rejects only its order', async () => {
  const dryRunShop = await shop.createShop()
  const reasons = [
    'price must have at most 2 decimals, like AUD',
    ' Another line of this order was rejected. An order is imported completely or not at all.',
  ]
  const dry = await importFile(dryRunShop, 'orders', tooFine, { args: ['--dry-run'] })
  assert.deepEqual([dry.code, dry.counts, dry.reasons], [2, [4, 2, 2], reasons])

  const cliShop = await shop.createShop()
  const run = await importFile(cliShop, 'orders', tooFine)
  assert.deepEqual([run.code, run.counts, run.reasons], [2, [4, 2, 0, 0, 2], reasons])

  const apiShop = await shop.createShop()
  const { state, new: added, rejected } = await importAndWait(apiShop, 'orders', tooFine)
  assert.deepEqual([state, added, rejected], ['ok', 2, 2])

  for (const caller of [cliShop, apiShop]) {
    assert.equal((await caller.get('/orders/A2')).status, 404)
    const orders = [await readOrder(caller, 'A1'), await readOrder(caller, 'A3')]
    assert.deepEqual(
      orders.map(({ lines }) => lines[0].price),
      ['5.00', '6.00'],
    )
  }
})

test("a discount is shown with the currency's decimals", async () => {
  const caller = await shop.createShop()
  const header = 'orderNumber,customerId,placedAt,total,sku,quantity,price,discountAmount'
  const { code } = await importFile(caller, 'orders', `${header}\nD1,65432,2024-05-10,24,TEE,3,10,6\n`)
  assert.equal(code, 0)
  const order = await readOrder(caller, 'D1')
  assert.equal(order.lines[0].discounts[0].amount, '6.00')
  assert.deepEqual(validateBody(Order, order, { currency: 'AUD' }), [])
})
