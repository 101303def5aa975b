import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import type { JobRun } from '../../../src/jobs/job.ts'
import { purgeRequests } from '../../../src/jobs/purge-requests.ts'
import { addLogEntries, daysAgo } from '../../support/postgres/log-entries.ts'
import { assertProblem } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import { type Caller, startTestApi } from '../../support/service.ts'
import { post } from '../../support/write.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
after(() => api.stop())
const { db } = api
const jobRun = { db, log: { info() {} }, signal: new AbortController().signal } as unknown as JobRun

interface LogEntry {
  id: string
  at: string
  status: number
  operation: string
  [field: string]: unknown
}

const searchLog = async (caller: Caller, query = ''): Promise<LogEntry[]> => {
  const response = await caller.get(`/requests${query && `?${query}`}`)
  assert.equal(response.status, 200, response.text)
  return response.json.data
}
/** Waits until a request is in the log. Returns its entry. */
const waitForEntry = async (caller: Caller, id: string) => {
  await waitUntil(async () => (await searchLog(caller, `request_id=${id}`)).length > 0, `${id} is logged`, 30_000)
  return (await caller.get(`/requests/${id}`)).json.data
}
const buildCustomer = (email: string) => ({ firstname: 'John', surname: 'Canarysmith', contact: { email } })

test('an error is logged with documented names only', async () => {
  const caller = await api.createService()
  await post(
    caller,
    '/customers',
    { ...buildCustomer('no address'), 'ann.body@example.com': 1 },
    { 'x-request-id': 'body' },
  )
  const headers = { 'x-request-id': 'query' }
  await caller.get('/customers/search?limit=1000&ann.query%40example.com=1&ann_query_example.com=1', headers)
  for (const id of ['body', 'query']) await waitForEntry(caller, id)
  const rows = await db.rows<{ lines: string }>(
    sql`select lines::text as lines from request_block where service_id = ${caller.service.id}`,
  )
  const text = rows.map(({ lines }) => lines).join()
  assert.match(text, /\/contact\/email/)
  assert.match(text, /"limit"/)
  assert.doesNotMatch(text, /ann\./)
  assert.doesNotMatch(text, /ann_query/)
})

test('a write can be found by each field, with all its effects', async () => {
  const caller = await api.createService()
  const before = new Date(Date.now() - 1_000).toISOString()
  const created = await post(caller, '/customers', buildCustomer('john@example.com'), {
    'x-request-id': 'making',
    'idempotency-key': 'order 66',
  })
  const record = String(created.headers.location)
  const { at, milliseconds, steps, statements, databaseMilliseconds, audit, ...entry } = await waitForEntry(
    caller,
    'making',
  )
  assert.deepEqual(entry, {
    id: 'making',
    operation: 'POST /customers',
    path: '/customers',
    status: 201,
    code: null,
    account: caller.username,
    record,
    hasIdempotencyKey: true,
    emails: [],
    deliveries: [],
  })
  assert.ok(
    Math.abs(Date.parse(at) - Date.now()) < 60_000 && milliseconds > 0 && statements > 2 && databaseMilliseconds > 0,
  )
  assert.equal(steps[0].name, 'admission')
  assert.deepEqual(
    audit.map(({ subject, requestId }: Record<string, string>) => [subject, requestId]),
    [[record, 'making']],
  )
  for (const query of [
    'idempotency_key=order%2066',
    `operation=${encodeURIComponent('POST /customers')}`,
    'path=/customers',
    `record=${record}`,
    'status=201',
    `failed=false&account=${caller.username}&operation=${encodeURIComponent('POST /customers')}`,
    `answered_after=${before}&status=201`,
  ])
    assert.deepEqual(
      (await searchLog(caller, query)).map(({ id }) => id),
      ['making'],
      query,
    )
  for (const query of [
    'idempotency_key=order%2067',
    'code=email_taken',
    'account=nobody',
    `answered_before=${before}`,
    'status=204',
    'path=/customers/9',
  ])
    assert.deepEqual(await searchLog(caller, query), [], query)
})

