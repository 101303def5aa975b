import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { sql } from '../../../src/database/db.ts'
import { setBackOffice } from '../../../src/store/backoffice/connections.ts'
import { createImporter } from '../../import/import-command.ts'
import { importAndWait, uploadFile } from '../../support/import-and-wait.ts'
import { assertProblem } from '../../support/problem.ts'
import { createDirectory, waitUntil } from '../../support/processes.ts'
import { buildCredentials } from '../../support/servers.ts'
import { type Caller, startTestApi } from '../../support/service.ts'
import { post } from '../../support/write.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off', writesPerMinute: 'off' } })
after(() => api.stop())
const { db } = api

const toCounts = ({ state, read, new: added, changed, unchanged, rejected }: Record<string, unknown>) => [
  ...[state, read, added, changed, unchanged, rejected],
]
const listStores = async (caller: Caller) =>
  (await caller.get('/stores')).json.data.map(({ storeId, name }: { storeId: string; name: string }) => [storeId, name])

const csv = 'storeId,storeNumber,name\n1,101,Collins Street\n2,102,Bourke Street\n'

test('importing a file twice changes nothing and records two audited runs', async () => {
  const caller = await api.createService()
  const first = await importAndWait(caller, 'stores', csv)
  assert.deepEqual(toCounts(first), ['ok', 2, 2, 0, 0, 0])
  assert.deepEqual([first.sync, first.origin, first.dryRun, first.detail], ['stores', 'file', false, null])
  assert.deepEqual(await listStores(caller), [
    ['1', 'Collins Street'],
    ['2', 'Bourke Street'],
  ])
  assert.deepEqual(toCounts(await importAndWait(caller, 'stores', csv)), ['ok', 2, 0, 0, 2, 0])
  const [sync] = (await caller.get('/syncs')).json.data
  assert.deepEqual([sync.sync, sync.origin, sync.state], ['stores', 'file', 'ok'])
  assert.equal((await caller.get('/syncs/stores/runs')).json.data.length, 2)
  const audit = (await caller.get('/audit')).json.data
  assert.deepEqual(
    [audit[0].operation, audit[0].subject, audit[0].username],
    ['POST /imports', first.path, caller.username],
  )
})

test('the history shows the name of an uploaded file without control characters', async () => {
  const caller = await api.createService()
  for (const [encodedName, expectedName] of [
    ['monday%20ok.csv', 'monday ok.csv'],
    ['a%00b%0Ac%E2%80%AEd.csv', 'abcd.csv'],
    ['%E0%A4%A', null],
    ['x'.repeat(300), 'x'.repeat(250)],
  ] as const) {
    const headers = { 'content-disposition': `attachment; filename*=UTF-8''${encodedName}` }
    const { status, text } = await uploadFile(caller, 'stores', csv, headers)
    assert.equal(status, 202, text)
    const [newest] = (await caller.get('/console/imports')).json.data
    assert.equal(newest.fileName, expectedName)
    await waitUntil(
      async () => (await caller.get('/console/imports')).json.data[0].state === 'ok',
      'the import has ended',
    )
  }
})

test('a run notes the guessed encoding or fails with candidates', async () => {
  const caller = await api.createService()
  const buildStaffFile = (surname: number[]) =>
    Buffer.concat([Buffer.from('id,code,surname\n1,A,'), Buffer.from(surname), Buffer.from('\n')])
  const { path: _, ...guessed } = await importAndWait(
    caller,
    'staff',
    buildStaffFile([...Buffer.from('Müller', 'latin1')]),
  )
  assert.deepEqual(
    [guessed.state, guessed.notes],
    ['ok', [{ note: 'read as Windows-1252 with low confidence, because the file is not UTF-8', count: 1 }]],
  )
  const failed = await importAndWait(caller, 'staff', buildStaffFile([0xc8, 0xe2, 0xe0, 0xed]))
  assert.equal(failed.state, 'failed')
  assert.match(String(failed.detail), /^The file is not UTF-8, .* Candidates: windows-1251, /)
  assert.doesNotMatch(String(failed.detail), /Иван/)
  assert.equal((await caller.get('/staff')).json.data[0].surname, 'Müller')
})

