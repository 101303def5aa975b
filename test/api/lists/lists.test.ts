import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { recordRestore } from '../../../src/backup/history.ts'
import { sql } from '../../../src/database/db.ts'
import { upsertStores } from '../../../src/store/catalog/stores.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { buildCustomers, paginate, pollSince } from '../../support/paginate.ts'
import { waitUntil } from '../../support/processes.ts'
import { buildCredentials, startSecondServer } from '../../support/servers.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/service.ts'

let api: TestApi
before(async () => {
  api = await startTestApi({ settings: { readsPerMinute: 'off' } })
})
after(() => api.stop())

/** Creates a service with customers that one transaction has changed. */
async function createServiceWithCustomers(count: number) {
  const caller = await api.createService({ readsPerMinute: 'off' })
  if (count) await upsertCustomers(api.db, caller.service, buildCustomers(1, count))
  return caller
}

const countTimestamps = async ({ service }: Caller) =>
  (
    await api.db.row<{ timestamps: number }>(
      sql`select count(distinct changed_at)::integer as timestamps from customer where service_id = ${service.id}`,
    )
  )?.timestamps

test('5,000 records with one change timestamp appear once at any page size', async () => {
  const caller = await createServiceWithCustomers(5_000)
  assert.equal(await countTimestamps(caller), 1)
  const all = buildCustomers(1, 5_000).map(({ id }) => id)
  for (const limit of [7, 100]) {
    const { ids, cursors } = await paginate(caller, `/customers/search?limit=${limit}`)
    assert.deepEqual(ids, all, 'the IDs are not in order')
    assert.equal(cursors.length, Math.ceil(5_000 / limit))
  }
})

for (const [count, pages] of [
  [1, 1],
  [100, 1],
  [101, 2],
  [200, 2],
] as const)
  test(`a list of ${count} ends on page ${pages} with a last cursor`, async () => {
    const caller = await createServiceWithCustomers(count)
    const { ids, cursors, asOf } = await paginate(caller, '/customers/search')
    assert.equal(ids.length, count)
    assert.equal(cursors.length, pages)
    for (let i = 0; i < 2; i++) {
      const { json } = await caller.get(`/customers/search?after_cursor=${cursors.at(-1)}`)
      assert.deepEqual(json.data, [])
      assert.deepEqual(json.meta, { hasNextPage: false, endCursor: cursors.at(-1), asOf, timeZone: 'UTC' })
    }
  })

test('an empty list has no cursor but returns an asOf for polling', async () => {
  const caller = await createServiceWithCustomers(0)
  const { json } = await caller.get('/customers/search')
  assert.deepEqual(json.data, [])
  assert.equal(json.meta.endCursor, null)
  assert.equal(json.meta.hasNextPage, false)
  await upsertCustomers(api.db, caller.service, buildCustomers(1, 3))
  assert.equal((await pollSince(caller, json.meta.asOf)).ids.length, 3)
})

test('a record changed during pagination appears once or in the next poll', async () => {
  const caller = await createServiceWithCustomers(600)
  const touched = { updated: new Set<string>(), inserted: new Set<string>(), deleted: new Set<string>() }
  const pick = (page: number, offset: number) => String((page * 37 + offset * 101) % 600 || 1).padStart(6, '0')
  const first = await paginate(caller, '/customers/search?limit=20', async page => {
    const changed = [pick(page, 1), pick(page, 2), pick(page, 3)].sort()
    await upsertCustomers(
      api.db,
      caller.service,
      changed.map(id => ({ id, firstname: `page ${page}` })),
    )
    for (const id of changed) touched.updated.add(id)
    await upsertCustomers(api.db, caller.service, [{ id: `new${page}`, firstname: 'Ann' }])
    touched.inserted.add(`new${page}`)
    const removed = pick(page, 4)
    if (touched.updated.has(removed)) return
    await api.db.run(sql`delete from customer where service_id = ${caller.service.id} and id = ${removed}`)
    touched.deleted.add(removed)
  })
  assert.ok(first.cursors.length <= 30, 'the pagination must end')
  const received = new Set(first.ids)
  const untouched = buildCustomers(1, 600).filter(({ id }) => !touched.updated.has(id) && !touched.deleted.has(id))
  assert.ok(untouched.length > 400)
  assert.deepEqual(
    untouched.filter(({ id }) => !received.has(id)),
    [],
  )
  assert.deepEqual(
    first.ids.filter(id => touched.inserted.has(id)),
    [],
  )

  const next = await pollSince(caller, first.asOf, 20)
  assert.deepEqual(new Set(next.ids), touched.updated.union(touched.inserted).difference(touched.deleted))
})

test('a change after `asOf` never enters the pagination session', async () => {
  const caller = await createServiceWithCustomers(10)
  const { json } = await caller.get('/customers/search?limit=4')
  await upsertCustomers(api.db, caller.service, buildCustomers(9, 4, 'Later'))
  const nextPage = await caller.get(`/customers/search?limit=100&after_cursor=${json.meta.endCursor}`)
  assert.deepEqual(
    nextPage.json.data.map(({ id }: { id: string }) => id),
    ['000005', '000006', '000007', '000008'],
  )
  assert.equal(nextPage.json.meta.asOf, json.meta.asOf)
  assert.deepEqual(
    new Set((await pollSince(caller, json.meta.asOf)).ids),
    new Set(['000009', '000010', '000011', '000012']),
  )
})

