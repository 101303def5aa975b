import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openDatabase, sql } from '../../src/database/db.ts'
import { buildCustomer } from '../support/customer-bodies.ts'
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/database.ts'
import { countRowsByTable } from '../support/postgres/count-rows.ts'
import { assertProblem } from '../support/problem.ts'
import { createDirectory, runCommand, startCommand, waitUntil } from '../support/processes.ts'
import { buildCredentials, startSecondServer } from '../support/servers.ts'
import type { Caller } from '../support/service.ts'
import { assertReplay, post, put, withKey } from '../support/write.ts'
import { createCaller, type ShardedInstallation, startShardedInstallation } from './installation.ts'

let shop: ShardedInstallation
let east: TestDatabase
let luma: Caller

before(async () => {
  shop = await startShardedInstallation()
  east = await createEmptyDatabase()
  await shop.addShard('east', east.connection)
  luma = createCaller(
    shop,
    await shop.createShardService('luma', 'east', 'currency=AUD', 'timeZone=Australia/Melbourne'),
  )
})
after(async () => {
  await shop.stop()
  await east.drop()
})

const countCustomers = async ({ db }: Pick<TestDatabase, 'db'>, { id }: Caller['service']) =>
  (await db.row<{ count: number }>(sql`select count(*)::integer as count from customer where service_id = ${id}`))
    ?.count

test("a shard service's data is only on its shard", async () => {
  const created = await post(luma, '/customers', buildCustomer(), withKey())
  assert.equal(created.status, 201)
  const { data } = (await luma.get('/customers/search?updated_after=2020-01-01%2000:00:00')).json
  assert.deepEqual(
    data.map(({ id }: { id: string }) => id),
    [created.json.data.id],
  )
  assert.deepEqual([await countCustomers(east, luma.service), await countCustomers(shop, luma.service)], [1, 0])
  const { db } = shop
  const storedResponse = await db.row(sql`select from idempotent_response where service_id = ${luma.service.id}`)
  assert.equal(storedResponse, undefined)
})

test('settings are stored on the shard, and accounts see both services', async () => {
  assert.equal((await luma.get('/settings')).json.data.currency, 'AUD')
  assert.equal((await shop.get('/settings')).json.data.currency, 'USD')
  await shop.runSuccessfully('account', 'add', luma.username, '--service', shop.service.name, '--role', 'visitor')
  const second = { ...luma, service: shop.service }
  await waitUntil(
    async () => (await createCaller(shop, second).get('/stores')).status === 200,
    'the assignment takes effect',
  )
  const changed = await put(luma, '/settings', { currency: 'NZD' })
  assert.equal(changed.status, 200)
  await waitUntil(async () => (await luma.get('/settings')).json.data.currency === 'NZD', 'the setting takes effect')
  assert.match(await shop.runSuccessfully('service', 'show', 'luma'), /^currency = NZD$/m)
})

test('services are listed with their shards, and shards with counts', async () => {
  assert.match(await shop.runSuccessfully('service', 'list'), /^luma +east +currency +NZD$/m)
  assert.match(await shop.runSuccessfully('shard', 'list'), /^east +1 +\d{4}-\d\d-\d\d +ok$/m)
  const { code, err } = await runCommand(['shard', 'remove', 'east'], shop.environment)
  assert.equal(code, 1)
  assert.match(err, /Shard east has 1 service/)
})