test('rejected lines are grouped by reason with line numbers but without content', async () => {
  const caller = await api.createService()
  await importAndWait(caller, 'stores', csv)
  const invalidLines = Array.from({ length: 120 }, (_, i) => `canary-${i},SKU,1\n`).join('')
  const { path, ...run } = await importAndWait(
    caller,
    'stock',
    `storeNumber,sku,freeStock\n${invalidLines}101,SKU,many\n`,
  )
  assert.deepEqual(toCounts(run), ['ok', 121, 0, 0, 0, 121])
  const { json, text } = await caller.get(`${path}/rejected`)
  assert.deepEqual(
    json.data.map(({ column, reason, lines }: Record<string, unknown>) => [column, reason, lines]),
    [
      ['storeNumber', 'must be an existing store', 120],
      ['freeStock', 'must be a number: only digits, with a point before the decimals', 1],
    ],
  )
  assert.deepEqual(
    json.data[0].numbers,
    Array.from({ length: 100 }, (_, i) => i + 2),
  )
  assert.deepEqual(json.data[1].numbers, [122])
  assert.deepEqual(
    json.data.map(({ ranges }: { ranges: number[][] }) => ranges),
    [[[2, 121]], [[122, 122]]],
  )
  assert.doesNotMatch(text, /canary/)
})

test('the reason of a rejected line always ends with the remedy', async () => {
  const caller = await api.createService()
  const sales = 'id,saleDate,lineId,quantity,price\n1,01.05.2024,1,1,"1,50"\n2,2024-05-01,1,x,1\n'
  const { path } = await importAndWait(caller, 'transactions', sales)
  const reasons = (await caller.get(`${path}/rejected`)).json.data.map(({ reason }: { reason: string }) => reason)
  assert.deepEqual(reasons.sort(), [
    'must be a number: only digits, with a point before the decimals',
    'must be a time: YYYY-MM-DD HH:MM:SS, YYYY-MM-DD HH:MM or YYYY-MM-DD, also with an offset such as Z or +02:00',
    'must have a decimal point, not a comma. To read such numbers, use --decimal ,',
  ])
})

test('names from a file are truncated and no line content is stored', async () => {
  const caller = await api.createService()
  const unknownFields = Array.from({ length: 30 }, (_, i) => [`${i}-${'x'.repeat(30_000)}`, 1])
  const line = `${JSON.stringify(Object.fromEntries(unknownFields))}\n`
  const manyColumns = await importAndWait(caller, 'stores', line, { 'content-type': 'application/x-ndjson' })
  const rejectedRows = (await caller.get(`${manyColumns.path}/rejected`)).json.data.filter(
    ({ reason: rowReason }: Record<string, unknown>) => rowReason === "doesn't exist",
  )
  assert.deepEqual(
    [rejectedRows.length, Math.max(...rejectedRows.map(({ column }: { column: string }) => column.length))],
    [20, 100],
  )

  const unknownColumns = await importAndWait(caller, 'customers', 'canary-id,canary-name,e-mail\n2,Lee,x\n')
  assert.match(unknownColumns.detail, /^Unknown columns: 1, 2, 3 \(email.*\?\)\.\nColumn id is missing\./)
  const repeatedType = await importAndWait(caller, 'customers', 'id,references\n1,canary-type=1;canary-type=2\n')
  const [reason] = (await caller.get(`${repeatedType.path}/rejected`)).json.data
  assert.equal(reason.reason, "can't have the same type twice")
  const currency = JSON.stringify({ id: 'T1', currency: 'canary-currency', lines: [] })
  await importAndWait(caller, 'transactions', currency, { 'content-type': 'application/x-ndjson' })
  const runs = await db.rows<{ run: string }>(
    sql`select r::text as run from sync_run r where service_id = ${caller.service.id}`,
  )
  assert.equal(runs.length, 4)
  assert.doesNotMatch(runs.map(({ run }) => run).join(), /canary/)
})

test('a compressed NDJSON file is imported unchanged', async () => {
  const caller = await api.createService()
  const lines =
    '{"storeId":"1","storeNumber":"101","name":"Collins Street"}\n{"storeId":"2","storeNumber":"102","name":"x","shoes":1}\n'
  const run = await importAndWait(caller, 'stores', gzipSync(lines), { 'content-type': 'application/x-ndjson' })
  assert.deepEqual(toCounts(run), ['ok', 2, 1, 0, 0, 1])
})

test('an import with `Prefer: tx=rollback` changes no list and no sync time', async () => {
  const caller = await api.createService()
  const headers = { 'content-type': 'text/csv', prefer: 'tx=rollback' }
  const response = await uploadFile(caller, 'stores', csv, headers)
  assert.equal(response.headers['preference-applied'], 'tx=rollback')
  const run = await importAndWait(caller, 'stores', `${csv}3,,\n`, headers)
  assert.deepEqual([run.state, run.dryRun, run.read, run.rejected], ['ok', true, 3, 1])
  assert.equal((await caller.get(`${run.path}/rejected`)).json.data[0].numbers[0], 4)
  assert.deepEqual(await listStores(caller), [])
  assert.deepEqual((await caller.get('/syncs')).json.data, [])
  assert.deepEqual((await caller.get('/audit')).json.data, [])
})

