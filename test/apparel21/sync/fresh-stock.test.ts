import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { fetchStockOfSkus } from '../../../src/backoffice/apparel21/syncs/stock.ts'
import type { Driver } from '../../../src/backoffice/port/driver.ts'
import { sql } from '../../../src/database/db.ts'
import type { JobRun } from '../../../src/jobs/job.ts'
import { refreshStock } from '../../../src/jobs/refresh-stock.ts'
import { connectToBackOffice } from '../../drivers/apparel21.ts'
import { startShopFixture } from '../shop.ts'
import { createOrderFixture } from '../writes/orders.ts'
import { createReturnFixture } from '../writes/returns.ts'

const shop = await startShopFixture({ returnReasons: [{ code: 'SIZE', name: 'Wrong size' }] })
const { api, simulator } = shop
const orders = await createOrderFixture(shop)
const { tee, buy } = orders
const { placeOrder, postReturn, getLastReturn } = createReturnFixture(shop, orders)
const { client } = connectToBackOffice(simulator)

/** Runs the pending `refresh-stock` jobs, as a worker does. Returns their number. */
async function runJobs() {
  const { db, service } = api
  const fetchStock: Driver['fetchStock'] = (skuIds, until) => fetchStockOfSkus(client, skuIds, until)
  const job = refreshStock({ getDriver: () => ({ fetchStock }) as Driver })
  const due = await db.rows<{ subject: string }>(
    sql`delete from job where name = 'refresh-stock' and service_id = ${service.id} returning subject`,
  )
  const { signal } = new AbortController()
  for (const { subject } of due)
    await job.run({ db, service, subject, signal, log: pino({ level: 'silent' }) } as unknown as JobRun)
  return due.length
}
const loadStock = async (): Promise<Map<string, number>> => {
  const { data } = (await api.get(`/inventory?sku=${tee.sku}`)).json
  return new Map(data.map((row: { storeId: string; freeStock: number }) => [row.storeId, row.freeStock]))
}
const getUpstreamStock = () => {
  const { skus, stores, stock } = simulator.state
  const row = skus.get(Number(tee.sku))?.row ?? -1
  return new Map([...stores.values()].map(({ id, column }) => [String(id), stock.get(row, column)]))
}

after(() => client.close())

test('a return refreshes its stock on creation and on arrival', async () => {
  const sold = await placeOrder({ [tee.sku]: 1 })
  assert.equal(await runJobs(), 1)
  simulator.ledger.clear()
  assert.equal((await postReturn(sold.id, { [tee.sku]: 1 })).status, 201)
  assert.equal(await runJobs(), 1)
  assert.equal(simulator.ledger.findCalls({ path: `/Freestock/sku/${tee.sku}` }).length, 1)
  const before = await loadStock()
  simulator.change({ kind: 'receive-return', id: getLastReturn().id })
  await shop.sync('returns')
  assert.equal(await runJobs(), 1)
  const sum = (stock: Map<unknown, number>) => [...stock.values()].reduce((all, units) => all + units, 0)
  assert.equal(sum(await loadStock()), sum(before) + 1)
})

test('an order refreshes its stock at once, even if sold out', async () => {
  const [warehouse] = [...simulator.state.stores.values()].filter(({ kind }) => kind === 'warehouse')
  assert.ok(warehouse)
  simulator.change({ kind: 'set-stock', skuId: Number(tee.sku), storeId: warehouse.id, quantity: 2 })
  await shop.sync('stock')
  assert.equal((await loadStock()).get(String(warehouse.id)), 2)
  await buy([{ sku: tee.sku, quantity: 1 }])
  assert.equal(await runJobs(), 1)
  assert.equal((await loadStock()).get(String(warehouse.id)), 1)
  await buy([{ sku: tee.sku, quantity: 1 }])
  assert.equal(await runJobs(), 1)
  for (const [storeId, freeStock] of await loadStock())
    assert.equal(freeStock, Math.max(0, getUpstreamStock().get(String(storeId)) ?? 0), String(storeId))
})