test('accounts stay in the control database and their audit entries follow', async () => {
  const key = withKey()
  const headers = { ...key, 'x-agent': 'assistant 1' }
  const first = await post(luma, '/accounts', { username: 'luma-till', role: 'maintainer' }, headers)
  assert.equal(first.status, 201)
  assertReplay(await post(luma, '/accounts', { username: 'luma-till', role: 'maintainer' }, key), first)
  const { apiKey } = first.json.data
  const till = { authorization: `Basic ${apiKey}`, 'x-service-name': 'luma' }
  assert.equal((await shop.sendRaw('/stores', { headers: till })).status, 200)
  const names = (await luma.get('/accounts')).json.data.map(({ username: name }: { username: string }) => name)
  assert.deepEqual(names, ['luma-admin', 'luma-till'])

  const worker = startCommand(['worker'], { ...shop.environment, LOG_LEVEL: 'warn' })
  const listAuditEntries = async () => (await luma.get('/audit?record=/accounts/luma-till')).json.data
  await waitUntil(async () => (await listAuditEntries()).length > 0, 'the audit entry is forwarded', 30_000)
  const [entry, ...furtherEntries] = await listAuditEntries()
  const { username, operation, subject, fields, changes, agent } = entry
  assert.deepEqual(
    [username, operation, subject, fields, agent],
    ['luma-admin', 'POST /accounts', '/accounts/luma-till', ['username', 'role'], 'assistant 1'],
  )
  assert.deepEqual(changes, [{ field: 'role', before: null, after: 'maintainer' }])
  assert.deepEqual(furtherEntries, [])
  assert.deepEqual((await luma.get('/audit?record=/accounts/luma-till&group=admin')).json.data, [entry])
  const jobs = await east.db.row<{ count: number }>(
    sql`select count(*)::integer as count from job where service_id is null and attempts = 0 and due_at > now()`,
  )
  assert.ok((jobs?.count ?? 0) > 0, 'scheduled jobs must run in the shard')
  worker.child.kill()
  await worker.ended
})

test("a process without prior knowledge serves a shard's service", async () => {
  const other = await startSecondServer(shop)
  try {
    assert.equal((await other.sendRequest('/stores', { headers: buildCredentials(luma) })).status, 200)
  } finally {
    await other.stop()
  }
})

test('a shard is not an installation and cannot be started', async () => {
  const environment = { ...shop.environment, DATABASE_URL: east.connection }
  const { code, err } = await runCommand(['start'], environment)
  assert.equal(code, 1)
  assert.match(err, /DATABASE_URL names the shard east of an installation/)
})

test('an unsuitable database cannot be added as a shard', async () => {
  const other = await createTestDatabase()
  const urlFilePrefix = join(createDirectory(), 'wrong')
  const addAndFail = async (name: string, url: string, secret = shop.secret) => {
    const file = `${urlFilePrefix}-${name}`
    writeFileSync(file, url)
    const args = ['shard', 'add', name, '--url-file', file]
    const { code, err } = await runCommand(args, { ...shop.environment, SECRET_KEY: secret })
    assert.equal(code, 1)
    assert.ok(!err.includes(url), 'the URL must not be printed')
    return err
  }
  try {
    assert.match(await addAndFail('self', shop.database.connection), /the control database of an installation/)
    assert.match(await addAndFail('west', east.connection), /already the shard east, not west/)
    await other.db.run(sql`insert into installation (secret_digest, shard_name) values ('\\x00', 'other')`)
    assert.match(
      await addAndFail('other', other.connection),
      /is the shard other of an installation with another secret/,
    )
    assert.match(await addAndFail('nowhere', 'mysql://nobody@nowhere/x'), /must begin with postgres:/)
  } finally {
    await other.drop()
  }
})

test('an interrupted service add resumes, and an existing service is kept', async () => {
  await shop.db.run(sql`insert into service (name, shard_name) values ('halfway', 'east')`)
  assert.match(await shop.runSuccessfully('service', 'add', 'halfway', '--shard', 'east'), /Service halfway created/)
  const { code, err } = await runCommand(['service', 'add', 'halfway', '--shard', 'east'], shop.environment)
  assert.equal(code, 1)
  assert.match(err, /Service halfway exists already/)
})