test('a file in another dialect is read with options or a profile', async () => {
  const caller = await api.createService()
  const dialectCsv = 'Id;Nr;Name\n1;101;Köln\n'
  const profile = JSON.stringify({ map: { storeId: 'Id', storeNumber: 'Nr', name: 'Name' }, delimiter: ';' })
  const run = await importAndWait(
    caller,
    `stores?profile=${encodeURIComponent(profile)}`,
    Buffer.from(dialectCsv, 'latin1'),
  )
  assert.deepEqual(toCounts(run), ['ok', 1, 1, 0, 0, 0])
  assert.deepEqual(await listStores(caller), [['1', 'Köln']])
  const query = `stores?profile=${encodeURIComponent(JSON.stringify({ map: { name: 'Name' }, ignore: ['*'] }))}`
  assert.deepEqual(
    toCounts(
      await importAndWait(caller, query, 'storeId,storeNumber,Name,Lee,,Lee\n1,101,Köln,a,b,c\n2,102,Bonn,a,b,c\n'),
    ),
    ['ok', 2, 1, 0, 1, 0],
  )
  const record = JSON.stringify({ storeId: '2', storeNumber: '102', Name: 'Trier', Lee: { a: 1 } })
  const bonn = await importAndWait(caller, query, record, { 'content-type': 'application/x-ndjson' })
  assert.deepEqual(toCounts(bonn), ['ok', 1, 0, 1, 0, 0])
  const stopped = await importAndWait(
    caller,
    'stores?delimiter=%3B&stop_after=1',
    `storeId;storeNumber;name\n${';101;\n'.repeat(5_000)}`,
  )
  assert.equal(stopped.state, 'failed')
  assert.match(stopped.detail, /stopped after line/)
  assert.ok(stopped.read < 5_000)
  for (const [search, parameter] of [
    ['delimiter=abc', 'delimiter'],
    ['date_format=nonsense', 'date_format'],
    ['encoding=klingon', 'encoding'],
    ['profile=%7B', 'profile'],
    ['shoes=1', 'shoes'],
  ]) {
    const { status, json } = await uploadFile(caller, `stores?${search}`, dialectCsv)
    assert.deepEqual([status, json.errors?.[0].parameter], [400, parameter], JSON.stringify(json))
  }
  const { json } = await uploadFile(caller, 'stores?delimiter=ab&encoding=foo&date_format=zzz&profile=%7B', dialectCsv)
  assert.deepEqual(
    json.errors.map(({ parameter }: { parameter: string }) => parameter),
    ['delimiter', 'encoding', 'date_format', 'profile'],
  )
})

test('a profile saved by the command can be used unchanged', async () => {
  const caller = await api.createService()
  const saved = join(createDirectory(), 'stores.json')
  const relabelled = csv.replace('name', 'Label')
  const args = ['--map', 'name=Label', '--save-profile', saved]
  assert.equal((await createImporter(api)(caller, 'stores', relabelled, { args })).code, 0)
  const profile = await readFile(saved, 'utf8')
  const run = await importAndWait(caller, `stores?profile=${encodeURIComponent(profile)}`, relabelled)
  assert.deepEqual(toCounts(run), ['ok', 2, 0, 0, 2, 0])
  const { status, json } = await uploadFile(
    caller,
    `stores?profile=${encodeURIComponent('{"map":\x07{}}')}`,
    relabelled,
  )
  assert.deepEqual([status, json.errors?.[0].parameter], [400, 'profile'])
})

