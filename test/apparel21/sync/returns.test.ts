import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { post } from '../../support/write.ts'
import { startShopFixture } from '../shop.ts'
import { createOrderFixture } from '../writes/orders.ts'
import { createReturnFixture } from '../writes/returns.ts'

const shop = await startShopFixture({ returnReasons: [{ code: 'SIZE', name: 'Wrong size' }] })
const { api, simulator } = shop
const orders = await createOrderFixture(shop)
const { tee, hat } = orders
const { placeOrder, postReturn, getReturnable, getStatuses, getLastReturn } = createReturnFixture(shop, orders)

/** Creates a return of tees. Also returns its identifier in the back office. */
async function createReturn(units = 1, sold = units) {
  const order = await placeOrder({ [tee.sku]: sold })
  const created = await postReturn(order.id, { [tee.sku]: units })
  assert.equal(created.status, 201, created.text)
  return { order, id: created.json.data.id as string, upstreamId: getLastReturn().id }
}
const getStatus = async (id: string) => (await api.get(`/returns/${id}`)).json.data.status
const getEndCursor = async () => (await api.get('/changes?kinds=return&limit=1000')).json.meta.endCursor
const listChangesAfter = async (cursor: string) =>
  (await api.get(`/changes?kinds=return&after_cursor=${encodeURIComponent(cursor)}`)).json.data

test('a return is received and refunded as the back office completes it', async () => {
  const { order, id, upstreamId } = await createReturn()
  assert.equal(await getStatus(id), 'requested')
  assert.deepEqual(await getStatuses(order.id), ['shipped'], 'items that have not arrived are not returned yet')
  assert.equal((await getReturnable(order.id))[0].returnable, 0)
  await shop.sync('returns')
  assert.equal(await getStatus(id), 'requested')

  simulator.change({ kind: 'receive-return', id: upstreamId })
  const before = await getEndCursor()
  await shop.sync('returns')
  await shop.sync('returns')
  assert.equal(await getStatus(id), 'received')
  assert.deepEqual(await getStatuses(order.id), ['returned'])
  assert.deepEqual(
    (await listChangesAfter(before)).map((change: { id: string }) => change.id),
    [id],
    'a state is published once',
  )

  simulator.change({ kind: 'complete-return', id: upstreamId })
  await shop.sync('returns')
  assert.equal(await getStatus(id), 'refunded')
  simulator.ledger.clear()
  await shop.sync('returns')
  assert.equal(
    simulator.ledger.findCalls({ path: '/Persons/*/Returns/*' }).length,
    0,
    'a refunded return is not requested',
  )
})

test('a return that is completed between two polls passes all states', async () => {
  const { order, id, upstreamId } = await createReturn()
  simulator.change({ kind: 'complete-return', id: upstreamId })
  await shop.sync('returns')
  assert.equal(await getStatus(id), 'refunded')
  assert.deepEqual(await getStatuses(order.id), ['returned'])
})

test('a return cancelled in the back office releases its units', async () => {
  const { order, id, upstreamId } = await createReturn()
  simulator.change({ kind: 'cancel-return', id: upstreamId })
  await shop.sync('returns')
  assert.equal(await getStatus(id), 'cancelled')
  assert.equal((await getReturnable(order.id))[0].returnable, 1)
  assert.deepEqual(await getStatuses(order.id), ['shipped'])
})

test('a single cancelled line releases its units and leaves the return', async () => {
  const order = await placeOrder({ [tee.sku]: 2, [hat.sku]: 1 })
  const created = await postReturn(order.id, { [tee.sku]: 2, [hat.sku]: 1 })
  assert.equal(created.status, 201, created.text)
  const { id } = created.json.data
  const upstreamId = getLastReturn().id
  simulator.change({ kind: 'cancel-return-line', id: upstreamId, skuId: Number(tee.sku) })
  const before = await getEndCursor()
  await shop.sync('returns')
  await shop.sync('returns')
  assert.deepEqual(
    (await listChangesAfter(before)).map((change: { id: string }) => change.id),
    [id],
    'the change is published once',
  )
  const record = (await api.get(`/returns/${id}`)).json.data
  assert.deepEqual(
    [record.status, record.total, record.lines.map((line: { sku: string }) => line.sku)],
    ['requested', created.json.data.lines[1].value, [hat.sku]],
  )
  assert.deepEqual(
    (await getReturnable(order.id)).map((line: { sku: string; returnable: number }) => [line.sku, line.returnable]),
    [
      [tee.sku, 2],
      [hat.sku, 0],
    ],
  )
  // Another return can contain the released units.
  assert.equal((await postReturn(order.id, { [tee.sku]: 2 })).status, 201)
  simulator.change({ kind: 'receive-return', id: getLastReturn().id })
  simulator.change({ kind: 'receive-return', id: upstreamId })
  await shop.sync('returns')
  assert.equal(await getStatus(id), 'received')
  assert.deepEqual(await getStatuses(order.id), ['returned', 'returned'])
})

