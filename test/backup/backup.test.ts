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
import { digestTables } from './installation.ts'

let api: TestApi
let key: string
const openedDatabases: TestDatabase[] = []
const home = createDirectory()
const file = join(home, 'shop.tillbridge')

before(async () => {
  api = await startTestApi({ database: await cloneSmallDemoDatabase() })
  const { db, keys, service, username } = api
  // Creates the key directly, because the use of an account by a request is stored a second later.
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
  for (const { drop } of openedDatabases) await drop()
  await api?.stop()
})

async function createTarget() {
  const database = await createEmptyDatabase()
  openedDatabases.push(database)
  return database
}

const createEnvironment = ({ connection }: Pick<TestDatabase, 'connection'>, secret = api.secret) => ({
  DATABASE_URL: connection,
  SECRET_KEY: secret,
  DATA_DIR: join(home, 'data'),
})

/** Returns all indexes, including those of the partitions of the request log, and whether they are valid. */
const listIndexes = (db: Database) =>
  db.rows(sql`
    select pg_get_indexdef(indexrelid) as definition, indisvalid and indisready as valid from pg_index join pg_class c on c.oid = indrelid
     where c.relnamespace = 'public'::regnamespace order by 1`)

const getChanges = (cursor = '') => api.get(`/changes?limit=1000${cursor && `&after_cursor=${cursor}`}`)

test('a restore recreates every row, key, index, trigger and sequence', async () => {
  const contents = await digestTables(api.db)
  const output = await runSuccessfully(['backup', file], createEnvironment(api.database))
  assert.match(output, /^Plain backup written to \S+ and verified: [\d,]+ rows as of \S+Z, .* MB\/s/)
  assert.equal(fs.statSync(file).mode & 0o777, 0o600)
  const target = await createTarget()
  assert.match(
    await runSuccessfully(['restore', '--keep-cursors', file], createEnvironment(target)),
    /^Restored [\d,]+ rows/,
  )
  assert.deepEqual(await digestTables(target.db), contents)
  assert.equal(await renderSchema(target.db), await renderSchema(api.db))
  assert.deepEqual(await listIndexes(target.db), await listIndexes(api.db))
  const ids = sql`
    select (select max(service_id) from service) as latest, nextval(pg_get_serial_sequence('service', 'service_id')) as next`
  const row = await target.db.row<{ latest: number; next: string }>(ids)
  assert.ok(row && Number(row.next) > row.latest)
})

test('a restored database serves the same passwords, keys, records and changes', async () => {
  const [target] = openedDatabases as [TestDatabase]
  const changes = await getChanges()
  const server = await startSecondServer({ db: target.db, keys: api.keys })
  const headers = { authorization: buildAuthorization(api, api.password), 'x-service-name': api.service.name }
  try {
    const restored = await server.sendRequest('/customers/search?limit=100', { headers })
    assert.deepEqual(restored.json.data, (await api.get('/customers/search?limit=100')).json.data)
    const keyHeaders = { ...headers, authorization: buildAuthorization(api, key) }
    assert.equal((await server.sendRequest('/stores', { headers: keyHeaders })).status, 200)
    assert.equal(
      (await server.sendRequest('/customers/search', { headers: keyHeaders })).json.code,
      'insufficient_scope',
    )
    const cursor = `&after_cursor=${changes.json.meta.endCursor}`
    const remaining = await server.sendRequest(`/changes?limit=1000${changes.json.meta.hasNextPage ? cursor : ''}`, {
      headers,
    })
    assert.equal(remaining.status, 200)
  } finally {
    await server.stop()
  }
})

test('a restore with possible loss rejects old cursors and accepts new ones', async () => {
  const target = await createTarget()
  const [changes, pagination] = [await getChanges(), await api.get('/customers/search?limit=1')]
  await runSuccessfully(['restore', file], createEnvironment(target))
  const server = await startSecondServer({ db: target.db, keys: api.keys })
  const headers = { authorization: buildAuthorization(api, api.password), 'x-service-name': api.service.name }
  try {
    const expired = await server.sendRequest(`/changes?after_cursor=${changes.json.meta.endCursor}`, { headers })
    assert.deepEqual([expired.status, expired.json.code], [410, 'cursor_expired'])
    const rejectedPage = await server.sendRequest(`/customers/search?after_cursor=${pagination.json.meta.endCursor}`, {
      headers,
    })
    assert.equal(rejectedPage.status, 400)
    assert.match(rejectedPage.text, /was created before a restore or a time correction of the service/)
    const [newChanges, firstPage] = [
      await server.sendRequest('/changes', { headers }),
      await server.sendRequest('/customers/search?limit=1', { headers }),
    ]
    const nextChanges = await server.sendRequest(`/changes?after_cursor=${newChanges.json.meta.endCursor}`, { headers })
    assert.equal(nextChanges.status, 200)
    const nextPage = await server.sendRequest(
      `/customers/search?limit=1&after_cursor=${firstPage.json.meta.endCursor}`,
      {
        headers,
      },
    )
    assert.equal(nextPage.status, 200)
  } finally {
    await server.stop()
  }
})