test("a shard's service missing from a restored control database returns completely", async () => {
  const lostService = await shop.createShardService('lost', 'east')
  assert.equal((await post(createCaller(shop, lostService), '/customers', buildCustomer(), withKey())).status, 201)
  await shop.db.run(sql`delete from service where name = 'lost'`)
  await shop.db.run(sql`select setval(pg_get_serial_sequence('service', 'service_id'), ${lostService.service.id - 1})`)

  // The ID and name stay reserved until the service is back.
  const rejectedAdd = await runCommand(['service', 'add', 'other', '--shard', 'east'], shop.environment)
  assert.match(rejectedAdd.err, /missing from the control database/)

  await shop.addShard('east', east.connection)
  const output = await shop.runSuccessfully('account', 'rotate', 'lost-admin')
  await shop.runSuccessfully('account', 'add', 'lost-admin', '--service', 'lost', '--role', 'admin')
  const password = /^Password: (\S+)$/m.exec(output)?.[1] ?? ''
  const response = await createCaller(shop, { ...lostService, password }).get(
    '/customers/search?updated_after=2020-01-01%2000:00:00',
  )
  assert.equal(response.json.data.length, 1)
  const { db } = shop
  await db.run(sql`insert into service (name) values ('newer')`)
  const newerService = await db.row<{ id: number }>(sql`select service_id as id from service where name = 'newer'`)
  assert.ok(newerService && newerService.id > lostService.service.id, 'no service ID may be used twice')
})

test('a control database backup names missing shards, and doctor their command', async () => {
  const file = join(createDirectory(), 'control.tillbridge')
  assert.match(
    await shop.runSuccessfully('backup', file),
    /^Shard east is not included\. To back it up: tillbridge backup <file> --shard east$/m,
  )
  const { out } = await runCommand(['doctor'], shop.environment)
  assert.match(
    out,
    /FAIL: No backup exists\. Run this every night: tillbridge backup <file> --shard east \(docs\/operate\/backup-and-restore\.md\)/,
  )
})

test("a shard is restored separately, and its services' old cursors expire", async () => {
  const file = join(createDirectory(), 'east.tillbridge')
  const { endCursor } = (await luma.get('/changes')).json.meta
  await shop.runSuccessfully('backup', file, '--shard', 'east')
  const restoredDatabase = await createEmptyDatabase()
  const { code, err } = await runCommand(['restore', file], {
    ...shop.environment,
    DATABASE_URL: restoredDatabase.connection,
  })
  assert.equal(code, 0, err)
  await shop.addShard('east', restoredDatabase.connection)
  await east.db.run(sql`delete from customer`)
  await waitUntil(
    async () => (await luma.get('/customers/search?updated_after=2020-01-01%2000:00:00')).json.data?.length === 1,
    'the new shard is queried',
  )
  assertProblem(await luma.get(`/changes?after_cursor=${endCursor}`), 'cursor_expired', shop.baseUrl)
  const oldEast = east
  east = restoredDatabase
  await oldEast.drop()
})

test("removing a shard's service deletes both sides and its backup is complete", async () => {
  const file = join(createDirectory(), 'luma.tillbridge')
  // The audit entry of this account waits to be forwarded.
  assert.equal((await post(luma, '/accounts', { username: 'luma-last', role: 'visitor' }, withKey())).status, 201)
  const output = await shop.runSuccessfully('service', 'remove', 'luma', '--yes', 'luma', '--backup', file)
  assert.match(output, /Accounts deleted with it: luma-last, luma-till/)
  for (const { db } of [shop, east]) assert.deepEqual(await countRowsByTable(db, luma.service), {})
  assertProblem(await luma.get('/stores'), 'service_not_assigned', shop.baseUrl)

  const restoredAlone = await createEmptyDatabase()
  try {
    const environment = { ...shop.environment, DATABASE_URL: restoredAlone.connection }
    const { code, err } = await runCommand(['restore', file], environment)
    assert.equal(code, 0, err)
    const db = openDatabase(restoredAlone.connection, { max: 1 })
    assert.deepEqual(await db.row(sql`select name, shard_name from service`), { name: 'luma', shard_name: null })
    const server = await startSecondServer({ db, keys: shop.keys })
    const readData = async (path: string) =>
      (await server.sendRequest(path, { headers: buildCredentials(luma) })).json.data
    const accounts = (await readData('/accounts')).map(({ username }: { username: string }) => username)
    assert.deepEqual(accounts.toSorted(), ['luma-admin', 'luma-last', 'luma-till'])
    assert.equal((await readData('/audit?record=/accounts/luma-last')).length, 1)
    await server.stop()
    await db.close()
    assert.match((await runCommand(['service', 'list'], environment)).out, /^luma +currency +NZD$/m)
  } finally {
    await restoredAlone.drop()
  }
})
