import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { type HttpsRequest, sendHttpsRequest } from '../support/https-request.ts'
import {
  createDirectory,
  createServiceAccess,
  findWorkerPids,
  type RunningServer,
  runCommand,
  runSuccessfully,
  sendGet,
  serve,
  stopServer,
  waitUntil,
} from '../support/processes.ts'

const rightSecret = 'r'.repeat(32)
const wrongSecret = 'w'.repeat(32)
const rejection = 'is not the secret that this database was first started with'
const lostAdvice = 'If it is lost permanently, run "tillbridge secret reset".'
let database: TestDatabase
let settings: { DATA_DIR: string; DATABASE_URL: string }
let access: Awaited<ReturnType<typeof createServiceAccess>>

/** Data from before the secret changed: a cursor, a console session, and customers created with idempotency keys. */
let cursor: string
let cookie: string
const [ann, bea] = ['ann', 'bea']
const buildCreation = (name: string): HttpsRequest => ({
  method: 'POST',
  path: '/customers',
  key: name,
  body: { firstname: name, surname: 'Lee', contact: { email: `${name}@example.com` } },
})
const samePageHeaders = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }

/** Sends a request with the account's password, or with other credentials. */
async function send(
  { baseUrl, caFile = '' }: RunningServer,
  request: HttpsRequest,
  credentials?: Record<string, string>,
) {
  const agent = new Agent({ ca: fs.readFileSync(caFile) })
  const { username, password, serviceName } = access
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  const headers = { 'x-service-name': serviceName, ...(credentials ?? { authorization }) }
  return sendHttpsRequest<{ firstname: string }[]>(request, { baseUrl, agent, headers }).finally(() => agent.destroy())
}

before(async () => {
  database = await createTestDatabase()
  settings = { DATA_DIR: join(createDirectory(), 'data'), DATABASE_URL: database.connection }
  access = await createServiceAccess({ ...settings, SECRET_KEY: rightSecret })
  const server = await serve(['--no-demo'], { ...settings, SECRET_KEY: rightSecret })
  for (const account of [ann, bea]) assert.equal((await send(server, buildCreation(account))).status, 201)
  const page = await send(server, { method: 'GET', path: '/customers/search?limit=1' })
  const { username, password } = access
  const signIn: HttpsRequest = { method: 'POST', path: '/console/session', body: { username, password } }
  const signedIn = await send(server, signIn, samePageHeaders)
  assert.deepEqual([page.status, signedIn.status], [200, 200], signedIn.text)
  cursor = page.body.meta?.endCursor ?? ''
  cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? ''
  await stopServer(server)
})
after(() => database.drop())

for (const args of [
  ['start'],
  ['start', '--no-demo'],
  ['worker'],
  ['account', 'list'],
  ['account', 'rotate', 'luma-admin'],
])
  test(`\`tillbridge ${args.join(' ')}\` with a wrong secret stops with a remedy`, async () => {
    const { code, out, err } = await runCommand(args, { ...settings, SECRET_KEY: wrongSecret, PORT: '0' })
    assert.deepEqual([code, out], [1, ''])
    assert.equal(
      err,
      `tillbridge: SECRET_KEY ${rejection}, so no password or PIN would match. Set it to that secret. ${lostAdvice}\n`,
    )
    assert.doesNotMatch(err, new RegExp(`${wrongSecret}|${rightSecret}`))
  })

test('a command without secret reports it and creates none', async () => {
  const { code, err } = await runCommand(['start'], { ...settings, PORT: '0' })
  const file = join(settings.DATA_DIR, 'secret')
  assert.equal(code, 1)
  assert.equal(
    err,
    `tillbridge: The secret that this database was first started with is missing. Set SECRET_KEY, or restore ${file}. ${lostAdvice}\n`,
  )
  assert.ok(!fs.existsSync(file))
})

test('doctor reports a wrong secret and a missing one', async () => {
  const other = await runCommand(['doctor'], { ...settings, SECRET_KEY: wrongSecret })
  assert.equal(other.code, 1)
  assert.match(other.out, new RegExp(`^FAIL {2}Secret +SECRET_KEY ${rejection}, .*\\. ${lostAdvice}$`, 'm'))
  assert.match(other.out, /^FAIL {2}Back office +Not checked: fix the secret first\.$/m)
  const none = await runCommand(['doctor'], settings)
  assert.match(none.out, /^FAIL {2}Secret +The secret that .* is missing\. Set SECRET_KEY, or restore /m)
  assert.match((await runCommand(['doctor'], { ...settings, SECRET_KEY: rightSecret })).out, /^PASS {2}Secret /m)
})