test('a line cancelled before the others are received is returned once', async () => {
  const order = await placeOrder({ [tee.sku]: 1, [hat.sku]: 1 })
  const { id } = (await postReturn(order.id, { [tee.sku]: 1, [hat.sku]: 1 })).json.data
  const upstreamId = getLastReturn().id
  simulator.change({ kind: 'cancel-return-line', id: upstreamId, skuId: Number(hat.sku) })
  simulator.change({ kind: 'complete-return', id: upstreamId })
  await shop.sync('returns')
  assert.equal(await getStatus(id), 'refunded')
  assert.deepEqual(await getStatuses(order.id), ['returned', 'shipped'])
  assert.equal((await getReturnable(order.id))[1].returnable, 1)
})

test('a cancelled line is found among lines of the same SKU', async () => {
  const order = await placeOrder({ [tee.sku]: 4 })
  const lines = [1, 2, 1].map(quantity => ({ sku: tee.sku, quantity, reasonCode: 'SIZE' }))
  const created = await post(api, `/orders/${order.id}/returns`, { lines })
  assert.equal(created.status, 201, created.text)
  const upstream = getLastReturn().lines
  for (const [i, remainingQuantities] of [
    [1, [1, 1]],
    [0, [1]],
  ] as const) {
    Object.assign(upstream[i] ?? assert.fail(), { status: 'Cancelled' })
    await shop.sync('returns')
    const record = (await api.get(`/returns/${created.json.data.id}`)).json.data
    assert.deepEqual(
      record.lines.map(({ quantity }: { quantity: number }) => quantity),
      remainingQuantities,
    )
  }
  assert.equal((await getReturnable(order.id))[0].returnable, 3)
})

test('an unknown status word keeps the status and raises one alert', async () => {
  const { id, upstreamId } = await createReturn()
  simulator.change({ kind: 'mark-return', id: upstreamId, status: 'Quarantined' })
  await shop.sync('returns')
  await shop.sync('returns')
  assert.equal(await getStatus(id), 'requested')
  const { rows } = await api.db.pool.query('select back_office_status as word from sales_return where id = $1', [id])
  assert.equal(rows[0].word, 'Quarantined', 'the unknown status is stored')
  const admin = await api.createAccount('admin')
  const alerts = (await admin.get('/alerts')).json.data.filter(
    (alert: { kind: string }) => alert.kind === 'unknown_return_status',
  )
  assert.deepEqual(
    alerts.map(({ subject, times }: { subject: string; times: number }) => [subject, times]),
    [['Quarantined', 1]],
  )
  simulator.change({ kind: 'receive-return', id: upstreamId })
  await shop.sync('returns')
  assert.equal(await getStatus(id), 'received')
})

test('a return that the back office has purged keeps its status', async () => {
  const { id, upstreamId } = await createReturn()
  simulator.state.returns.delete(upstreamId)
  await shop.sync('returns')
  assert.equal(await getStatus(id), 'requested')
})

test('a run continues with the returns that an interrupted run left', async t => {
  for (let i = 0; i < 8; i++) await createReturn()
  await shop.sync('returns')
  t.after(() => simulator.faults.clear())
  simulator.faults.add({ kind: 'latency', seconds: 0.05, path: '/Persons/*/Returns/*' })
  /** Runs the sync until it has begun this number of requests. Returns their paths. */
  const runInterrupted = async (calls: number) => {
    simulator.ledger.clear()
    const stop = new AbortController()
    const running = assert.rejects(shop.sync('returns', { signal: stop.signal }))
    const listRequested = () => simulator.ledger.findCalls({ path: '/Persons/*/Returns/*' }).map(({ path }) => path)
    while (listRequested().length < calls) await delay(5)
    stop.abort()
    await running
    return listRequested()
  }
  const first = await runInterrupted(6)
  const [next = ''] = await runInterrupted(1)
  // Three requests can have been in flight at the interruption.
  assert.ok(!first.slice(0, -3).includes(next), `${next} is requested again before others`)
})

test('capabilities say that the status of returns is known', async () => {
  const { capabilities } = (await api.get('/capabilities')).json.data
  assert.equal(capabilities.find(({ name }: { name: string }) => name === 'returnStatus').available, true)
})