test('a backup during writes contains every acknowledged customer completely', async () => {
  let isOver = false
  const acknowledgedIds: string[] = []
  const writers = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const body = JSON.stringify(buildCustomer({ surname: 'Writing' }))
      const headers = { 'content-type': 'application/json' }
      const { status, json } = await api.request('/customers', { method: 'POST', headers, body })
      assert.equal(status, 201)
      acknowledgedIds.push(json.id ?? json.data.id)
    }
  })
  const idsBefore: string[] = []
  try {
    await waitUntil(() => acknowledgedIds.length > 20, 'some customers are created', 60_000)
    idsBefore.push(...acknowledgedIds)
    await runSuccessfully(['backup', join(home, 'busy')], createEnvironment(api.database))
  } finally {
    isOver = true
    await Promise.all(writers)
  }
  const target = await createTarget()
  await runSuccessfully(['restore', join(home, 'busy')], createEnvironment(target))
  const rows = await target.db.rows<{ id: string; isAudited: boolean }>(sql`
    select id, exists (select from audit a where a.service_id = c.service_id and position('/customers/' || c.id || '"' in a.record) > 0) as "isAudited"
      from customer c where surname = 'Writing'`)
  const restoredIds = new Set(rows.map(({ id }) => id))
  assert.deepEqual(
    idsBefore.filter(id => !restoredIds.has(id)),
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
  const listDrafts = () => fs.readdirSync(home).filter(name => name.startsWith('.killed.'))
  const release = await holdLocks(api.db, 'lock table voucher in access exclusive mode')
  try {
    const backup = startCommand(['backup', killed], createEnvironment(api.database))
    await waitUntil(() => listDrafts().length, 'the backup has begun', 60_000)
    process.kill(-backup.pid, 'SIGKILL')
    await backup.ended
  } finally {
    release()
  }
  assert.deepEqual([fs.existsSync(killed), listDrafts().length], [false, 1])
  await runSuccessfully(['backup', killed], createEnvironment(api.database))
  assert.deepEqual([fs.existsSync(killed), listDrafts().length], [true, 0])
})

test('a backup with its own CPU limit is complete', async () => {
  const output = await runSuccessfully(
    ['backup', join(home, 'slow'), '--cpu-percent', '50'],
    createEnvironment(api.database),
  )
  assert.match(output, /and verified/)
})

test('a backup to standard output is the same file', async () => {
  const backupFile = join(home, 'standard-output')
  const backup = startCommand(
    ['-c', `exec node "$0" backup - > "$1"`, cli, backupFile],
    createEnvironment(api.database),
    {
      program: ['/bin/sh'],
    },
  )
  assert.equal((await backup.ended).code, 0, backup.err)
  const target = await createTarget()
  assert.match(await runSuccessfully(['restore', backupFile], createEnvironment(target)), /^Restored /)
})

test('a backup restores into an empty bundled PostgreSQL and can be served', async () => {
  const DATA_DIR = join(createDirectory(), 'data')
  const withoutSecret = await runCommand(['restore', file], { DATA_DIR })
  assert.equal(withoutSecret.code, 1)
  assert.match(
    withoutSecret.err,
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
  const runAsNobody = () => runCommand(['service', 'list'], { DATA_DIR }, { program })
  const remedy = `It belongs to user 0. Run this as that user or as root, or change the owner of DATA_DIR: chown -R 65534.\n`
  const locked = await runAsNobody()
  assert.equal(locked.code, 1)
  assert.match(locked.err, new RegExp(`^tillbridge: ${DATA_DIR}/postgres can't be locked by user 65534: .*\\.`))
  assert.ok(locked.err.endsWith(remedy), locked.err)
  spawnSync('chown', ['-R', '65534', join(DATA_DIR, 'postgres')])
  assert.equal((await runAsNobody()).err, `tillbridge: ${secret} can't be read by user 65534. ${remedy}`)
  spawnSync('chown', ['-R', '65534', DATA_DIR])
  assert.match((await runAsNobody()).out, new RegExp(`^${api.service.name} `, 'm'))
})
