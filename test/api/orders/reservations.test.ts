import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { sql } from '../../../src/database/db.ts'
import type { Job } from '../../../src/jobs/job.ts'
import { jobs } from '../../../src/jobs/jobs.ts'
import { startWorker } from '../../../src/jobs/worker.ts'
import { createSmtpTransport } from '../../../src/mail/smtp-transport.ts'
import { importing } from '../../import/import-command.ts'
import { buildOrder, startOrderShop } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { buildCredentials, startSecondServer } from '../../support/servers.ts'
import type { Caller } from '../../support/service.ts'
import { assertReplay, post, put, remove, withKey } from '../../support/write.ts'

const { api, createShop } = await startOrderShop()
after(() => api.stop())
const load = importing(api)

const tee = (quantity: number) => ({ sku: 'TEE', quantity })
const reserve = (shop: Pick<Caller, 'request'>, quantity: number, more: object = {}) =>
  post(shop, '/reservations', { lines: [tee(quantity)], ...more })
const order = (shop: Pick<Caller, 'request'>, quantity: number, reservationId?: string) =>
  post(shop, '/orders', buildOrder([tee(quantity)], { reservationId }))

const getTee = async (shop: Caller) => {
  const { freeStock, sellable, reserved, allocated } = (await shop.get('/inventory?sku=TEE')).json.data[0]
  return { freeStock, sellable, reserved, allocated }
}
const untilReserved = async (shop: Caller, reserved: number, timeoutMs: number) => {
  const end = performance.now() + timeoutMs
  while ((await getTee(shop)).reserved !== reserved) {
    if (performance.now() > end) throw new Error(`not ${reserved} reserved after ${timeoutMs} ms`)
    await delay(20)
  }
}

