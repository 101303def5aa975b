import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase, sql } from '../../../src/database/db.ts'
import { watchReservations } from '../../../src/jobs/end-reservations.ts'
import { createImporter } from '../../import/import-command.ts'
import { buildOrder, startOrderShop } from '../../support/order-shop.ts'
import { holdLocks } from '../../support/postgres/hold-locks.ts'
import { assertProblem } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import { sendThrough, startSecondServer } from '../../support/servers.ts'
import type { Caller } from '../../support/service.ts'
import { assertReplay, post, put, remove, retryUntilServed, withKey } from '../../support/write.ts'

const { api, createShop } = await startOrderShop()
after(() => api.stop())
const runImport = createImporter(api)

const buildTeeLine = (quantity: number) => ({ sku: 'TEE', quantity })
const reserve = (caller: Pick<Caller, 'request'>, quantity: number, more: object = {}, headers = {}) =>
  post(caller, '/reservations', { lines: [buildTeeLine(quantity)], ...more }, headers)
const placeTeeOrder = (caller: Pick<Caller, 'request'>, quantity: number, reservationId?: string, headers = {}) =>
  post(caller, '/orders', buildOrder([buildTeeLine(quantity)], { reservationId }), headers)

const getTee = async (caller: Caller) => {
  const { freeStock, sellable, reserved, allocated } = (await caller.get('/inventory?sku=TEE')).json.data[0]
  return { freeStock, sellable, reserved, allocated }
}
const readAsOf = async (caller: Caller) => (await caller.get('/inventory?limit=1')).json.meta.asOf
const readChanged = async (caller: Caller, asOf: string) =>
  (await caller.get(`/inventory?updated_after=${asOf}`)).json.data
/** Waits until a stock change after `asOf` is published. The timeout is shorter than the lock timeout of a write. */
const waitForPublishedChange = (caller: Caller, asOf: string) =>
  waitUntil(async () => (await readChanged(caller, asOf)).length > 0, 'a change of the stock is published', 8_000)