test('an invalid file fails with its cause, an invalid request before reading', async () => {
  const [caller, other] = [await api.createService(), await api.createService()]
  const { path, ...failed } = await importAndWait(caller, 'stores', 'shoes\n1\n')
  assert.equal(failed.state, 'failed')
  assert.match(failed.detail, /^Unknown columns: 1\.\n/)
  const empty = await importAndWait(caller, 'stores', '')
  assert.match(empty.detail, /The file is empty/)
  assertProblem(await uploadFile(caller, 'shoes', csv), 'invalid_parameter', api.baseUrl, '/imports')
  const untyped = await caller.request('/imports', {
    method: 'POST',
    headers: { 'content-type': 'text/csv' },
    body: csv,
  })
  assertProblem(untyped, 'invalid_parameter', api.baseUrl, '/imports')
  assert.deepEqual(untyped.json.errors, [
    { parameter: 'type', code: 'invalid_parameter', detail: '`type` is required.' },
  ])
  assertProblem(
    await uploadFile(caller, 'stores', '{}', { 'content-type': 'application/json' }),
    'unsupported_media_type',
    api.baseUrl,
    '/imports',
  )
  const visitor = await api.createAccount('visitor', caller.service)
  assertProblem(await uploadFile(visitor, 'stores', csv), 'insufficient_role', api.baseUrl, '/imports')
  for (const foreign of [path, `${path}/rejected`])
    assertProblem(await other.get(foreign), 'not_found', api.baseUrl, foreign)
  await setBackOffice(db, api.keys, other.service, {
    driver: 'apparel21',
    url: 'https://127.0.0.1:9',
    country: 'AU',
  })
  await waitUntil(
    async () => (await other.get('/syncs')).json.data.length > 5,
    'the back office setting applies',
    20_000,
  )
  const rejected = await uploadFile(other, 'vouchers', 'number\n1\n')
  assertProblem(rejected, 'capability_unavailable', api.baseUrl, '/imports')
})

test('a stalled upload holds no connection and writes nothing', async () => {
  const caller = await api.createService()
  const countLocks = async () =>
    (
      await db.row<{ count: number }>(sql`
      select (count(*) filter (where state <> 'idle' and pid <> pg_backend_pid()))::integer
           + (select count(*)::integer from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())) as count
        from pg_stat_activity where datname = current_database() and backend_type = 'client backend'`)
    )?.count
  const stalled = request(`${api.baseUrl}/imports?type=stores`, {
    method: 'POST',
    ca: api.ca,
    headers: { ...buildCredentials(caller), 'content-type': 'text/csv', 'content-length': '100000' },
  })
  stalled.on('error', () => {})
  try {
    stalled.write(csv)
    await delay(1_000)
    // The request log uses a connection once per second.
    await waitUntil(async () => (await countLocks()) === 0, 'no connection or lock is held')
  } finally {
    stalled.destroy()
  }
  assert.deepEqual(toCounts(await importAndWait(caller, 'stores', csv)), ['ok', 2, 2, 0, 0, 0])
  assert.equal((await caller.get('/syncs/stores/runs')).json.data.length, 1)
})

test('a cancelled import stops and keeps what is imported', async () => {
  const caller = await api.createService()
  const lines = Array.from({ length: 150_000 }, (_, i) => `${i},N${i},Collins Street\n`).join('')
  const upload = await uploadFile(caller, 'stores', `storeId,storeNumber,name\n${lines}`)
  assert.equal(upload.status, 202, upload.text)
  const path = String(upload.headers.location)
  const visitor = await api.createAccount('visitor', caller.service)
  assertProblem(await post(visitor, `${path}/cancel`, {}), 'insufficient_role', api.baseUrl)
  const other = await api.createService()
  assertProblem(await post(other, `${path}/cancel`, {}), 'not_found', api.baseUrl)
  assert.equal((await post(caller, `${path}/cancel`, {})).status, 200)
  const read = async () => (await caller.get(path)).json.data
  await waitUntil(async () => (await read()).state !== 'running', 'the import ends', 30_000)
  const run = await read()
  assert.match(run.detail, /^The import was stopped (after line \d+\.|before its first line\. Nothing was imported\.)$/)
  assert.ok(run.read < 150_000, `${run.read} lines`)
  const stored = await db.row<{ count: number }>(
    sql`select count(*)::integer as count from store where service_id = ${caller.service.id}`,
  )
  assert.equal(stored?.count, run.new)
  // Cancelling an ended run changes nothing.
  const again = await post(caller, `${path}/cancel`, {})
  assert.deepEqual([again.status, again.json.data.state], [200, 'failed'])
})

test('a `tillbridge import` is a sync run, interrupted if its process dies', async () => {
  const caller = await api.createService()
  const { code } = await createImporter(api)(caller, 'stores', `${csv}3,,\n`)
  assert.equal(code, 2)
  const [run] = (await caller.get('/syncs/stores/runs')).json.data
  assert.deepEqual(toCounts(run), ['ok', 3, 2, 0, 0, 1])
  const [rejected] = (await caller.get(`/imports/${run.id}/rejected`)).json.data
  assert.deepEqual(rejected.numbers, [4])
  await db.run(sql`
    update sync_run set ended_at = null, heartbeat_at = now() - interval '2 minutes' where service_id = ${caller.service.id} and run_id = ${run.id}`)
  assert.equal((await caller.get(`/imports/${run.id}`)).json.data.state, 'interrupted')
})
