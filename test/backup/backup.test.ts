import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { renderSchema } from '../../scripts/schema.ts'
import { createBackup } from '../../src/backup/create-backup.ts'
import { type Database, sql } from '../../src/database/db.ts'
import { createApiKey } from '../../src/store/accounts/api-keys.ts'
import { buildCustomer } from '../support/customer-bodies.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts'
import { cloneSmallDemoDatabase } from '../support/demo/demo-database.ts'
import { holdLocks } from '../support/postgres/hold-locks.ts'
import { addLogEntries } from '../support/postgres/log-entries.ts'
import { needsOpenCheckout, unprivileged } from '../support/postgres/processes.ts'
import { cli, createDirectory, runCommand, runSuccessfully, startCommand, waitUntil } from '../support/processes.ts'
import { buildAuthorization, startSecondServer } from '../support/servers.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { contentsOf } from './installation.ts'

let api: TestApi
let key: string
const opened: TestDatabase[] = []
const home = createDirectory()
const file = join(home, 'shop.tillbridge')

before(async () => {
  api = await startTestApi({ database: await cloneSmallDemoDatabase() })
  const { db, keys, service, username } = api
  // Not by a request, whose use is stored a second later.
  key = (await createApiKey(db, keys, service, { username, name: 'web-1', scopes: ['stores:read'] })) ?? assert.fail()
  await api.db.run(sql`insert into installation (secret_digest) values (${api.keys.digest})`)
  const noon = Date.parse('2026-11-01T12:00:00Z')
  await addLogEntries(
    api.db,
    api.service,
    Array.from({ length: 20 }, (_, i) => ({ at: noon + 1_000 * i })),
  )
})
after(async () => {
  for (const { drop } of opened) await drop()
  await api?.stop()
})

async function empty() {
  const database = await createEmptyDatabase()
  opened.push(database)
  return database
}

const environmentOf = ({ connection }: Pick<TestDatabase, 'connection'>, secret = api.secret) => ({
  DATABASE_URL: connection,
  SECRET_KEY: secret,
  DATA_DIR: join(home, 'data'),
})

/** All indexes, those of the days of the request log among them, and whether they are used. */
const indexesOf = (db: Database) =>
  db.rows(sql`
    select pg_get_indexdef(indexrelid) as is, indisvalid and indisready as good from pg_index join pg_class c on c.oid = indrelid
     where c.relnamespace = 'public'::regnamespace order by 1`)

const followed = (cursor = '') => api.get(`/changes?limit=1000${cursor && `&after_cursor=${cursor}`}`)

test('a restore recreates every row, key, index, trigger and sequence', async () => {
  const contents = await contentsOf(api.db)
  const output = await runSuccessfully(['backup', file], environmentOf(api.database))
  assert.match(output, /^Plain backup written to \S+ and verified: [\d,]+ rows as of \S+Z, .* MB\/s/)
  assert.equal(fs.statSync(file).mode & 0o777, 0o600)
  const target = await empty()
  assert.match(
    await runSuccessfully(['restore', '--keep-cursors', file], environmentOf(target)),
    /^Restored [\d,]+ rows/,
  )
  assert.deepEqual(await contentsOf(target.db), contents)
  assert.equal(await renderSchema(target.db), await renderSchema(api.db))
  assert.deepEqual(await indexesOf(target.db), await indexesOf(api.db))
  const counted = sql`
    select (select max(service_id) from service) as there, nextval(pg_get_serial_sequence('service', 'service_id')) as next`
  const row = await target.db.row<{ there: number; next: string }>(counted)
  assert.ok(row && Number(row.next) > row.there)
})

