import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startShopFixture } from '../shop.ts'
import { createOrderFixture } from '../writes/orders.ts'

const shop = await startShopFixture()
const { api, simulator } = shop
const { tee, hat, buy } = await createOrderFixture(shop)

interface Shipment {
  id: string
  trackingNumber: string
  carrier: string
  trackingUrl: string
  shippedAt: string
  cartons: { number: string; lines: { sku: string; quantity: number }[] }[]
  lines: { orderLineId: string; sku: string; quantity: number }[]
}
const listShipments = async (id: string): Promise<Shipment[]> => (await api.get(`/orders/${id}/shipments`)).json.data
const getLines = async (id: string) => (await api.get(`/orders/${id}`)).json.data.lines
const getEndCursor = async () => (await api.get('/changes?kinds=shipment&limit=1000')).json.meta.endCursor
const listChangesAfter = async (cursor: string) =>
  (await api.get(`/changes?kinds=shipment&records=true&after_cursor=${encodeURIComponent(cursor)}`)).json.data
const placeOrder = (units = 1) =>
  buy([
    { sku: tee.sku, quantity: units },
    { sku: hat.sku, quantity: 1 },
  ])

test('a despatched order has a shipment with carrier, tracking and content', async () => {
  const { id } = await placeOrder(2)
  await shop.sync('orders')
  assert.deepEqual(await listShipments(id), [])
  const before = await getEndCursor()
  simulator.change({ kind: 'despatch-order', id: Number(id), conNote: 'EM100' })
  await shop.sync('orders')
  await shop.sync('orders')
  const [shipment, ...otherShipments] = await listShipments(id)
  assert.equal(otherShipments.length, 0)
  assert.ok(shipment)
  assert.deepEqual(
    [shipment.carrier, shipment.trackingNumber, shipment.trackingUrl],
    ['EMS', 'EM100', 'https://track.example.test/EM100'],
  )
  assert.deepEqual(shipment.lines, [
    { orderLineId: '1', sku: tee.sku, quantity: 2 },
    { orderLineId: '2', sku: hat.sku, quantity: 1 },
  ])
  const despatched = simulator.state.orders.get(Number(id))?.updated ?? 0
  assert.equal(shipment.shippedAt, new Date(despatched).toISOString().slice(0, 19).replace('T', ' '))
  assert.deepEqual(shipment.cartons, [
    {
      number: '1',
      lines: [
        { sku: tee.sku, quantity: 2 },
        { sku: hat.sku, quantity: 1 },
      ],
    },
  ])
  const changes = await listChangesAfter(before)
  assert.deepEqual(
    changes.map((change: { kind: string; id: string; path: string }) => [change.kind, change.id, change.path]),
    [['shipment', shipment.id, `/shipments/${shipment.id}`]],
    'a state is published once',
  )
  assert.deepEqual((await api.get(`/shipments/${shipment.id}`)).json.data, shipment)
  const [line] = await getLines(id)
  assert.deepEqual(line.tracking, [
    {
      shipmentId: shipment.id,
      carrier: 'EMS',
      trackingNumber: 'EM100',
      trackingUrl: 'https://track.example.test/EM100',
      quantity: 2,
    },
  ])
  simulator.ledger.clear()
  await shop.sync('orders')
  assert.equal(
    simulator.ledger.findCalls({ path: '/Persons/*/Shipments/*' }).length,
    0,
    'a known shipment is not requested',
  )
})

test('an order in two parcels gets each as it is despatched', async () => {
  const { id } = await placeOrder()
  simulator.change({ kind: 'despatch-order', id: Number(id), conNote: 'EM201', skuIds: [Number(tee.sku)] })
  await shop.sync('orders')
  assert.deepEqual(
    (await listShipments(id)).map(({ trackingNumber, lines }) => [trackingNumber, lines.length]),
    [['EM201', 1]],
  )
  // A list request stores the last line as shipped before the sync has stored its parcel.
  simulator.change({ kind: 'despatch-order', id: Number(id), conNote: 'EM202' })
  const { customerId } = (await api.get(`/orders/${id}`)).json.data
  await api.get(`/customers/${customerId}/orders`)
  await shop.sync('orders')
  assert.deepEqual((await listShipments(id)).map(({ trackingNumber }) => trackingNumber).sort(), ['EM201', 'EM202'])
})

test('a parcel that is split after the order has shipped is followed', async () => {
  const { id } = await placeOrder()
  simulator.change({ kind: 'despatch-order', id: Number(id), conNote: 'EM301' })
  await shop.sync('orders', { full: false })
  const [before] = await listShipments(id)
  simulator.ledger.clear()
  await shop.sync('orders', { full: false })
  assert.equal(simulator.ledger.findCalls({ path: '/Persons/*/Orders' }).length, 0, 'a complete order is polled hourly')
  const cursor = await getEndCursor()
  simulator.change({ kind: 'split-shipment', id: Number(id), conNote: 'EM302' })
  await api.db.pool.query("update sync_refresh set refreshed_at = now() - interval '61 minutes' where sync = 'orders'")
  await shop.sync('orders', { full: false })
  const after = await listShipments(id)
  assert.deepEqual(
    after.map(({ trackingNumber, lines }) => [trackingNumber, lines.length]),
    [
      ['EM301', 1],
      ['EM302', 1],
    ],
  )
  assert.equal(after[0]?.id, before?.id)
  assert.deepEqual(
    (await listChangesAfter(cursor)).map(({ id: shipmentId }: { id: string }) => shipmentId).sort(),
    after.map(({ id: shipmentId }) => shipmentId).sort(),
  )
})

test('tracking comes from the order if the back office lists no shipment', async () => {
  const { id } = await placeOrder()
  simulator.change({ kind: 'despatch-order', id: Number(id), conNote: 'EM400' })
  simulator.faults.add({ kind: 'error', code: 5008, status: 404, path: '/Persons/*/Shipments/*' })
  await shop.sync('orders')
  assert.deepEqual(
    (await listShipments(id)).map(({ trackingNumber, carrier, lines }) => [trackingNumber, carrier, lines.length]),
    [['EM400', 'EMS', 2]],
  )
})

test('an order without changes for days is requested less often', async () => {
  const { id } = await placeOrder()
  await api.db.pool.query("update sales_order set changed_at = now() - interval '10 days'")
  await shop.sync('orders', { full: false })
  simulator.ledger.clear()
  await shop.sync('orders', { full: false })
  assert.equal(simulator.ledger.findCalls({ path: '/Persons/*/Orders' }).length, 0)
  await api.db.pool.query("update sync_refresh set refreshed_at = now() - interval '16 minutes' where sync = 'orders'")
  await shop.sync('orders', { full: false })
  assert.equal(simulator.ledger.findCalls({ path: '/Persons/*/Orders' }).length, 1)
  await api.db.pool.query('update sales_order set changed_at = now() where id = $1', [id])
  simulator.ledger.clear()
  await shop.sync('orders', { full: false })
  await shop.sync('orders', { full: false })
  assert.equal(simulator.ledger.findCalls({ path: '/Persons/*/Orders' }).length, 2)
})
