import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { assertProblem } from '../../support/problem.ts'
import { post } from '../../support/write.ts'
import { openShop } from '../shop.ts'
import { createOrderFixture } from './orders.ts'

const shop = await openShop({ oversell: 'refuse' })
after(() => shop.stop())
const { api, simulator } = shop
const { tee, buildOrder, countPlaced } = await createOrderFixture(shop)

/** Sets our stock of the tee: `units` in one store and 0 in all others. */
const setStock = async (units: number) => {
  await api.db.run(sql`update stock set free_stock = 0 where service_id = ${api.service.id} and sku_id = ${tee.sku}`)
  await api.db.run(sql`
    insert into stock (service_id, store_id, sku_id, changed_at, record, free_stock)
    select ${api.service.id}, min(store_id), ${tee.sku}, now(), '{}', ${units}::integer from store where service_id = ${api.service.id}
    on conflict (service_id, store_id, sku_id) do update set free_stock = excluded.free_stock`)
}
const getUnits = async () =>
  await api.db.row<{ free: number; reserved: number }>(sql`
    select sum(free_stock)::integer as free, sum(reserved)::integer as reserved
      from stock where service_id = ${api.service.id} and sku_id = ${tee.sku}`)

test('concurrent orders of two servers never exceed the known stock', async () => {
  await setStock(5)
  const servers = [api, await shop.startSecondServer()]
  const before = countPlaced()
  const responses = await Promise.all(
    Array.from({ length: 24 }, (_, i) => post(servers[i % 2] ?? api, '/orders', buildOrder())),
  )
  const codes = responses.map(({ status, json }) => json.code ?? status)
  assert.equal(codes.filter(code => code === 201).length, 5, codes.join())
  assert.equal(codes.filter(code => code === 'insufficient_stock').length, 19, codes.join())
  assert.equal(countPlaced() - before, 5)
  assert.deepEqual(await getUnits(), { free: 0, reserved: 0 })
})

test('an order that the back office rejects frees its units at once', async () => {
  await setStock(1)
  const payments = [{ gateway: 'wrong', amount: tee.price }]
  const rejected = await post(api, '/orders', buildOrder({ payments }))
  assert.ok(rejected.status === 422 || rejected.status === 409, rejected.text)
  assert.deepEqual(await getUnits(), { free: 1, reserved: 0 })
  const dryRun = await post(api, '/orders', buildOrder(), { prefer: 'tx=rollback' })
  assert.equal(dryRun.status, 201, dryRun.text)
  assert.deepEqual(await getUnits(), { free: 1, reserved: 0 })
  assert.equal((await post(api, '/orders', buildOrder())).status, 201)
  assertProblem(await post(api, '/orders', buildOrder()), 'insufficient_stock', api.baseUrl, '/orders')
})

test('a reserved unit is available to its order only', async () => {
  await setStock(1)
  const reserved = await post(api, '/reservations', { lines: [{ sku: tee.sku, quantity: 1 }] })
  assert.equal(reserved.status, 201, reserved.text)
  assertProblem(await post(api, '/orders', buildOrder()), 'insufficient_stock', api.baseUrl, '/orders')
  const { id: reservationId } = reserved.json.data
  assert.equal((await post(api, '/orders', buildOrder({ reservationId }))).status, 201)
  assert.deepEqual(await getUnits(), { free: 0, reserved: 0 })
  assert.ok(simulator.ledger.findEffects('order created').length > 0)
})

test('fulfilment is unavailable, with the reason', async () => {
  const { capabilities } = (await api.get('/capabilities')).json.data
  const { available, reason } = capabilities.find(({ name }: { name: string }) => name === 'fulfilment')
  assert.deepEqual([available, typeof reason], [false, 'string'])
  await setStock(1)
  const { id } = (await post(api, '/orders', buildOrder())).json.data
  for (const path of [`/orders/${id}/shipments`, `/orders/${id}/cancel`, '/returns/1/receive', '/returns/1/refund']) {
    const response = await post(api, path, {})
    assertProblem(response, 'capability_unavailable', api.baseUrl)
    assert.equal(response.json.detail, reason)
  }
})

test('the free stock of the back office is net of its orders', async () => {
  const [level] = (await api.get(`/inventory?sku=${tee.sku}&explain=true`)).json.data
  assert.equal(level.explanation.unshipped, 'included')
})