test('a request for a part of a record is found by it', async () => {
  const caller = await api.createService()
  const created = await post(caller, '/customers', buildCustomer('part@example.com'), { 'x-request-id': 'creation' })
  const record = String(created.headers.location)
  await caller.get(`${record}/orders`, { 'x-request-id': 'part' })
  await caller.get(`${record}0/orders`, { 'x-request-id': 'another' })
  await waitForEntry(caller, 'another')
  assert.deepEqual(
    (await searchLog(caller, `record=${record}&failed=false`)).map(({ id, path }) => [id, path]),
    [
      ['part', `${record}/orders`],
      ['creation', '/customers'],
    ],
  )
})

test('a rejected request can be found by error, including 403 and 429', async () => {
  const caller = await api.createService()
  await post(caller, '/customers', buildCustomer('taken@example.com'))
  const visitor = await api.createAccount('visitor', caller.service)
  await post(caller, '/customers', buildCustomer('taken@example.com'), { 'x-request-id': 'taken' })
  await post(visitor, '/customers', buildCustomer('other@example.com'), { 'x-request-id': 'low' })
  await caller.get('/customers/9', { 'x-request-id': 'absent' })
  await waitForEntry(caller, 'absent')
  const failed = await searchLog(caller, 'failed=true')
  assert.deepEqual(
    failed.map(({ id, code, status }) => [id, code, status]),
    [
      ['absent', 'not_found', 404],
      ['low', 'insufficient_role', 403],
      ['taken', 'email_taken', 409],
    ],
  )
  assert.deepEqual(
    (await searchLog(caller, 'code=email_taken')).map(({ id }) => id),
    ['taken'],
  )
  assert.deepEqual(
    (await searchLog(caller, `account=${visitor.username}`)).map(({ id }) => id),
    ['low'],
  )
})

test('the request log keeps no queries, bodies or PINs', async () => {
  const caller = await api.createService()
  await caller.get('/customers?email=canaryquery@example.com', { 'x-request-id': 'query' })
  await post(
    caller,
    '/vouchers/lookup',
    { number: '7077077', pin: '909909' },
    { 'x-request-id': 'pin', 'idempotency-key': 'canarykey' },
  )
  await post(caller, '/customers', buildCustomer('canarybody@example.com'), { 'x-request-id': 'body' })
  for (const id of ['query', 'pin', 'body']) await waitForEntry(caller, id)
  const entries = await db.rows<{ text: string }>(sql`
    select (to_jsonb(l) - 'second' - 'changed_at' - 'line_id' - 'key_hash' - 'steps' - 'marks' - 'line')::text as text
      from request_log l where service_id = ${caller.service.id}`)
  assert.ok(entries.length >= 3)
  for (const { text } of entries)
    for (const secret of ['canaryquery', 'canarybody', 'Canarysmith', 'canarykey', '7077077', '909909'])
      assert.ok(!text.includes(secret), `${secret} in ${text}`)
})

test('the request log is paginated newest first for admins of one service', async () => {
  const [caller, other] = [await api.createService(), await api.createService()]
  for (let i = 0; i < 5; i++) await caller.get('/stores', { 'x-request-id': `walk-${i}` })
  await other.get('/stores', { 'x-request-id': 'foreign' })
  await waitForEntry(caller, 'walk-4')
  await waitForEntry(other, 'foreign')
  const paginatedIds: string[] = []
  for (let query = '?path=/stores&limit=2'; query; ) {
    const { json } = await caller.get(`/requests${query}`)
    paginatedIds.push(...json.data.map(({ id }: LogEntry) => id))
    query = json.meta.hasNextPage ? `?path=/stores&limit=2&after_cursor=${json.meta.endCursor}` : ''
  }
  assert.deepEqual(
    paginatedIds.sort(),
    [0, 1, 2, 3, 4].map(i => `walk-${i}`),
  )
  assertProblem(await caller.get('/requests/foreign'), 'not_found', api.baseUrl, '/requests/foreign')
  assert.deepEqual(await searchLog(caller, 'request_id=foreign'), [])
  const maintainer = await api.createAccount('maintainer', caller.service)
  assertProblem(await maintainer.get('/requests'), 'insufficient_role', api.baseUrl, '/requests')
  const inverted = await caller.get('/requests?answered_after=2026-01-02&answered_before=2026-01-01')
  assertProblem(inverted, 'date_range_inverted', api.baseUrl, '/requests')
})