test('reserved units are not sellable until the reservation is released', async () => {
  const shop = await createShop({ oversell: 'refuse', inventoryBuffer: 1 })
  const { asOf } = (await shop.get('/inventory?limit=1')).json.meta
  const { status, json, headers } = await reserve(shop, 3, { seconds: 600, reference: 'cart-1' })
  assert.equal(status, 201, JSON.stringify(json))
  const { id, expiresAt, ...rest } = json.data
  assert.deepEqual(rest, {
    reference: 'cart-1',
    lines: [{ sku: 'TEE', storeNumber: '102', quantity: 3, requested: 3 }],
  })
  assert.match(expiresAt, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  assert.equal(headers.location, `/reservations/${id}`)
  assert.deepEqual((await shop.get(`/reservations/${id}`)).json.data, json.data)
  assert.deepEqual(await getTee(shop), { freeStock: 5, sellable: 1, reserved: 3, allocated: 0 })
  const changed = (await shop.get(`/inventory?updated_after=${asOf}`)).json.data
  assert.deepEqual(
    changed.map(({ sku, reserved }: { sku: string; reserved: number }) => [sku, reserved]),
    [['TEE', 3]],
  )
  const rejected = await order(shop, 2)
  assert.deepEqual([rejected.json.code, rejected.json.errors[0].available], ['insufficient_stock', 1])
  assert.deepEqual((await remove(shop, `/reservations/${id}`)).json.data, { id })
  assert.deepEqual(await getTee(shop), { freeStock: 5, sellable: 4, reserved: 0, allocated: 0 })
  assert.equal((await remove(shop, `/reservations/${id}`)).status, 404)
  assert.equal((await shop.get(`/reservations/${id}`)).status, 404)
})

test('a reservation reserves all units or none, or with partial what there is', async () => {
  const shop = await createShop()
  const lines = [tee(7), { sku: 'HOOD-M', quantity: 2 }, { sku: 'UNKEPT', quantity: 1 }]
  const rejected = await post(shop, '/reservations', { lines })
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
  assert.equal((await getTee(shop)).reserved, 0)
  const partial = await post(shop, '/reservations', { lines, partial: true })
  assert.deepEqual(partial.json.data.lines, [
    { sku: 'TEE', storeNumber: '102', quantity: 5, requested: 7 },
    { sku: 'HOOD-M', storeNumber: '101', quantity: 2, requested: 2 },
  ])
})

test('a reservation names its store, and rejects unknown and repeated items', async () => {
  const shop = await createShop()
  const line = { sku: 'HOOD-S', quantity: 8, storeNumber: '101' }
  const { json } = await post(shop, '/reservations', { lines: [line] })
  assert.equal(json.data.lines[0].storeNumber, '101')
  const codeOf = async (lines: object[]) => (await post(shop, '/reservations', { lines })).json.code
  assert.equal(await codeOf([line]), 'insufficient_stock')
  assert.equal(await codeOf([{ sku: 'NONE', quantity: 1 }]), 'unknown_sku')
  assert.equal(await codeOf([{ ...line, storeNumber: '999' }]), 'invalid_field')
  assert.equal(await codeOf([tee(1), tee(1)]), 'invalid_field')
  for (const seconds of [0, 86_401]) assert.equal((await reserve(shop, 1, { seconds })).json.code, 'invalid_field')
})

test('a reservation can be renewed and changed', async () => {
  const shop = await createShop()
  const { id, expiresAt } = (await reserve(shop, 2, { seconds: 60 })).json.data
  const renewed = (await put(shop, `/reservations/${id}`, { seconds: 3_600 })).json.data
  assert.ok(renewed.expiresAt > expiresAt)
  assert.equal(renewed.lines[0].quantity, 2)
  const changed = await put(shop, `/reservations/${id}`, { lines: [tee(5)], reference: 'cart-2' })
  assert.deepEqual([changed.json.data.lines[0].quantity, changed.json.data.reference], [5, 'cart-2'])
  assert.equal((await put(shop, `/reservations/${id}`, { lines: [tee(6)] })).json.code, 'insufficient_stock')
  assert.deepEqual(await getTee(shop), { freeStock: 5, sellable: 0, reserved: 5, allocated: 0 })
  assert.equal((await put(shop, '/reservations/none', {})).status, 404)
})

test('a repeated request with the same key reserves once', async () => {
  const shop = await createShop()
  const headers = withKey()
  const body = { lines: [tee(2)] }
  const first = await post(shop, '/reservations', body, headers)
  assertReplay(await post(shop, '/reservations', body, headers), first)
  assert.equal((await getTee(shop)).reserved, 2)
  const trial = await post(shop, '/reservations', body, { prefer: 'tx=rollback' })
  assert.equal(trial.json.data.id, null)
  assert.equal((await getTee(shop)).reserved, 2)
})

for (const fulfilment of ['automatic', 'manual'] as const)
  test(`an order uses up its reservation (${fulfilment})`, async () => {
    const shop = await createShop({ oversell: 'refuse', fulfilment })
    const { id } = (await reserve(shop, 5)).json.data
    assert.equal((await order(shop, 1)).json.code, 'insufficient_stock')
    const placed = await order(shop, 4, id)
    assert.equal(placed.status, 201, placed.text)
    const isManual = fulfilment === 'manual'
    assert.deepEqual(await getTee(shop), {
      freeStock: isManual ? 5 : 1,
      sellable: 1,
      reserved: 0,
      allocated: isManual ? 4 : 0,
    })
    const again = await order(shop, 1, id)
    assertProblem(again, 'reservation_expired', api.baseUrl, '/orders')
  })

test('a rejected order keeps its reservation', async () => {
  const shop = await createShop({ oversell: 'refuse' })
  const { id } = (await reserve(shop, 3)).json.data
  assert.equal((await order(shop, 6, id)).json.code, 'insufficient_stock')
  assert.equal((await getTee(shop)).reserved, 3)
  assert.equal((await order(shop, 5, id)).status, 201)
})

test('an order takes its units from the reserved store', async () => {
  const shop = await createShop({ oversell: 'refuse' })
  const lines = [{ sku: 'HOOD-S', quantity: 2 }]
  const reserved = await post(shop, '/reservations', { lines: [{ ...lines[0], storeNumber: '101' }] })
  await post(shop, '/orders', buildOrder(lines, { reservationId: reserved.json.data.id }))
  const { data } = (await shop.get('/inventory?sku=HOOD-S')).json
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
  const shop = await createShop()
  await reserve(shop, 3)
  assert.equal((await load(shop, 'stock', 'storeNumber,sku,freeStock\n102,TEE,4\n')).code, 0)
  assert.deepEqual(await getTee(shop), { freeStock: 4, sellable: 1, reserved: 3, allocated: 0 })
})

test('an expired reservation frees its units at once and in the list within 1 s', async () => {
  const shop = await createShop({ oversell: 'refuse' })
  const mailTransport = createSmtpTransport('smtp://127.0.0.1:9')
  const context = { db: api.db, keys: api.keys, log: pino({ level: 'silent' }), mailTransport }
  const worker = startWorker(context, { 'end-reservations': jobs['end-reservations'] as Job })
  const start = performance.now()
  const { id } = (await reserve(shop, 5, { seconds: 1 })).json.data
  await untilReserved(shop, 0, 2_500)
  const tookMs = performance.now() - start
  await worker.stop(1_000)
  assert.ok(tookMs > 900, `ended too early: ${tookMs} ms`)
  assert.ok(tookMs < 2_200, `ended too late: ${tookMs} ms`)
  assert.equal((await order(shop, 1, id)).json.code, 'reservation_expired')
  assert.equal((await put(shop, `/reservations/${id}`, {})).status, 404)
  assert.equal((await order(shop, 5)).status, 201)
})

test('an account can have 1,000 reservations', async () => {
  const shop = await createShop()
  await reserve(shop, 1)
  await api.db.run(sql`
    insert into stock_reservation (service_id, id, account, expires_at)
    select service_id, 'r' || n, account, expires_at from stock_reservation, generate_series(1, 999) n where service_id = ${shop.service.id}`)
  const rejected = await reserve(shop, 1)
  assert.deepEqual([rejected.status, rejected.json.code], [429, 'rate_limited'])
  assert.ok(Number(rejected.headers['retry-after']) > 800)
})

test('64 clients in two processes get only the last units', async () => {
  const shop = await createShop({ oversell: 'refuse' })
  const second = await startSecondServer(api)
  const inSecond: Pick<Caller, 'request'> = {
    request: (path, { headers, ...asking } = {}) =>
      second.ask(path, { ...asking, headers: { ...buildCredentials(shop), ...headers } } as never),
  }
  const callers = [shop, inSecond]
  const results = await Promise.all(
    Array.from({ length: 64 }, async (_, i) => {
      const caller = callers[i % 2] ?? shop
      if (i % 4 === 0) return (await order(caller, 1)).status === 201
      const { status, json } = await reserve(caller, 1)
      return status === 201 && (i % 3 === 0 || (await order(caller, 1, json.data.id)).status === 201)
    }),
  )
  await second.stop()
  assert.equal(results.filter(Boolean).length, 5)
  const { freeStock, reserved, sellable } = await getTee(shop)
  assert.deepEqual([freeStock - reserved, sellable], [0, 0])
})
