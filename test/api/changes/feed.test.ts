import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { sql } from '../../../src/database/db.ts'
import { changeKinds } from '../../../src/domain/changes.ts'
import type { JobRun } from '../../../src/jobs/job.ts'
import { purgeTombstones as forgetOld } from '../../../src/jobs/purge-tombstones.ts'
import { upsertStaff } from '../../../src/store/catalog/staff.ts'
import { purgeOldTombstones } from '../../../src/store/change-feed/purge-tombstones.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { beginChange } from '../../../src/store/lists/change-timestamp.ts'
import { beginInitialLoad } from '../../../src/store/lists/initial-load.ts'
import { removeRecords } from '../../../src/store/lists/tombstones.ts'
import { mapSkus } from '../../../src/store/mappings/writes.ts'
import { upsertRewardAccounts } from '../../../src/store/rewards/rewards.ts'
import {
  addShipment,
  createReturn,
  getCreatedRecord,
  joinRewards,
  placeOrder,
  startOrderShop,
} from '../../support/order-shop.ts'
import { waitForBlockedConnections } from '../../support/postgres/hold-locks.ts'
import { assertProblem } from '../../support/problem.ts'
import type { Caller } from '../../support/service.ts'
import { post } from '../../support/write.ts'
import { type ChangeItem, createFollower, readAll, readExpectedCopy, readPage, toSortedObject } from './follower.ts'

const { api, createShop } = await startOrderShop()
after(() => api.stop())
const { db } = api

const buildCustomerRow = (id: string) => ({ id, firstname: 'Ann' })
const formatChanges = (changes: readonly ChangeItem[]) =>
  changes.map(({ kind, id, action }) => `${kind} ${id} ${action}`)

const deleteCustomers = ({ service }: Caller, ...ids: string[]) =>
  db.transaction(async tx => {
    const change = await beginChange(tx, service, ['customer'])
    await removeRecords(tx, service, change, { list: 'customer', id: sql`id`, where: sql`id = any(${ids})` })
  })

/** Creates a service without records. */
const createEmptyService = () => api.createService({ readsPerMinute: 'off' })

test('the change feed starts with all current records and their valid paths', async () => {
  const caller = await createShop()
  await joinRewards(api, caller)
  await upsertStaff(db, caller.service, [{ id: '77', code: 'JSMITH', surname: 'Smith' }])
  const order = await placeOrder(caller, [{ sku: 'HOOD-S', quantity: 2 }])
  await createReturn(caller, order.id, { 'HOOD-S': 1 })
  await addShipment(api, caller, order.id)
  const reader = createFollower(caller, 'limit=5&records=true')
  const changes = await readAll(reader)
  assert.deepEqual(toSortedObject(reader.copy), toSortedObject(await readExpectedCopy(api, caller.service)))
  assert.deepEqual(new Set(changes.map(({ kind }) => kind)), new Set(changeKinds))
  const instants = changes.map(({ changedAt }) => changedAt)
  assert.deepEqual(instants, instants.toSorted(), 'the changes are not in order')
  for (const { path = '', record } of changes) assert.deepEqual((await caller.get(path)).json.data, record, path)
  const withoutRecords = await readAll(createFollower(caller, ''))
  assert.deepEqual(
    withoutRecords,
    changes.map(({ record: _, ...withoutRecord }) => withoutRecord),
  )
})

test('a resumed change feed returns the current state of changed records once', async () => {
  const caller = await createShop()
  const reader = createFollower(caller, '')
  await readAll(reader)
  assert.deepEqual(await readAll(reader), [])
  for (const firstname of ['Bea', 'Eve', 'Zoe']) await upsertCustomers(db, caller.service, [{ id: '65432', firstname }])
  await upsertCustomers(db, caller.service, [buildCustomerRow('1')])
  await upsertCustomers(db, caller.service, [buildCustomerRow('1')])
  assert.deepEqual(formatChanges(await readAll(reader)), ['customer 65432 changed', 'customer 1 changed'])
  const order = await placeOrder(caller, [{ sku: 'HOOD-S', quantity: 2 }])
  assert.deepEqual(
    new Set((await readAll(reader)).map(({ kind }) => kind)),
    new Set(['order', 'inventory', 'transaction']),
  )
  const { id } = getCreatedRecord(await createReturn(caller, order.id, { 'HOOD-S': 1 }))
  const kindsOfReturn = new Set((await readAll(reader)).map(({ kind }) => kind))
  assert.deepEqual(kindsOfReturn, new Set(['order', 'return', 'transaction']))
  assert.equal((await post(caller, `/returns/${id}/receive`, {})).status, 200)
  const kindsOfReceipt = new Set((await readAll(reader)).map(({ kind }) => kind))
  assert.deepEqual(kindsOfReceipt, new Set(['return', 'inventory']))
})