test('a restored database serves the same passwords, keys, records and changes', async () => {
  const [target] = opened as [TestDatabase]
  const copied = await followed()
  const server = await startSecondServer({ db: target.db, keys: api.keys })
  const headers = { authorization: buildAuthorization(api, api.password), 'x-service-name': api.service.name }
  try {
    const here = await server.sendRequest('/customers/search?limit=100', { headers })
    assert.deepEqual(here.json.data, (await api.get('/customers/search?limit=100')).json.data)
    const withKey = { ...headers, authorization: buildAuthorization(api, key) }
    assert.equal((await server.sendRequest('/stores', { headers: withKey })).status, 200)
    assert.equal((await server.sendRequest('/customers/search', { headers: withKey })).json.code, 'insufficient_scope')
    const cursor = `&after_cursor=${copied.json.meta.endCursor}`
    const remaining = await server.sendRequest(`/changes?limit=1000${copied.json.meta.hasNextPage ? cursor : ''}`, {
      headers,
    })
    assert.equal(remaining.status, 200)
  } finally {
    await server.stop()
  }
})

test('a restore with possible loss rejects old cursors and accepts new ones', async () => {
  const target = await empty()
  const [changes, pagination] = [await followed(), await api.get('/customers/search?limit=1')]
  await runSuccessfully(['restore', file], environmentOf(target))
  const server = await startSecondServer({ db: target.db, keys: api.keys })
  const headers = { authorization: buildAuthorization(api, api.password), 'x-service-name': api.service.name }
  try {
    const expired = await server.sendRequest(`/changes?after_cursor=${changes.json.meta.endCursor}`, { headers })
    assert.deepEqual([expired.status, expired.json.code], [410, 'cursor_expired'])
    const old = await server.sendRequest(`/customers/search?after_cursor=${pagination.json.meta.endCursor}`, {
      headers,
    })
    assert.equal(old.status, 400)
    assert.match(old.text, /was created before a restore or a time correction of the service/)
    const [first, from] = [
      await server.sendRequest('/changes', { headers }),
      await server.sendRequest('/customers/search?limit=1', { headers }),
    ]
    const on = await server.sendRequest(`/changes?after_cursor=${first.json.meta.endCursor}`, { headers })
    assert.equal(on.status, 200)
    const further = await server.sendRequest(`/customers/search?limit=1&after_cursor=${from.json.meta.endCursor}`, {
      headers,
    })
    assert.equal(further.status, 200)
  } finally {
    await server.stop()
  }
})

test('a backup during writes contains every acknowledged customer completely', async () => {
  let over = false
  const acknowledged: string[] = []
  const writing = Array.from({ length: 4 }, async () => {
    while (!over) {
      const body = JSON.stringify(buildCustomer({ surname: 'Writing' }))
      const headers = { 'content-type': 'application/json' }
      const { status, json } = await api.request('/customers', { method: 'POST', headers, body })
      assert.equal(status, 201)
      acknowledged.push(json.id ?? json.data.id)
    }
  })
  const sooner: string[] = []
  try {
    await waitUntil(() => acknowledged.length > 20, 'some are written', 60_000)
    sooner.push(...acknowledged)
    await runSuccessfully(['backup', join(home, 'busy')], environmentOf(api.database))
  } finally {
    over = true
    await Promise.all(writing)
  }
  const target = await empty()
  await runSuccessfully(['restore', join(home, 'busy')], environmentOf(target))
  const rows = await target.db.rows<{ id: string; isAudited: boolean }>(sql`
    select id, exists (select from audit a where a.service_id = c.service_id and position('/customers/' || c.id || '"' in a.record) > 0) as "isAudited"
      from customer c where surname = 'Writing'`)
  const there = new Set(rows.map(({ id }) => id))
  assert.deepEqual(
    sooner.filter(id => !there.has(id)),
    [],
  )
  assert.deepEqual(
    rows.filter(({ isAudited }) => !isAudited),
    [],
  )
})

test('a request log partition is not dropped during a complete backup', async () => {
  await api.db.run(sql`select request_block_day('2020-01-01')`)
  const frames = createBackup(api.db, {})
  try {
    for (let isFirst = false; !isFirst; ) {
      const { value } = await frames.next()
      isFirst = value?.subarray(0, 1).toString() === 'T'
    }
    await assert.rejects(api.db.run(sql`select drop_request_days(1000)`), { code: '55P03' })
    let last = ''
    for await (const frame of frames) last = frame.subarray(5).toString()
    assert.match(last, /"request_block_20200101"/)
  } finally {
    await frames.return(undefined)
  }
  const row = await api.db.row(sql`select drop_request_days(1000) as dropped`)
  assert.deepEqual(row, { dropped: 1 })
})

