import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from '../../../src/database/db.ts'
import { startShopFixture } from '../shop.ts'
import { createOrderFixture } from '../writes/orders.ts'
import { createReturnFixture } from '../writes/returns.ts'
import { timeZone } from './sync-fixture.ts'

/** Number of orders, each with a shipment and a return. For a longer run: `STATES_RECORDS=10000 STATES_KILLS=8`. */
const records = Number(process.env.STATES_RECORDS ?? 60)
/** Number of times that each sync is killed. */
const kills = Number(process.env.STATES_KILLS ?? 2)

const shop = await startShopFixture({ returnReasons: [{ code: 'SIZE', name: 'Wrong size' }], readsPerMinute: 'off' })
const { api, simulator } = shop
const { db, service } = api
const { state } = simulator
const orders = await createOrderFixture(shop)
const { placeOrder, postReturn, getLastReturn } = createReturnFixture(shop, orders)
const program = fileURLToPath(new URL('sync-all.ts', import.meta.url))
const firstId = 5_000_000
const ids = Array.from({ length: records }, (_, i) => firstId + i)

/** Copies rows of a table `records` times. `changed` has SQL expressions of column values, in which `i` is the copy's number. */
const copyRows = (table: string, where: string, changed: string) =>
  db.pool.query(
    `insert into ${table} select r.* from generate_series(0, ${records - 1}) i, ${table} t,
       lateral jsonb_populate_record(t, jsonb_build_object(${changed})) r where t.service_id = $1 and ${where}`,
    [service.id],
  )

/** Copies an order in both systems and spreads the copies over the customers. The returned function copies its return. */
async function copyOrders(id: string) {
  const shoppers = [...state.persons.values()].filter(({ email }) => email !== '')
  const template = state.orders.get(Number(id)) ?? assert.fail()
  const getPersonId = (i: number) => shoppers[i % shoppers.length]?.id ?? 0
  for (const [i, orderId] of ids.entries()) {
    const lines = template.lines.map(line => ({ ...line, id: orderId }))
    state.orders.set(orderId, { ...template, id: orderId, number: `S${orderId}`, personId: getPersonId(i), lines })
  }
  const customers = `(array['${shoppers.map(shopper => shopper.id).join("','")}'])[1 + i % ${shoppers.length}]`
  const orderId = `(${firstId} + i)::text`
  await copyRows(
    'sales_order',
    `t.id = '${id}'`,
    `'id', ${orderId}, 'order_number', 'S' || ${orderId}, 'customer_id', ${customers}`,
  )
  await copyRows('order_line', `t.order_id = '${id}'`, `'order_id', ${orderId}`)
  return async (returnId: string) => {
    const returnTemplate = getLastReturn()
    for (const [i, copyId] of ids.entries()) {
      const lines = returnTemplate.lines.map(line => ({ ...line, id: copyId }))
      const copied = { id: copyId, number: `R${copyId}`, orderId: copyId, personId: getPersonId(i), lines }
      state.returns.set(copyId, { ...returnTemplate, ...copied })
    }
    await copyRows(
      'sales_return',
      `t.id = '${returnId}'`,
      `'id', 'r' || ${orderId}, 'order_id', ${orderId}, 'return_number', 'R' || ${orderId}, 'back_office_id', ${orderId}`,
    )
    await copyRows(
      'return_line',
      `t.return_id = '${returnId}'`,
      `'return_id', 'r' || ${orderId}, 'order_id', ${orderId}`,
    )
    await db.run(sql`update order_line set returned = quantity, refunded = value where service_id = ${service.id}`)
  }
}

