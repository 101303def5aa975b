import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { raw, sql } from '../../../src/database/db.ts'
import { addAccount } from '../../../src/store/accounts/accounts.ts'
import { createAccount, getStatusWithPassword, newUsername } from '../../support/accounts.ts'
import { assertProblem } from '../../support/problem.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/service.ts'
import { post, put } from '../../support/write.ts'

let logged = ''
const stream = new Writable({
  write(chunk, _, done) {
    logged += chunk
    done()
  },
})
let api: TestApi
before(async () => {
  api = await startTestApi({ log: pino({ level: 'trace' }, stream) })
})
after(() => api.stop())

const rotate = (admin: Caller, { username }: { username: string }, headers = {}) =>
  post(admin, `/accounts/${username}/rotate`, {}, headers)

/** Returns the rows of all tables as text. Binary columns are in hexadecimal. */
async function readAllTables() {
  const tables = await api.db.rows<{ name: string }>(
    sql`select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  )
  assert.ok(tables.length > 20)
  const texts = await Promise.all(
    tables.map(({ name }) =>
      api.db.row<{ text: string }>(sql`select string_agg(t::text, E'\n') as text from ${raw(name)} t`),
    ),
  )
  return texts.map(row => row?.text ?? '').join('\n')
}

test('passwords and API keys never appear in logs, audit entries or tables', async () => {
  const username = newUsername()
  const key = { 'idempotency-key': 'make it' }
  const created = await post(api, '/accounts', { username, role: 'visitor' }, key)
  const rotated = await rotate(api, { username }, { 'idempotency-key': 'rotate it' })
  assert.equal(await getStatusWithPassword(api, api, { username, password: rotated.json.data.password }), 200)
  await put(api, `/accounts/${username}`, { role: 'maintainer' })
  const secrets = [created, rotated].flatMap(({ json }) => [json.data.password, json.data.apiKey] as string[])
  assert.equal(new Set(secrets).size, 4)
  const tablesText = await readAllTables()
  assert.ok(tablesText.includes(username))
  const texts = [
    (await api.get('/accounts')).text,
    (await api.get(`/accounts/${username}`)).text,
    (await api.get('/audit')).text,
  ]
  for (const secret of secrets) {
    const hex = Buffer.from(secret).toString('hex')
    for (const form of [secret, hex, Buffer.from(secret, 'base64url').toString('hex')])
      assert.ok(!tablesText.includes(form), 'in the database')
    assert.ok(!logged.includes(secret), 'in the logs')
    for (const text of texts) assert.ok(!text.includes(secret), 'in a response')
  }
  assert.ok(logged.includes('/accounts/:username/rotate'))
  const entries = (await api.get('/audit')).json.data
  assert.deepEqual(
    entries.map(({ operation, subject, fields }: Record<string, unknown>) => [operation, subject, fields]),
    [
      ['POST /accounts', `/accounts/${username}`, ['username', 'role']],
      ['POST /accounts/:username/rotate', `/accounts/${username}`, []],
      ['PUT /accounts/:username', `/accounts/${username}`, ['role']],
    ],
  )
})

test('repeating a password rotation with its key returns the same password', async () => {
  const username = newUsername()
  const key = { 'idempotency-key': 'once' }
  const first = await post(api, '/accounts', { username, role: 'visitor' }, key)
  const again = await post(api, '/accounts', { username, role: 'visitor' }, key)
  assert.deepEqual([again.text, again.headers['idempotent-replayed']], [first.text, 'true'])
  const rotations = [await rotate(api, { username }, key), await rotate(api, { username }, key)]
  assert.equal(rotations[1]?.text, rotations[0]?.text)
  assert.equal((await api.get(`/accounts/${username}`)).json.data.passwords, 2)
  assertProblem(await rotate(api, { username: newUsername() }, key), 'idempotency_key_reused', api.baseUrl)
})

test('an admin cannot obtain a password with more access than their own', async () => {
  const [caller, other] = [await api.createService(), await api.createService()]
  const shared = await createAccount(caller, 'visitor')
  assert.equal((await rotate(caller, shared)).status, 200)
  await addAccount(api.db, api.keys, shared.username, other.service, 'maintainer')
  for (const admin of [caller, other]) {
    const rejected = await rotate(admin, shared)
    assertProblem(rejected, 'insufficient_role', api.baseUrl)
    for (const { service } of [caller, other]) assert.ok(!rejected.text.includes(service.name))
  }
  assert.equal((await caller.get(`/accounts/${shared.username}`)).json.data.passwords, 2)
  await addAccount(api.db, api.keys, caller.username, other.service, 'visitor')
  assertProblem(await rotate(caller, shared), 'insufficient_role', api.baseUrl)
  await addAccount(api.db, api.keys, caller.username, other.service, 'maintainer')
  assert.equal((await rotate(caller, shared)).status, 200)
  // Rotating your own password grants no new access, whatever your roles in other services are.
  assert.equal((await rotate(caller, caller)).status, 200)
})

test('only the account that received a password gets it on replay', async () => {
  const [caller, other] = [await api.createService(), await api.createService()]
  const colleague = await api.createAccount('admin', caller.service)
  const shared = await createAccount(caller, 'visitor')
  await addAccount(api.db, api.keys, shared.username, other.service, 'maintainer')
  await addAccount(api.db, api.keys, caller.username, other.service, 'maintainer')
  const key = { 'idempotency-key': 'mine alone' }
  const first = await rotate(caller, shared, key)
  assert.equal(first.status, 200, first.text)
  assertProblem(await rotate(colleague, shared), 'insufficient_role', api.baseUrl)
  assertProblem(await rotate(colleague, shared, key), 'idempotency_key_reused', api.baseUrl)
  assert.equal((await rotate(caller, shared, key)).text, first.text)
})