test('a killed backup leaves no final file, and the next cleans up', async () => {
  const killed = join(home, 'killed')
  const drafts = () => fs.readdirSync(home).filter(name => name.startsWith('.killed.'))
  const letGo = await holdLocks(api.db, 'lock table voucher in access exclusive mode')
  try {
    const backup = startCommand(['backup', killed], environmentOf(api.database))
    await waitUntil(() => drafts().length, 'it has begun', 60_000)
    process.kill(-backup.pid, 'SIGKILL')
    await backup.ended
  } finally {
    letGo()
  }
  assert.deepEqual([fs.existsSync(killed), drafts().length], [false, 1])
  await runSuccessfully(['backup', killed], environmentOf(api.database))
  assert.deepEqual([fs.existsSync(killed), drafts().length], [true, 0])
})

test('a backup with its own CPU limit is complete', async () => {
  const output = await runSuccessfully(
    ['backup', join(home, 'slow'), '--cpu-percent', '50'],
    environmentOf(api.database),
  )
  assert.match(output, /and verified/)
})

test('a backup to standard output is the same file', async () => {
  const written = join(home, 'said')
  const backup = startCommand(['-c', `exec node "$0" backup - > "$1"`, cli, written], environmentOf(api.database), {
    program: ['/bin/sh'],
  })
  assert.equal((await backup.ended).code, 0, backup.err)
  const target = await empty()
  assert.match(await runSuccessfully(['restore', written], environmentOf(target)), /^Restored /)
})

test('a backup restores into an empty bundled PostgreSQL and can be served', async () => {
  const DATA_DIR = join(createDirectory(), 'data')
  const none = await runCommand(['restore', file], { DATA_DIR })
  assert.equal(none.code, 1)
  assert.match(
    none.err,
    /The secret that goes with this backup is missing\. Set SECRET_KEY, or restore .*data\/secret\./,
  )
  assert.ok(!fs.existsSync(DATA_DIR))
  fs.mkdirSync(DATA_DIR)
  fs.writeFileSync(join(DATA_DIR, 'secret'), `${api.secret}\n`)
  await runSuccessfully(['restore', file], { DATA_DIR })
  assert.match(await runSuccessfully(['service', 'list'], { DATA_DIR }), new RegExp(`^${api.service.name} `, 'm'))
})

test('root must hand over a restored directory before another user can start', {
  skip: needsOpenCheckout,
}, async () => {
  const DATA_DIR = join(createDirectory(), 'data')
  const secret = join(DATA_DIR, 'secret')
  fs.mkdirSync(DATA_DIR, { mode: 0o711 })
  fs.chownSync(DATA_DIR, unprivileged.uid, unprivileged.gid)
  fs.writeFileSync(secret, `${api.secret}\n`, { mode: 0o600 })
  await runSuccessfully(['restore', file], { DATA_DIR })

  const program = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', process.execPath, cli] as const
  const asNobody = () => runCommand(['service', 'list'], { DATA_DIR }, { program })
  const wayOut = `It belongs to user 0. Run this as that user or as root, or change the owner of DATA_DIR: chown -R 65534.\n`
  const locked = await asNobody()
  assert.equal(locked.code, 1)
  assert.match(locked.err, new RegExp(`^tillbridge: ${DATA_DIR}/postgres can't be locked by user 65534: .*\\.`))
  assert.ok(locked.err.endsWith(wayOut), locked.err)
  spawnSync('chown', ['-R', '65534', join(DATA_DIR, 'postgres')])
  assert.equal((await asNobody()).err, `tillbridge: ${secret} can't be read by user 65534. ${wayOut}`)
  spawnSync('chown', ['-R', '65534', DATA_DIR])
  assert.match((await asNobody()).out, new RegExp(`^${api.service.name} `, 'm'))
})