test('migrations neither need nor create a secret', async () => {
  const fresh = await createTestDatabase()
  const DATA_DIR = join(createDirectory(), 'data')
  try {
    const environment = { DATA_DIR, DATABASE_URL: fresh.connection }
    await runSuccessfully(['migrate'], environment)
    assert.ok(!fs.existsSync(join(DATA_DIR, 'secret')))
    await runSuccessfully(['account', 'list'], { ...environment, SECRET_KEY: rightSecret })
    assert.equal((await runCommand(['account', 'list'], { ...environment, SECRET_KEY: wrongSecret })).code, 1)
  } finally {
    await fresh.drop()
  }
})

test('a file without a valid secret is named and unchanged', async () => {
  const fresh = await createTestDatabase()
  const environment = { DATA_DIR: join(createDirectory(), 'data'), DATABASE_URL: fresh.connection }
  const file = join(environment.DATA_DIR, 'secret')
  const noSecret = `tillbridge: ${file} must contain a secret of at least 32 characters. Restore the file, or delete it to create a new secret.\n`
  try {
    fs.mkdirSync(environment.DATA_DIR)
    for (const text of ['', 'x', `${rightSecret}\n${rightSecret}\n`]) {
      fs.writeFileSync(file, text)
      const { code, err } = await runCommand(['start', '--no-demo'], { ...environment, PORT: '0' })
      assert.deepEqual([code, err, fs.readFileSync(file, 'utf8')], [1, noSecret, text])
    }
    fs.writeFileSync(file, `${rightSecret}\n`)
    await runSuccessfully(['account', 'list'], environment)
    assert.equal((await runCommand(['account', 'list'], { ...environment, SECRET_KEY: wrongSecret })).code, 1)
  } finally {
    await fresh.drop()
  }
})

test('the database stores only a keyed digest of the secret', async () => {
  const { rows } = await database.db.pool.query('select * from installation')
  assert.deepEqual(Object.keys(rows[0]).sort(), [
    'backed_up_at',
    'lookup_secret',
    'previous_digest',
    'secret_digest',
    'shard_name',
    'single',
  ])
  assert.equal(rows.length, 1)
  assert.equal(rows[0].secret_digest.length, 32)
})

test('a right secret starts the server, and each process checks it', async () => {
  const environment = { DATA_DIR: join(createDirectory(), 'data'), WEB_CONCURRENCY: '2' }
  const file = join(environment.DATA_DIR, 'secret')
  const server = await serve(['--no-demo'], environment)
  const ownAccess = await createServiceAccess(environment)
  const secret = fs.readFileSync(file, 'utf8')
  fs.writeFileSync(file, wrongSecret)
  const [child = 0] = findWorkerPids(server)
  process.kill(child, 'SIGKILL')
  await waitUntil(() => server.err.includes(`${file} ${rejection}`), 'the new worker rejects the secret', 20_000)
  assert.equal((await sendGet(server, '/stores', ownAccess)).status, 200)
  fs.writeFileSync(file, secret)
  await stopServer(server)

  const withOtherSecret = await runCommand(['start'], { ...environment, SECRET_KEY: rightSecret, PORT: '0' })
  assert.equal(
    withOtherSecret.err,
    `tillbridge: SECRET_KEY ${rejection}. Remove the setting to use the secret in ${file}.\n`,
    'the message must name the remedy',
  )
  const restarted = await serve(['--no-demo'], environment)
  assert.equal((await sendGet(restarted, '/stores', ownAccess)).status, 200)
  await stopServer(restarted)
})

test('correcting the secret restores cursors, sessions and stored responses', async () => {
  const rejected = await runCommand(['start'], { ...settings, SECRET_KEY: wrongSecret, PORT: '0' })
  assert.equal(rejected.code, 1)
  const server = await serve(['--no-demo'], { ...settings, SECRET_KEY: rightSecret })
  const next = await send(server, { method: 'GET', path: `/customers/search?limit=1&after_cursor=${cursor}` })
  assert.deepEqual([next.status, next.body.data?.[0]?.firstname], [200, bea])
  const stores = await send(server, { method: 'GET', path: '/stores' }, { ...samePageHeaders, cookie })
  assert.equal(stores.status, 200, stores.text)
  const repeated = await send(server, buildCreation(ann))
  assert.deepEqual([repeated.status, repeated.headers['idempotent-replayed']], [201, 'true'])
  await stopServer(server)
})
