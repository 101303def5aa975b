import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import {
  AccessError,
  ConflictError,
  InvalidRequestError,
  NotFoundError,
  responseMeta,
  TillbridgeError,
} from '../../client/src/index.ts'
import { sql } from '../../src/database/db.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { address, buildOrder, fillShop } from '../support/order-shop.ts'
import { startTestApi } from '../support/service.ts'
import { addVouchers, pin, voucherSettings } from '../support/voucher-shop.ts'
import { createClient } from './shop.ts'

const api = await startTestApi({ settings: voucherSettings })
after(() => api.stop())
await fillShop(api.db, api.service)
const client = createClient(api)

/** Returns the error of a call. Fails if the call succeeds. */
const catchError = async (call: Promise<unknown>): Promise<TillbridgeError> =>
  call.then(
    () => assert.fail('the call must fail'),
    error => error,
  )

test('a paginator reads all pages and returns the next starting point', async () => {
  const many = Array.from({ length: 23 }, (_, i) => ({ id: `w${i}`, surname: 'Walker', email: `w${i}@example.com` }))
  await upsertCustomers(api.db, api.service, many)
  const pagination = client.customers.search({ updatedAfter: new Date(0), limit: 10 })
  const ids: string[] = []
  for await (const customer of pagination) ids.push(customer.id)
  assert.equal(new Set(ids).size, 25)
  assert.equal(ids.length, 25)
  const { id } = await client.customers.create({
    firstname: 'New',
    surname: 'One',
    contact: { email: 'new@example.com' },
  })
  const next = await client.customers.search({ updatedAfter: pagination.meta?.asOf }).all()
  assert.deepEqual(
    next.map(customer => customer.id),
    [id],
  )
})

test('a paginator that is left early requests no further page', async () => {
  const pagination = client.customers.search({ limit: 5 })
  assert.ok(await pagination.first())
  assert.equal(pagination.meta?.hasNextPage, true)
  const pages: number[] = []
  for await (const page of client.customers.search({ limit: 20 }).pages()) pages.push(page.data.length)
  assert.deepEqual(pages, [20, 6])
})