test('a cursor never expires and is valid in another process', async () => {
  const caller = await createServiceWithCustomers(10)
  const { json } = await caller.get('/customers/search?limit=4')
  const other = await startSecondServer(api)
  try {
    for (let i = 0; i < 2; i++) {
      const nextPage = await other.sendRequest(`/customers/search?after_cursor=${json.meta.endCursor}`, {
        headers: buildCredentials(caller),
      })
      assert.equal(nextPage.json.data.length, 6)
      assert.equal(nextPage.json.meta.asOf, json.meta.asOf)
    }
  } finally {
    await other.stop()
  }
  const { records } = await paginate(caller, `/customers/search?limit=3`)
  assert.equal(records.length, 10)
})

test('an empty poll returns the same asOf again', async () => {
  const caller = await createServiceWithCustomers(3)
  const { asOf } = await paginate(caller, '/customers/search')
  for (let i = 0; i < 3; i++)
    assert.deepEqual(await pollSince(caller, asOf), { records: [], ids: [], asOf, cursors: [] })
})

test('a repeated poll with its ETag returns 304 until a change', async () => {
  const caller = await createServiceWithCustomers(3)
  const { asOf } = await paginate(caller, '/customers/search')
  for (const since of [asOf, '2000-01-01T00:00:00Z']) {
    const path = `/customers/search?limit=5&updated_after=${since}`
    const { etag } = (await caller.get(path)).headers
    assert.match(etag ?? '', /^W\/"[\w-]+"$/)
    const again = await caller.get(path, { 'if-none-match': etag })
    assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', etag])
    assert.equal((await caller.get(path, { 'if-none-match': '"other"' })).status, 200)
    await upsertCustomers(api.db, caller.service, buildCustomers(1, 1, `Ada ${since}`))
    const changed = await caller.get(path, { 'if-none-match': etag })
    assert.equal(changed.status, 200)
    assert.notEqual(changed.headers.etag, etag)
  }
  assert.equal((await caller.get('/customers/search')).headers.etag, undefined)
})

test('after a restore, a poll returns new cursors instead of 304', async () => {
  const caller = await createServiceWithCustomers(3)
  const path = '/customers/search?limit=2&updated_after=2000-01-01T00:00:00Z'
  const { headers, json } = await caller.get(path)
  await recordRestore(api.db, caller.service)
  const isRejected = async () => (await caller.get(`${path}&after_cursor=${json.meta.endCursor}`)).status === 400
  await waitUntil(isRejected, 'the earlier cursor is rejected', 5_000)
  const again = await caller.get(path, { 'if-none-match': headers.etag })
  assert.equal(again.status, 200)
  assert.equal((await caller.get(`${path}&after_cursor=${again.json.meta.endCursor}`)).json.data.length, 1)
})

test('an update without effect is not a change', async () => {
  const caller = await createServiceWithCustomers(3)
  const { asOf } = await paginate(caller, '/customers/search')
  await upsertCustomers(api.db, caller.service, buildCustomers(1, 3))
  assert.deepEqual((await pollSince(caller, asOf)).ids, [])
})

test('stores come in one response without a limit, otherwise in pages', async () => {
  const caller = await api.createService()
  const rows = Array.from({ length: 150 }, (_, i) => ({ storeId: `s${i}`, storeNumber: String(i), name: `Store ${i}` }))
  await upsertStores(api.db, caller.service, rows)
  const { json } = await caller.get('/stores')
  assert.equal(json.data.length, 150)
  assert.equal(json.meta.hasNextPage, false)
  const first = await caller.get('/stores?limit=100')
  const second = await caller.get(`/stores?after_cursor=${first.json.meta.endCursor}`)
  assert.equal(first.json.meta.hasNextPage, true)
  assert.deepEqual([...first.json.data, ...second.json.data], json.data)
})

test('transactions of one midnight keep their order by id in both directions', async () => {
  const caller = await api.createService({ readsPerMinute: 'off' })
  await api.db.run(sql`
    insert into retail_transaction (service_id, id, customer_id, sale_date, changed_at, record)
    select ${caller.service.id}, lpad(n::text, 4, '0'), 'c', '2024-05-26 00:00:00', now(), json_build_object('id', lpad(n::text, 4, '0'))::text
      from generate_series(1, 250) n`)
  await upsertCustomers(api.db, caller.service, [{ id: 'c', firstname: 'Ann' }])
  const ascending = Array.from({ length: 250 }, (_, i) => String(i + 1).padStart(4, '0'))
  for (const [path, expected] of [
    ['/orders/transactions/search?limit=40&asc=true', ascending],
    ['/orders/transactions/search?limit=40&asc=false', ascending.toReversed()],
    ['/orders/transactions/search?limit=40', ascending.toReversed()],
    ['/customers/c/transactions?limit=40', ascending.toReversed()],
  ] as const)
    assert.deepEqual((await paginate(caller, path)).ids, expected)
})

test('a limit must be an integer from 1 to 100', async () => {
  const caller = await createServiceWithCustomers(101)
  for (const limit of [1, 7, 100])
    assert.equal((await caller.get(`/customers/search?limit=${limit}`)).json.data.length, limit)
  const invalidLimits = [
    '0',
    '-1',
    '101',
    '1e9',
    '1000000000',
    'abc',
    '1.5',
    '+5',
    '%2B5',
    '',
    '%20',
    '5%20',
    '0x10',
    'NaN',
    'null',
    '٣',
    '5&limit=5',
  ]
  for (const limit of invalidLimits) {
    const { status, json } = await caller.get(`/customers/search?limit=${encodeURI(limit)}`)
    assert.equal(status, 400, limit)
    assert.equal(json.code, 'invalid_parameter', limit)
    assert.equal(json.errors[0].parameter, 'limit', limit)
  }
})