test('an order, return or points entry that commits late is still delivered', async t => {
  const caller = await createShop()
  await joinRewards(api, caller)
  const bought = await placeOrder(caller, [{ sku: 'HOOD-S', quantity: 2 }])
  const { id } = getCreatedRecord(await createReturn(caller, bought.id, { 'HOOD-S': 1 }))
  const reader = createFollower(caller, '')
  await readAll(reader)
  // The lock on stock blocks both writes in the middle of their transactions.
  const locked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const lockingTransaction = db.transaction(async tx => {
    await tx.run(sql`select from stock where service_id = ${caller.service.id} and sku_id = 'id-HOOD-S' for update`)
    locked.resolve()
    await released.promise
  })
  t.after(() => released.resolve())
  await locked.promise
  const late = [
    placeOrder(caller, [{ sku: 'HOOD-S', quantity: 1 }], { orderNumber: 'late' }),
    post(caller, `/returns/${id}/receive`, {}),
  ]
  await waitForBlockedConnections(api, 2)
  await placeOrder(caller, [{ sku: 'TEE', quantity: 1 }], { orderNumber: 'swift' })
  await upsertRewardAccounts(db, caller.service, [{ id: '8', customerId: '65433', programId: '1', tierId: '1' }])
  await readAll(reader)
  released.resolve()
  await Promise.all([lockingTransaction, ...late])
  await readAll(reader)
  assert.deepEqual(toSortedObject(reader.copy), toSortedObject(await readExpectedCopy(api, caller.service)))
})

test('a removed record arrives as a tombstone until the record returns', async () => {
  const caller = await createShop()
  const reader = createFollower(caller, 'records=true')
  await readAll(reader)
  await upsertCustomers(db, caller.service, [buildCustomerRow('1'), buildCustomerRow('2')])
  await readAll(reader)
  await deleteCustomers(caller, '1', '2')
  await upsertCustomers(db, caller.service, [buildCustomerRow('2')])
  const [removed, ...laterChanges] = await readAll(reader)
  assert.deepEqual({ ...removed, changedAt: '' }, { kind: 'customer', id: '1', action: 'removed', changedAt: '' })
  assert.deepEqual(formatChanges(laterChanges), ['customer 2 changed'])
  assert.deepEqual(formatChanges(await readAll(createFollower(caller, 'kinds=customer'))).toSorted(), [
    'customer 2 changed',
    'customer 65432 changed',
    'customer 65433 changed',
  ])
})

test('renaming a SKU removes its old inventory record and adds another', async () => {
  const caller = await createShop()
  const reader = createFollower(caller, 'kinds=inventory')
  await readAll(reader)
  await mapSkus(db, caller.service, [{ skuId: 'id-TEE', ecommerceSku: 'T-SHIRT' }])
  assert.deepEqual(formatChanges(await readAll(reader)).toSorted(), [
    'inventory 1002-T-SHIRT changed',
    'inventory 1002-TEE removed',
  ])
  assert.deepEqual(
    toSortedObject(reader.copy),
    toSortedObject(await readExpectedCopy(api, caller.service, ['inventory'])),
  )
  assert.equal((await caller.get('/inventory/1002-T-SHIRT')).json.data.sku, 'T-SHIRT')
  assertProblem(await caller.get('/inventory/1002-TEE'), 'not_found', api.baseUrl, '/inventory/1002-TEE')
})

test('an initially empty record type is delivered completely after its initial load', async () => {
  const caller = await createEmptyService()
  const reader = createFollower(caller, '')
  assert.deepEqual(await readAll(reader), [])
  const load = await beginInitialLoad(db, caller.service, 'customer')
  await upsertCustomers(db, caller.service, [{ ...buildCustomerRow('1'), updateTimeStamp: '2020-01-01 00:00:00' }])
  assert.deepEqual(await readAll(reader), [])
  await load?.end()
  assert.deepEqual(formatChanges(await readAll(reader)), ['customer 1 changed'])
})

test('a reader during an initial load receives the remaining records afterwards', async () => {
  const caller = await createEmptyService()
  const reader = createFollower(caller, '')
  const load = await beginInitialLoad(db, caller.service, 'customer')
  const buildOldCustomer = (id: string) => ({ ...buildCustomerRow(id), updateTimeStamp: '2020-01-01 00:00:00' })
  await upsertCustomers(db, caller.service, [buildOldCustomer('1'), buildOldCustomer('2')])
  await deleteCustomers(caller, '2')
  assert.deepEqual(await readAll(reader), [])
  await load?.end()
  assert.deepEqual(formatChanges(await readAll(reader)), ['customer 1 changed'])
})