test('a change applies to the read record and rejects a changed one', async () => {
  const read = await client.customers.get('65432')
  assert.equal(read.surname, 'Smith')
  assert.match(responseMeta(read)?.etag ?? '', /^"/)
  const written = await client.customers.update('65432', { title: 'Mr' }, { ifMatch: read })
  assert.equal(written.title, 'Mr')
  const staleUpdate = await catchError(client.customers.update('65432', { title: 'Dr' }, { ifMatch: read }))
  assert.ok(staleUpdate instanceof ConflictError)
  assert.equal(staleUpdate.code, 'precondition_failed')
  assert.equal((await client.customers.update('65432', { title: 'Dr' }, { ifMatch: written })).title, 'Dr')
})

test('an unchanged record is returned from the cache', async () => {
  const read = await client.orders.get((await client.orders.place(buildOrder([{ sku: 'TEE', quantity: 1 }]))).id)
  assert.equal(await client.orders.get(read.id, { ifNoneMatch: read }), read)
  assert.equal(responseMeta({ ...read }), undefined)
})

test('a write returns its warnings with the record', async () => {
  const body = { firstname: 'Ann', surname: 'Lee', contact: { email: 'ann@example.com' }, emailSubscription: true }
  const customer = await client.customers.create({ ...body, privacy: true })
  const warnings = responseMeta(customer)?.warnings.map(({ code }) => code) ?? []
  assert.ok(warnings.includes('privacy_overridden'), String(warnings))
})

test('a dry run returns a result and keeps nothing', async () => {
  const body = { firstname: 'Try', surname: 'Out', contact: { email: 'try@example.com' } }
  const result = await client.customers.create(body, { dryRun: true })
  assert.deepEqual([result.id, result.firstname], [null, 'Try'])
  assert.equal(await client.customers.find({ email: 'try@example.com' }).first(), undefined)
})

test('an order is paid with a locked voucher and found by number', async () => {
  await addVouchers(api, api, { 'v 1': {} })
  const shopper = { shopperIp: '203.0.113.7' }
  const locked = await client.vouchers.lock('v 1', { pin, amount: '10.00' }, shopper)
  assert.ok(locked.validationId)
  const payment = { gateway: 'paypal', amount: '10.00', voucher: { number: 'v 1', validationId: locked.validationId } }
  const order = await client.orders.place({ ...buildOrder([{ sku: 'TEE', quantity: 1 }]), payments: [payment] })
  assert.equal(order.payments[0]?.voucherNumber, 'v 1')
  assert.equal((await client.orders.find({ orderNumber: order.orderNumber }).first())?.id, order.id)
  assert.equal((await client.vouchers.get('v 1', {}, { voucherPin: pin, ...shopper })).availableAmount, '140.00')
  const [returnable] = await client.orders.returnable(order.orderNumber)
  assert.deepEqual(returnable, { sku: 'TEE', sold: 1, returned: 0, returnable: 1 })
})

test('errors have a code, a class for handling and all field errors', async () => {
  const wrong = { ...buildOrder([{ sku: 'NONE', quantity: 0 }]), billingAddress: { ...address, city: '' } }
  const rejected = await catchError(client.orders.place(wrong))
  assert.ok(rejected instanceof InvalidRequestError && rejected instanceof TillbridgeError)
  assert.deepEqual([rejected.code, rejected.status, rejected.name], ['invalid_field', 422, 'InvalidRequestError'])
  assert.deepEqual(rejected.errors.map(({ pointer }) => pointer).sort(), ['/billingAddress/city', '/lines/0/quantity'])
  assert.match(rejected.requestId ?? '', /./)
  assert.match(rejected.idempotencyKey ?? '', /^[\w-]{36}$/)
  const missing = await catchError(client.customers.get('no/such?customer'))
  assert.ok(missing instanceof NotFoundError)
  assert.equal(missing.problem?.instance, '/customers/no%2Fsuch%3Fcustomer')
  const unauthorised = await catchError(
    createClient(api, { ...api, password: 'wrong' })
      .stores.list()
      .all(),
  )
  assert.ok(unauthorised instanceof AccessError)
  assert.equal(unauthorised.code, 'invalid_credentials')
  const invalidTimestamp = await catchError(client.transactions.search({ updatedAfter: 'yesterday' }).all())
  assert.deepEqual(
    [invalidTimestamp.code, invalidTimestamp.errors[0]?.parameter],
    ['invalid_timestamp', 'updated_after'],
  )
})

test('an invalid request is rejected before it is sent', async () => {
  for (const id of ['', '.', '..']) assert.throws(() => client.customers.get(id), TypeError)
  const options = { idempotencyKey: 'Größe' }
  assert.equal((await catchError(client.orders.place(buildOrder([]), { idempotencyKey: '日本' }))).name, 'TypeError')
  assert.equal((await catchError(client.orders.place(buildOrder([]), options))).code, 'idempotency_key_invalid')
})

test('an error never contains a PIN', async () => {
  const rejected = await catchError(client.vouchers.lookUp({ number: 'v 1', pin: '987654' }))
  assert.equal(rejected.code, 'voucher_not_accepted')
  assert.doesNotMatch(JSON.stringify(rejected) + rejected.message + rejected.stack, /987654/)
})

test('a bulk export is one response with its asOf', async () => {
  const pagination = client.customers.search({ limit: 3 })
  const exported: unknown[] = []
  for await (const customer of pagination.export()) exported.push(customer)
  const paged = client.customers.search()
  assert.deepEqual(exported, await paged.all())
  assert.equal(pagination.meta?.asOf, paged.meta?.asOf)
  const feed = client.changes.list({ kinds: 'customer', records: true })
  const records: unknown[] = []
  for await (const { record } of feed.export()) records.push(record)
  assert.deepEqual(records, exported)
  const laterChanges = await client.changes.list({ kinds: 'customer', afterCursor: feed.meta?.endCursor ?? '' }).all()
  assert.deepEqual(laterChanges, [])
  const rejected = await catchError(client.inventory.list({ sku: 'none' }).export().next())
  assert.ok(rejected instanceof NotFoundError)
})

test('a bulk export left early or aborted sends no further request', async () => {
  for await (const customer of client.customers.search().export()) {
    assert.ok(customer.id)
    break
  }
  const stop = new AbortController()
  const lines = client.customers.search({}, { signal: stop.signal }).export()
  await lines.next()
  stop.abort(new Error('enough'))
  await assert.rejects(async () => {
    for await (const _ of lines);
  }, /enough/)
})

test('a truncated bulk export is an error', async () => {
  const large = await api.createService({ readsPerMinute: 'off' })
  const customers = Array.from({ length: 2_000 }, (_, i) => ({
    id: `l${i}`,
    firstname: randomBytes(7_500).toString('base64'),
  }))
  await upsertCustomers(api.db, large.service, customers)
  const lines = createClient(api, large).customers.search().export()
  await lines.next()
  await api.db.run(sql`alter table customer rename column record to renamed`)
  try {
    const error = await catchError(
      (async () => {
        for await (const _ of lines);
      })(),
    )
    assert.equal(error.code, 'truncated')
  } finally {
    await api.db.run(sql`alter table customer rename column renamed to record`)
  }
})
