import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { post } from '../../support/write.ts'
import { shopOfTests } from '../shop.ts'
import { ordersOf } from '../writes/orders.ts'
import { returnsOf } from '../writes/returns.ts'

const shop = await shopOfTests({ returnReasons: [{ code: 'SIZE', name: 'Wrong size' }] })
const { api, simulator } = shop
const orders = await ordersOf(shop)
const { tee, hat } = orders
const { bought, giveBack, returnable, statuses, lastReturn } = returnsOf(shop, orders)

/** A return of one tee, with its identifier there. */
async function createReturn(units = 1, sold = units) {
  const order = await bought({ [tee.sku]: sold })
  const created = await giveBack(order.id, { [tee.sku]: units })
  assert.equal(created.status, 201, created.text)
  return { order, id: created.json.data.id as string, there: lastReturn().id }
}
const statusOf = async (id: string) => (await api.get(`/returns/${id}`)).json.data.status
const endOfFeed = async () => (await api.get('/changes?kinds=return&limit=1000')).json.meta.endCursor
const changesAfter = async (cursor: string) =>
  (await api.get(`/changes?kinds=return&after_cursor=${encodeURIComponent(cursor)}`)).json.data

test('a return is received and refunded as the back office completes it', async () => {
  const { order, id, there } = await createReturn()
  assert.equal(await statusOf(id), 'requested')
  assert.deepEqual(await statuses(order.id), ['shipped'], 'goods that are on their way are not returned yet')
  assert.equal((await returnable(order.id))[0].returnable, 0)
  await shop.sync('returns')
  assert.equal(await statusOf(id), 'requested')

  simulator.change({ kind: 'receive-return', id: there })
  const before = await endOfFeed()
  await shop.sync('returns')
  await shop.sync('returns')
  assert.equal(await statusOf(id), 'received')
  assert.deepEqual(await statuses(order.id), ['returned'])
  assert.deepEqual(
    (await changesAfter(before)).map((change: { id: string }) => change.id),
    [id],
    'a state is published once',
  )

  simulator.change({ kind: 'complete-return', id: there })
  await shop.sync('returns')
  assert.equal(await statusOf(id), 'refunded')
  simulator.ledger.clear()
  await shop.sync('returns')
  assert.equal(
    simulator.ledger.callsTo({ path: '/Persons/*/Returns/*' }).length,
    0,
    'a refunded return is not requested',
  )
})

test('a return that is completed between two polls passes all states', async () => {
  const { order, id, there } = await createReturn()
  simulator.change({ kind: 'complete-return', id: there })
  await shop.sync('returns')
  assert.equal(await statusOf(id), 'refunded')
  assert.deepEqual(await statuses(order.id), ['returned'])
})

test('a return cancelled in the back office releases its units', async () => {
  const { order, id, there } = await createReturn()
  simulator.change({ kind: 'cancel-return', id: there })
  await shop.sync('returns')
  assert.equal(await statusOf(id), 'cancelled')
  assert.equal((await returnable(order.id))[0].returnable, 1)
  assert.deepEqual(await statuses(order.id), ['shipped'])
})

test('a single cancelled line releases its units and leaves the return', async () => {
  const order = await bought({ [tee.sku]: 2, [hat.sku]: 1 })
  const created = await giveBack(order.id, { [tee.sku]: 2, [hat.sku]: 1 })
  assert.equal(created.status, 201, created.text)
  const { id } = created.json.data
  const there = lastReturn().id
  simulator.change({ kind: 'cancel-return-line', id: there, skuId: Number(tee.sku) })
  const before = await endOfFeed()
  await shop.sync('returns')
  await shop.sync('returns')
  assert.deepEqual(
    (await changesAfter(before)).map((change: { id: string }) => change.id),
    [id],
    'the change is published once',
  )
  const shown = (await api.get(`/returns/${id}`)).json.data
  assert.deepEqual(
    [shown.status, shown.total, shown.lines.map((line: { sku: string }) => line.sku)],
    ['requested', created.json.data.lines[1].value, [hat.sku]],
  )
  assert.deepEqual(
    (await returnable(order.id)).map((line: { sku: string; returnable: number }) => [line.sku, line.returnable]),
    [
      [tee.sku, 2],
      [hat.sku, 0],
    ],
  )
  // The units come back with another return.
  assert.equal((await giveBack(order.id, { [tee.sku]: 2 })).status, 201)
  simulator.change({ kind: 'receive-return', id: lastReturn().id })
  simulator.change({ kind: 'receive-return', id: there })
  await shop.sync('returns')
  assert.equal(await statusOf(id), 'received')
  assert.deepEqual(await statuses(order.id), ['returned', 'returned'])
})