test('a cursor depends on service and types, not on order or limit', async () => {
  const ownCaller = await createShop()
  const reader = createFollower(ownCaller, 'limit=2&kinds=customer,store')
  await readPage(reader)
  const path = `/changes?after_cursor=${reader.cursor}`
  const remaining = (await ownCaller.get(`${path}&kinds=store,customer&records=true&limit=50`)).json.data
  assert.equal(remaining.length, 2)
  for (const [caller, query] of [
    [ownCaller, ''],
    [ownCaller, '&kinds=customer'],
    [api, '&kinds=customer,store'],
  ] as const)
    assertProblem(await caller.get(path + query), 'invalid_cursor', api.baseUrl, '/changes')
  const list = await ownCaller.get('/customers/search?limit=1')
  assertProblem(
    await ownCaller.get(`/changes?after_cursor=${list.json.meta.endCursor}`),
    'invalid_cursor',
    api.baseUrl,
    '/changes',
  )
  const all = await ownCaller.get('/changes?limit=1')
  const withAllKinds = await ownCaller.get(
    `/changes?kinds=${changeKinds.join()}&after_cursor=${all.json.meta.endCursor}`,
  )
  assert.equal(withAllKinds.status, 200, 'naming all kinds must equal naming none')
  for (const query of [
    'kinds=voucher',
    'kinds=customer,',
    'limit=1001',
    'limit=0',
    'records=1',
    'updated_after=2024-01-01',
  ])
    assertProblem(await ownCaller.get(`/changes?${query}`), 'invalid_parameter', api.baseUrl, '/changes')
})

test('`asOf` follows the record type that lags most', async () => {
  const caller = await createShop()
  const { json } = await caller.get('/changes?kinds=customer,product')
  const newest = (
    await db.row<{ at: string }>(sql`
    select least((select max(changed_at) from customer c where c.service_id = s.service_id), (select max(changed_at) from product p where p.service_id = s.service_id))::text as at
      from service s where service_id = ${caller.service.id}`)
  )?.at
  assert.equal(Date.parse(json.meta.asOf), Date.parse(newest ?? ''))
  assert.equal(json.meta.timeZone, 'Australia/Melbourne')
  assert.equal(
    (await caller.get('/changes')).json.meta.asOf,
    '1970-01-01T00:00:00.000000Z',
    'the service has no orders',
  )
})

test("an expired tombstone is purged unless it is its type's newest", async () => {
  const caller = await api.createService({ tombstoneRetentionDays: 30 })
  const insertTombstone = (kind: string, id: string, days: number) => sql`
    insert into tombstone select ${caller.service.id}, ${kind}, ${id}, now() - make_interval(days => ${days}::integer)`
  for (const [kind, id, days] of [
    ['customer', 'old', 31],
    ['customer', 'young', 29],
    ['product', 'older', 60],
    ['product', 'old', 31],
  ] as const)
    await db.run(insertTombstone(kind, id, days))
  await forgetOld({ db, log: pino({ level: 'silent' }), signal: new AbortController().signal } as JobRun)
  const remaining = await db.rows(
    sql`select kind, id from tombstone where service_id = ${caller.service.id} order by kind, id`,
  )
  assert.deepEqual(remaining, [
    { kind: 'customer', id: 'young' },
    { kind: 'product', id: 'old' },
  ])
})

test('a cursor returns 410 once a later tombstone is purged', async () => {
  const caller = await createShop()
  const [outdated, midway, upToDate, otherType] = ['', 'limit=3', '', 'kinds=store'].map(query =>
    createFollower(caller, query),
  )
  assert.ok(outdated && midway && upToDate && otherType)
  await upsertCustomers(db, caller.service, [buildCustomerRow('1'), buildCustomerRow('2')])
  for (const reader of [outdated, upToDate, otherType]) await readAll(reader)
  while (!midway.copy.has('customer 1')) await readPage(midway)
  await deleteCustomers(caller, '1')
  await readAll(upToDate)
  await deleteCustomers(caller, '2')
  const expiring = [outdated.cursor, midway.cursor]
  const settings = { ...caller.service.settings, tombstoneRetentionDays: 0 }
  assert.equal(await purgeOldTombstones(db, { ...caller.service, settings }, () => false), 1)
  for (const cursor of expiring)
    assertProblem(await caller.get(`/changes?after_cursor=${cursor}`), 'cursor_expired', api.baseUrl, '/changes')
  assert.deepEqual(formatChanges(await readAll(upToDate)), ['customer 2 removed'])
  assert.deepEqual(await readAll(otherType), [])
  for (const reader of [outdated, midway, upToDate]) {
    await readAll(reader)
    assert.deepEqual(
      toSortedObject(reader.copy),
      toSortedObject(await readExpectedCopy(api, caller.service)),
      'a copy that was read again from the start',
    )
  }
})