test('the request log follows the retention setting, and 0 keeps none', async () => {
  const [caller, long, none] = [
    await api.createService(),
    await api.createService({ requestLogRetentionDays: 30 }),
    await api.createService({ requestLogRetentionDays: 0 }),
  ]
  for (const days of [1, 6, 8, 20, 31, 33])
    for (const { service } of [caller, long])
      await addLogEntries(db, service, [{ at: daysAgo(days), requestId: `${days} days`, path: '/old' }])
  const listOld = async (reader: Caller) => (await searchLog(reader, 'path=/old')).map(({ id }) => id)
  assert.deepEqual(
    [await listOld(caller), await listOld(long)],
    [
      ['1 days', '6 days'],
      ['1 days', '6 days', '8 days', '20 days'],
    ],
  )
  await purgeRequests(jobRun)
  const remaining = await db.row<{ lines: number; days: number }>(sql`
    select count(*)::integer as lines, count(distinct request_id)::integer as days from request_log where path = '/old'`)
  assert.deepEqual(remaining, { lines: 7, days: 5 })
  const countPartitions = async () =>
    (
      await db.rows<{ name: string }>(
        sql`select inhrelid::regclass::text as name from pg_inherits where inhparent = 'request_block'::regclass`,
      )
    ).length
  const before = await countPartitions()
  await purgeRequests(jobRun)
  assert.equal(await countPartitions(), before)
  await none.get('/stores', { 'x-request-id': 'none' })
  await long.get('/stores', { 'x-request-id': 'later' })
  await waitForEntry(long, 'later')
  assert.equal(await db.run(sql`select from request_log where service_id = ${none.service.id}`), 0)
})

test('expired log entries are purged in batches, except of unwritable services', async () => {
  const [busy, locked, moving] = [
    await api.createService(),
    await api.createService({ requestLogRetentionDays: 85 }),
    await api.createService({ requestLogRetentionDays: 90 }),
  ]
  const addEntries = ({ service }: Caller, days: number, count: number) =>
    addLogEntries(
      db,
      service,
      Array.from({ length: count }, (_, i) => ({ at: daysAgo(days) + 1_000 * i, path: '/busy' })),
    )
  const countEntries = ({ service: { id } }: Caller) =>
    db.run(sql`select from request_log where service_id = ${id} and path = '/busy'`)
  await addEntries(busy, 9, 1_050)
  await addEntries(locked, 80, 1)
  await addEntries(moving, 88, 1)
  await db.run(sql`update service set deletion_state = 'locked' where service_id = ${locked.service.id}`)
  await db.run(sql`update service set move_state = 'draining' where service_id = ${moving.service.id}`)
  const blocker = await db.pool.connect()
  try {
    await blocker.query('begin')
    await blocker.query(
      `select from request_block where service_id = ${busy.service.id} and second < now() - interval '7 days' order by second desc limit 1 for update`,
    )
    const purging = purgeRequests(jobRun)
    await waitUntil(async () => (await countEntries(busy)) === 50, 'the first batch is deleted', 30_000)
    await blocker.query('rollback')
    await purging
  } finally {
    await blocker.query('rollback')
    blocker.release()
  }
  assert.deepEqual([await countEntries(busy), await countEntries(locked), await countEntries(moving)], [0, 1, 1])
})