test('reserved units are not sellable until the reservation is released', async () => {
  const caller = await createShop({ oversell: 'refuse', inventoryBuffer: 1 })
  const asOf = await readAsOf(caller)
  const { status, json, headers } = await reserve(caller, 3, { seconds: 600, reference: 'cart-1' })
  assert.equal(status, 201, JSON.stringify(json))
  const { id, expiresAt, ...fields } = json.data
  assert.deepEqual(fields, {
    reference: 'cart-1',
    lines: [{ sku: 'TEE', storeNumber: '102', quantity: 3, requested: 3 }],
  })
  assert.match(expiresAt, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  assert.equal(headers.location, `/reservations/${id}`)
  assert.deepEqual((await caller.get(`/reservations/${id}`)).json.data, json.data)
  assert.deepEqual(await getTee(caller), { freeStock: 5, sellable: 1, reserved: 3, allocated: 0 })
  const changed = await readChanged(caller, asOf)
  assert.deepEqual(
    changed.map(({ sku, reserved }: { sku: string; reserved: number }) => [sku, reserved]),
    [['TEE', 3]],
  )
  const rejected = await placeTeeOrder(caller, 2)
  assert.deepEqual([rejected.json.code, rejected.json.errors[0].available], ['insufficient_stock', 1])
  assert.deepEqual((await remove(caller, `/reservations/${id}`)).json.data, { id })
  assert.deepEqual(await getTee(caller), { freeStock: 5, sellable: 4, reserved: 0, allocated: 0 })
  assert.equal((await remove(caller, `/reservations/${id}`)).status, 404)
  assert.equal((await caller.get(`/reservations/${id}`)).status, 404)
})

test('a reservation is complete, or partial if the request permits it', async () => {
  const caller = await createShop()
  const lines = [buildTeeLine(7), { sku: 'HOOD-M', quantity: 2 }, { sku: 'UNKEPT', quantity: 1 }]
  const rejected = await post(caller, '/reservations', { lines })
  assertProblem(rejected, 'insufficient_stock', api.baseUrl, '/reservations')
  assert.deepEqual(
    rejected.json.errors.map(({ pointer, available, requested }: Record<string, unknown>) => [
      pointer,
      available,
      requested,
    ]),
    [
      ['/lines/0/quantity', 5, 7],
      ['/lines/2/quantity', 0, 1],
    ],
  )
  assert.equal((await getTee(caller)).reserved, 0)
  const partial = await post(caller, '/reservations', { lines, partial: true })
  assert.deepEqual(partial.json.data.lines, [
    { sku: 'TEE', storeNumber: '102', quantity: 5, requested: 7 },
    { sku: 'HOOD-M', storeNumber: '101', quantity: 2, requested: 2 },
  ])
})

test('a reservation names its store, and rejects unknown and repeated items', async () => {
  const caller = await createShop()
  const line = { sku: 'HOOD-S', quantity: 8, storeNumber: '101' }
  const { json } = await post(caller, '/reservations', { lines: [line] })
  assert.equal(json.data.lines[0].storeNumber, '101')
  const getCode = async (lines: object[]) => (await post(caller, '/reservations', { lines })).json.code
  assert.equal(await getCode([line]), 'insufficient_stock')
  assert.equal(await getCode([{ sku: 'NONE', quantity: 1 }]), 'unknown_sku')
  assert.equal(await getCode([{ ...line, storeNumber: '999' }]), 'invalid_field')
  assert.equal(await getCode([buildTeeLine(1), buildTeeLine(1)]), 'invalid_field')
  for (const seconds of [0, 86_401]) assert.equal((await reserve(caller, 1, { seconds })).json.code, 'invalid_field')
})

test('a reservation can be renewed and changed', async () => {
  const caller = await createShop()
  const { id, expiresAt } = (await reserve(caller, 2, { seconds: 60 })).json.data
  const renewed = (await put(caller, `/reservations/${id}`, { seconds: 3_600 })).json.data
  assert.ok(renewed.expiresAt > expiresAt)
  assert.equal(renewed.lines[0].quantity, 2)
  const changed = await put(caller, `/reservations/${id}`, { lines: [buildTeeLine(5)], reference: 'cart-2' })
  assert.deepEqual([changed.json.data.lines[0].quantity, changed.json.data.reference], [5, 'cart-2'])
  assert.equal((await put(caller, `/reservations/${id}`, { lines: [buildTeeLine(6)] })).json.code, 'insufficient_stock')
  assert.deepEqual(await getTee(caller), { freeStock: 5, sellable: 0, reserved: 5, allocated: 0 })
  assert.equal((await put(caller, '/reservations/none', {})).status, 404)
})

test('a repeated request with the same key reserves once', async () => {
  const caller = await createShop()
  const headers = withKey()
  const body = { lines: [buildTeeLine(2)] }
  const first = await post(caller, '/reservations', body, headers)
  assertReplay(await post(caller, '/reservations', body, headers), first)
  assert.equal((await getTee(caller)).reserved, 2)
  const dryRun = await post(caller, '/reservations', body, { prefer: 'tx=rollback' })
  assert.equal(dryRun.json.data.id, null)
  assert.equal((await getTee(caller)).reserved, 2)
})

for (const fulfilment of ['automatic', 'manual'] as const)
  test(`an order uses up its reservation (${fulfilment})`, async () => {
    const caller = await createShop({ oversell: 'refuse', fulfilment })
    const { id } = (await reserve(caller, 5)).json.data
    assert.equal((await placeTeeOrder(caller, 1)).json.code, 'insufficient_stock')
    const placed = await placeTeeOrder(caller, 4, id)
    assert.equal(placed.status, 201, placed.text)
    const isManual = fulfilment === 'manual'
    assert.deepEqual(await getTee(caller), {
      freeStock: isManual ? 5 : 1,
      sellable: 1,
      reserved: 0,
      allocated: isManual ? 4 : 0,
    })
    const again = await placeTeeOrder(caller, 1, id)
    assertProblem(again, 'reservation_expired', api.baseUrl, '/orders')
  })

test('a rejected order keeps its reservation', async () => {
  const caller = await createShop({ oversell: 'refuse' })
  const { id } = (await reserve(caller, 3)).json.data
  assert.equal((await placeTeeOrder(caller, 6, id)).json.code, 'insufficient_stock')
  assert.equal((await getTee(caller)).reserved, 3)
  assert.equal((await placeTeeOrder(caller, 5, id)).status, 201)
})

test('an order takes its units from the reserved store', async () => {
  const caller = await createShop({ oversell: 'refuse' })
  const lines = [{ sku: 'HOOD-S', quantity: 2 }]
  const reserved = await post(caller, '/reservations', { lines: [{ ...lines[0], storeNumber: '101' }] })
  await post(caller, '/orders', buildOrder(lines, { reservationId: reserved.json.data.id }))
  const { data } = (await caller.get('/inventory?sku=HOOD-S')).json
  assert.deepEqual(
    data
      .map(({ storeNumber, freeStock }: { storeNumber: string; freeStock: number }) => [storeNumber, freeStock])
      .sort(),
    [
      ['101', 8],
      ['102', 30],
    ],
  )
})

test('a stock file does not make reserved units sellable', async () => {
  const caller = await createShop()
  await reserve(caller, 3)
  assert.equal((await runImport(caller, 'stock', 'storeNumber,sku,freeStock\n102,TEE,4\n')).code, 0)
  assert.deepEqual(await getTee(caller), { freeStock: 4, sellable: 1, reserved: 3, allocated: 0 })
})

for (const allocated of ['excluded', 'included'] as const)
  test(`every read ignores an expired reservation at once (${allocated})`, async () => {
    const caller = await createShop({ oversell: 'refuse', allocated, inventoryBuffer: 1 })
    const asOf = await readAsOf(caller)
    const before = (await caller.get('/inventory?sku=TEE')).json.data[0]
    assert.equal((await reserve(caller, 1, { seconds: 600 })).status, 201)
    const { json } = await reserve(caller, 1, { seconds: 1, lines: [buildTeeLine(2), { sku: 'HOOD-S', quantity: 1 }] })
    assert.equal(json.data.lines.length, 2)
    const reserved = await caller.get(`/inventory/${before.id}`)
    assert.deepEqual([reserved.json.data.reserved, reserved.json.data.sellable], [3, 1])
    await delay(1_100)
    // No worker has ended the reservation.
    const read = await caller.get(`/inventory/${before.id}`)
    const { updateTimeStamp } = reserved.json.data
    assert.deepEqual(read.json.data, { ...before, reserved: 1, sellable: 3, updateTimeStamp })
    assert.notEqual(read.headers.etag, reserved.headers.etag)
    const { explanation, ...explained } = (await caller.get(`/inventory/${before.id}?explain=true`)).json.data
    assert.deepEqual([explained, explanation.unshipped], [read.json.data, allocated])
    for (const query of ['sku=TEE', `sku=TEE&updated_after=${asOf}`, `updated_after=${asOf}`, 'store_number=102']) {
      const { data } = (await caller.get(`/inventory?${query}&limit=100`)).json
      assert.deepEqual(
        data.find(({ sku }: { sku: string }) => sku === 'TEE'),
        read.json.data,
        query,
      )
    }
    assert.equal((await caller.get('/inventory?sku=HOOD-S')).text.includes('"reserved":1'), false)
    const listed = await caller.request('/inventory', { headers: { accept: 'application/x-ndjson' } })
    assert.ok(listed.text.includes(JSON.stringify(read.json.data)), listed.text)
  })

test('lists of changes follow the expiry of a reservation', async () => {
  const caller = await createShop({ oversell: 'refuse' })
  const stopped = new AbortController()
  const watching = [1, 2].map(() => watchReservations(api.db, stopped.signal))
  const start = performance.now()
  const { id } = (await reserve(caller, 5, { seconds: 1 })).json.data
  await waitForPublishedChange(caller, await readAsOf(caller))
  const tookMs = performance.now() - start
  stopped.abort()
  await Promise.all(watching)
  assert.ok(tookMs > 900, `ended too early: ${tookMs} ms`)
  assert.equal((await placeTeeOrder(caller, 1, id)).json.code, 'reservation_expired')
  assert.equal((await put(caller, `/reservations/${id}`, {})).status, 404)
  assert.equal((await placeTeeOrder(caller, 5)).status, 201)
})

test('a write of the same stock ends expired reservations', async () => {
  const caller = await createShop({ oversell: 'refuse' })
  const hood = { sku: 'HOOD-S', quantity: 2 }
  const { id } = (await reserve(caller, 1, { seconds: 1, lines: [buildTeeLine(2), hood] })).json.data
  const active = (await reserve(caller, 1)).json.data
  await reserve(caller, 1, { seconds: 1 })
  await delay(1_100)
  const countRows = () => api.db.run(sql`select from stock_reservation where service_id = ${caller.service.id}`)
  assert.equal(await countRows(), 3)
  assert.equal((await placeTeeOrder(caller, 4)).status, 201)
  assert.deepEqual(await getTee(caller), { freeStock: 1, sellable: 0, reserved: 1, allocated: 0 })
  assert.equal(await countRows(), 2)
  await post(caller, '/reservations', { lines: [{ ...hood, quantity: 1 }] })
  const { data } = (await caller.get('/inventory?sku=HOOD-S')).json
  assert.deepEqual(data.map(({ reserved }: { reserved: number }) => reserved).sort(), [0, 1])
  assert.equal((await caller.get(`/reservations/${id}`)).status, 404)
  assert.equal((await placeTeeOrder(caller, 1, active.id)).status, 201)
  assert.equal(await countRows(), 1)
})

test('a store whose reservations have expired is chosen again at once', async () => {
  const caller = await createShop({ oversell: 'refuse' })
  const lines = [{ sku: 'HOOD-S', quantity: 30, storeNumber: '102' }]
  assert.equal((await post(caller, '/reservations', { lines, seconds: 1 })).status, 201)
  await delay(1_100)
  // No worker has ended the reservation. Only store 102 has so many units.
  const { status, json } = await post(caller, '/reservations', { lines: [{ sku: 'HOOD-S', quantity: 20 }] })
  assert.equal(status, 201, json.detail)
  assert.equal(json.data.lines[0].storeNumber, '102')
})

test('locked stock of one service delays no expired reservation of another', async t => {
  const [locked, free] = [await createShop(), await createShop()]
  const stopped = new AbortController()
  t.after(() => stopped.abort())
  const watching = watchReservations(api.db, stopped.signal)
  await reserve(locked, 1, { seconds: 1 })
  const lockedAsOf = await readAsOf(locked)
  const release = await holdLocks(api.db, `select from stock where service_id = ${locked.service.id} for update`)
  try {
    await delay(500)
    await reserve(free, 1, { seconds: 1 })
    await waitForPublishedChange(free, await readAsOf(free))
    assert.deepEqual(await readChanged(locked, lockedAsOf), [])
  } finally {
    release()
  }
  await waitForPublishedChange(locked, lockedAsOf)
  stopped.abort()
  await watching
})

test('many waiting writes delay no expired reservation', async t => {
  const [crowded, free] = [await createShop(), await createShop()]
  const stopped = new AbortController()
  t.after(() => stopped.abort())
  const watching = watchReservations(api.db, stopped.signal)
  await reserve(free, 1, { seconds: 2 })
  const asOf = await readAsOf(free)
  // This connection doesn't belong to the server's pool.
  const other = openDatabase(api.database.connection, { max: 1 })
  t.after(() => other.close())
  const release = await holdLocks(other, `select from stock where service_id = ${crowded.service.id} for update`)
  const crowd = Array.from({ length: 20 }, () => placeTeeOrder(crowded, 1))
  try {
    await waitForPublishedChange(free, asOf)
  } finally {
    release()
    await Promise.all(crowd)
  }
  stopped.abort()
  await watching
})

test('an account can have 1,000 reservations', async () => {
  const caller = await createShop()
  await reserve(caller, 1)
  await api.db.run(sql`
    insert into stock_reservation (service_id, id, account, expires_at)
    select service_id, 'r' || n, account, expires_at from stock_reservation, generate_series(1, 999) n where service_id = ${caller.service.id}`)
  const rejected = await reserve(caller, 1)
  assert.deepEqual([rejected.status, rejected.json.code], [429, 'rate_limited'])
  assert.ok(Number(rejected.headers['retry-after']) > 800)
})

test('64 clients in two processes get only the last units', async () => {
  const firstCaller = await createShop({ oversell: 'refuse' })
  const second = await startSecondServer(api)
  const callers = [firstCaller, sendThrough(second.sendRequest, firstCaller)]
  const results = await Promise.all(
    Array.from({ length: 64 }, async (_, i) => {
      const caller = callers[i % 2] ?? firstCaller
      // A client that stopped after a 503 would keep its unit reserved without an order.
      const orderKey = withKey()
      const orderOnce = (reservationId?: string) =>
        retryUntilServed(() => placeTeeOrder(caller, 1, reservationId, orderKey))
      if (i % 4 === 0) return (await orderOnce()).status === 201
      const key = withKey()
      const { status, json } = await retryUntilServed(() => reserve(caller, 1, {}, key))
      return status === 201 && (i % 3 === 0 || (await orderOnce(json.data.id)).status === 201)
    }),
  )
  await second.stop()
  assert.equal(results.filter(Boolean).length, 5)
  const { freeStock, reserved, sellable } = await getTee(firstCaller)
  assert.deepEqual([freeStock - reserved, sellable], [0, 0])
})

test('the embedded back office rejects a live reservation with its reason', async () => {
  const caller = await createShop()
  const { capabilities } = (await caller.get('/capabilities')).json.data
  const { available, reason } = capabilities.find(({ name }: { name: string }) => name === 'liveStock')
  assert.equal(available, false)
  const rejected = await reserve(caller, 1, { live: true })
  assertProblem(rejected, 'capability_unavailable', api.baseUrl, '/reservations')
  assert.equal(rejected.json.detail, reason)
})

test('a count below the promised units raises an alert until units arrive', async () => {
  const caller = await createShop({ oversell: 'refuse', fulfilment: 'manual' })
  const admin = await api.createAccount('admin', caller.service)
  const listOversold = async () =>
    (await admin.get('/alerts')).json.data.map(({ detail }: { detail: string }) => detail)
  await reserve(caller, 1)
  await placeTeeOrder(caller, 3)
  await runImport(caller, 'stock', 'storeNumber,sku,freeStock\n102,TEE,2\n')
  assert.deepEqual(await listOversold(), [
    '2 units too many of SKU TEE are sold or reserved at store 102: free stock 2, reserved 1, in unshipped orders 3.',
  ])
  await runImport(caller, 'stock', 'storeNumber,sku,freeStock\n102,TEE,4\n')
  assert.deepEqual(await listOversold(), [])
})
