import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { startShopFixture } from '../shop.ts'
import { createOrderFixture } from '../writes/orders.ts'

const shop = await startShopFixture()
const { api, simulator } = shop
const { tee, buy } = await createOrderFixture(shop)
const placeOrder = () => buy([{ sku: tee.sku, quantity: 1 }])
const getStatus = async (id: string) => (await api.get(`/orders/${id}`)).json.data.lines[0].status

/** Places 12 orders for these customers, and a shipped one. Returns the shipped one's identifier. */
async function placeOrdersOfMany(customer: (at: number) => string) {
  for (let at = 0; at < 12; at++) {
    const { id } = await placeOrder()
    await api.db.run(sql`update sales_order set customer_id = ${customer(at)} where id = ${id}`)
  }
  const shipped: string = (await placeOrder()).id
  simulator.change({ kind: 'despatch-order', id: Number(shipped) })
  return shipped
}

test("unknown customers' orders do not stop other orders from being followed", async () => {
  const shipped = await placeOrdersOfMany(at => `0000000${at}-0000-4000-8000-000000000000`)
  simulator.faults.add({ kind: 'html', status: 404, path: '/Persons/*-*/Orders' })
  simulator.ledger.clear()
  await shop.sync('orders')
  assert.equal(await getStatus(shipped), 'shipped')
  assert.equal(simulator.ledger.findCalls({ path: '/Persons/*-*/Orders' }).length, 0)
})

test('customers whose orders are rejected do not stop other orders', async () => {
  const shipped = await placeOrdersOfMany(at => `100${at}`)
  simulator.faults.add({ kind: 'error', status: 403, code: 5030, path: '/Persons/100*/Orders' })
  await shop.sync('orders')
  assert.equal(await getStatus(shipped), 'shipped')
})