/** Reads the change feed as a client does and counts how often each state arrives. The returned function ends it. */
async function followStates() {
  const counts = new Map<string, number>()
  let cursor = ''
  let isOver = false
  /** Reads to the end of the feed. Returns the number of changes. */
  async function readAll(counter: (state: string) => void) {
    for (let count = 0; ; ) {
      const after = cursor && `&after_cursor=${encodeURIComponent(cursor)}`
      const { data, meta } = (await api.get(`/changes?kinds=shipment,return&records=true&limit=1000${after}`)).json
      for (const { kind, id, record } of data) counter(`${kind} ${id} ${record.status ?? record.trackingNumber}`)
      count += data.length
      cursor = meta.endCursor
      if (!meta.hasNextPage) return count
    }
  }
  await readAll(() => {})
  const count = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
  const following = (async () => {
    while (!isOver) {
      await readAll(count)
      await delay(100)
    }
    // A change can be committed shortly before the end.
    while (await readAll(count)) await delay(100)
  })()
  return async () => {
    isOver = true
    await following
    return counts
  }
}

/** Runs a sync until all records are done. Kills its process `kills` times, each time after more records. */
async function runWithKills(only: string, countDone: () => Promise<number>) {
  const connection = { url: simulator.url, countryCode: 'AU', timeZone }
  const input = JSON.stringify({ database: api.database.connection, service, connection, only })
  let killed = 0
  for (let run = 1; (await countDone()) < records; run++) {
    assert.ok(run <= kills + 3, `${await countDone()} of ${records} after ${run - 1} runs`)
    const child = spawn(process.execPath, [program, input], { stdio: ['ignore', 'ignore', 'inherit'] })
    const exited = once(child, 'exit')
    if (run <= kills) {
      const target = Math.min(records - 1, Math.ceil((records * run) / (kills + 1)))
      while ((await countDone()) < target && child.exitCode === null) await delay(records / 6)
      child.kill('SIGKILL')
    }
    const [, signal] = await exited
    if (signal === 'SIGKILL') killed++
    await db.run(sql`update sync_state set heartbeat_at = now() - interval '2 minutes' where heartbeat_at is not null`)
  }
  assert.equal(killed, kills, 'each kill must interrupt a running sync')
}

const countUpTo = async (table: string, where: string) =>
  (await db.pool.query(`select count(*)::integer as n from ${table} where service_id = $1 and ${where}`, [service.id]))
    .rows[0].n as number

/** Asserts that the reader got each state once. */
function assertOnce(counts: ReadonlyMap<string, number>, toStateKey: (id: number) => string) {
  const repeated = [...counts].filter(([, count]) => count !== 1)
  assert.deepEqual(repeated.slice(0, 5), [], 'a state is published more than once')
  assert.equal(counts.size, records)
  for (const id of ids) assert.equal(counts.get(toStateKey(id)), 1, toStateKey(id))
}

test(`${records} shipments and returns are published once per state despite kills`, async () => {
  const order = await placeOrder({ [orders.tee.sku]: 1 }, { isShipped: false })
  const copyReturn = await copyOrders(order.id)
  simulator.faults.add({ kind: 'latency', path: '/Persons/*', seconds: records > 1_000 ? 0 : 0.01 })

  const endShipments = await followStates()
  for (const id of ids) simulator.change({ kind: 'despatch-order', id })
  await runWithKills('orders', () => countUpTo('shipment', `order_id >= '${firstId}'`))
  const shipments = await db.rows<{ id: string; orderId: string; trackingNumber: string }>(
    sql`select id, order_id as "orderId", tracking_number as "trackingNumber" from shipment where service_id = ${service.id}`,
  )
  const byOrder = new Map(shipments.map(shipment => [shipment.orderId, shipment]))
  assertOnce(await endShipments(), id => `shipment ${byOrder.get(String(id))?.id} EM${id}`)

  simulator.change({ kind: 'despatch-order', id: Number(order.id) })
  const created = await postReturn(order.id, { [orders.tee.sku]: 1 })
  assert.equal(created.status, 201, created.text)
  await copyReturn(created.json.data.id)
  for (const [change, status] of [
    ['receive-return', 'received'],
    ['complete-return', 'refunded'],
  ] as const) {
    const endReturns = await followStates()
    for (const id of ids) simulator.change({ kind: change, id })
    await runWithKills('returns', () => countUpTo('sales_return', `id like 'r%' and status = '${status}'`))
    assertOnce(await endReturns(), id => `return r${id} ${status}`)
  }
  assert.equal(await countUpTo('order_line', `order_id >= '${firstId}' and status = 'returned'`), records)
})