test('a line cancelled before the others are received is returned once', async () => {
  const order = await bought({ [tee.sku]: 1, [hat.sku]: 1 })
  const { id } = (await giveBack(order.id, { [tee.sku]: 1, [hat.sku]: 1 })).json.data
  const there = lastReturn().id
  simulator.change({ kind: 'cancel-return-line', id: there, skuId: Number(hat.sku) })
  simulator.change({ kind: 'complete-return', id: there })
  await shop.sync('returns')
  assert.equal(await statusOf(id), 'refunded')
  assert.deepEqual(await statuses(order.id), ['returned', 'shipped'])
  assert.equal((await returnable(order.id))[1].returnable, 1)
})

test('a cancelled line is found among lines of the same SKU', async () => {
  const order = await bought({ [tee.sku]: 4 })
  const lines = [1, 2, 1].map(quantity => ({ sku: tee.sku, quantity, reasonCode: 'SIZE' }))
  const created = await post(api, `/orders/${order.id}/returns`, { lines })
  assert.equal(created.status, 201, created.text)
  const upstream = lastReturn().lines
  for (const [i, left] of [
    [1, [1, 1]],
    [0, [1]],
  ] as const) {
    Object.assign(upstream[i] ?? assert.fail(), { status: 'Cancelled' })
    await shop.sync('returns')
    const shown = (await api.get(`/returns/${created.json.data.id}`)).json.data
    assert.deepEqual(
      shown.lines.map(({ quantity }: { quantity: number }) => quantity),
      left,
    )
  }
  assert.equal((await returnable(order.id))[0].returnable, 3)
})

test('an unknown status word keeps the status and raises one alert', async () => {
  const { id, there } = await createReturn()
  simulator.change({ kind: 'mark-return', id: there, status: 'Quarantined' })
  await shop.sync('returns')
  await shop.sync('returns')
  assert.equal(await statusOf(id), 'requested')
  const { rows } = await api.db.pool.query('select back_office_status as word from sales_return where id = $1', [id])
  assert.equal(rows[0].word, 'Quarantined', 'the word is kept')
  const admin = await api.createAccount('admin')
  const alerts = (await admin.get('/alerts')).json.data.filter(
    (alert: { kind: string }) => alert.kind === 'unknown_return_status',
  )
  assert.deepEqual(
    alerts.map(({ subject, times }: { subject: string; times: number }) => [subject, times]),
    [['Quarantined', 1]],
  )
  simulator.change({ kind: 'receive-return', id: there })
  await shop.sync('returns')
  assert.equal(await statusOf(id), 'received')
})

test('a return that the back office has purged keeps its status', async () => {
  const { id, there } = await createReturn()
  simulator.state.returns.delete(there)
  await shop.sync('returns')
  assert.equal(await statusOf(id), 'requested')
})

test('a run continues with the returns that an interrupted run left', async t => {
  for (let i = 0; i < 8; i++) await createReturn()
  await shop.sync('returns')
  t.after(() => simulator.faults.clear())
  simulator.faults.add({ kind: 'latency', seconds: 0.05, path: '/Persons/*/Returns/*' })
  /** Runs the sync until it has begun this number of requests. Returns their paths. */
  const interrupt = async (calls: number) => {
    simulator.ledger.clear()
    const stop = new AbortController()
    const running = assert.rejects(shop.sync('returns', { signal: stop.signal }))
    const requested = () => simulator.ledger.callsTo({ path: '/Persons/*/Returns/*' }).map(({ path }) => path)
    while (requested().length < calls) await delay(5)
    stop.abort()
    await running
    return requested()
  }
  const first = await interrupt(6)
  const [next = ''] = await interrupt(1)
  // Three requests can have been in flight at the interruption.
  assert.ok(!first.slice(0, -3).includes(next), `${next} is requested again before others`)
})

test('capabilities say that the status of returns is known', async () => {
  const { capabilities } = (await api.get('/capabilities')).json.data
  assert.equal(capabilities.find(({ name }: { name: string }) => name === 'returnStatus').available, true)
})
