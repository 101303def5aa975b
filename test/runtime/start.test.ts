import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { getMode, isRunning, needsRoot } from '../support/postgres/processes.ts'
import {
  connectToDatabase,
  createDirectory,
  findPostgresPid,
  pickPort,
  type RunningServer,
  readAccess,
  runCommand,
  runSuccessfully,
  sendGet,
  serve,
  startCommand,
  stopServer,
  waitUntil,
  waitUntilServing,
} from '../support/processes.ts'

const environment = { DATA_DIR: join(createDirectory(), 'data') }
const dataDir = environment.DATA_DIR
let server: RunningServer
let firstPassword: string
let firstCustomers: string
/** The duration of the first start in milliseconds. */
let firstStartMs: number
/** Responses while the shop is created. */
let earlyResponses: Record<'ready' | 'live', Awaited<ReturnType<typeof sendGet>>>

before(async () => {
  const startedAt = performance.now()
  const port = pickPort()
  const first = startCommand(['start'], { ...environment, PORT: port, LOG_LEVEL: 'warn' })
  await waitUntil(() => first.out.includes('creating a demo shop'), 'the demo shop is being created', 30_000)
  const endpoint = { baseUrl: `https://localhost:${port}`, caFile: join(dataDir, 'tls/ca.pem') }
  earlyResponses = { ready: await sendGet(endpoint, '/health/ready'), live: await sendGet(endpoint, '/health/live') }
  server = await waitUntilServing(first, environment)
  firstStartMs = performance.now() - startedAt
  firstPassword = readAccess(dataDir).password
})
after(() => server && stopServer(server))

test('the server becomes ready once the first start creates the shop', async () => {
  assert.deepEqual([earlyResponses.ready.status, earlyResponses.live.status], [503, 200])
  assert.ok(earlyResponses.ready.headers['retry-after'])
  assert.equal((await sendGet(server, '/health/ready')).status, 200)
})

test('the first start prints a complete curl command', async () => {
  const line = /^ +(curl .*)$/m.exec(server.out)?.[1] ?? ''
  assert.match(line, /--cacert /)
  assert.doesNotMatch(line, / -k|--insecure/)
  const { code, out, err } = await runCommand(['-c', line], {}, { program: ['bash'] })
  assert.equal(code, 0, err)
  assert.equal(JSON.parse(out).data.length, 2)
})

test('the first start prints address, user, password, service and documentation link', async () => {
  const access = readAccess(dataDir)
  assert.match(server.out, new RegExp(`serves ${access.baseUrl}\\.$`, 'm'))
  assert.match(server.out, new RegExp(`^ +username +${access.username}$`, 'm'))
  assert.match(server.out, new RegExp(`^ +password +${access.password}$`, 'm'))
  assert.match(server.out, new RegExp(`^ +service +${access.serviceName}$`, 'm'))
  assert.match(server.out, /^In this checkout, run such commands with npx: npx tillbridge console$/m)
  const docs = /Documentation: (\S+)$/m.exec(server.out)?.[1] ?? ''
  assert.equal(docs, `${access.baseUrl}/docs`)
  assert.equal((await sendGet(server, '/docs')).status, 200)
})

test('the first start prints a link that signs in once', async () => {
  const [, base, link] =
    /Console \(this link signs in once, within 60 seconds\): (\S+)\/console#link=(\S+)$/m.exec(server.out) ?? []
  assert.equal(base, server.baseUrl)
  const body = JSON.stringify({ link })
  const curl = (path: string) =>
    runCommand(
      [
        '-s',
        '--cacert',
        server.caFile ?? '',
        '-H',
        `origin: ${server.baseUrl}`,
        '-H',
        'content-type: application/json',
        '-d',
        body,
        `${server.baseUrl}${path}`,
      ],
      {},
      { program: ['curl'] },
    )
  assert.equal(JSON.parse((await curl('/console/session/link')).out).data.username, readAccess(dataDir).username)
  assert.equal(JSON.parse((await curl('/console/session/link')).out).code, 'invalid_credentials')
})

test('access.json contains the same data, readable by its owner only', async () => {
  assert.equal(getMode(join(dataDir, 'access.json')), 0o600)
  const access = readAccess(dataDir)
  assert.deepEqual(Object.keys(access), ['baseUrl', 'username', 'password', 'serviceName', 'caFile'])
  assert.equal(access.baseUrl, server.baseUrl)
  assert.ok(server.out.includes(access.password))
  const response = await sendGet(access, '/customers/search?limit=3', access)
  assert.equal(response.json.data.length, 3)
  firstCustomers = response.json.data
})

test('the certificate also covers 127.0.0.1', async () => {
  const baseUrl = server.baseUrl.replace('localhost', '127.0.0.1')
  assert.equal((await sendGet({ ...server, baseUrl }, '/health/ready')).status, 200)
})

test('the database, the keys and the secret are private', () => {
  for (const file of ['secret', 'database.json', 'tls/key.pem', 'tls/ca-key.pem'])
    if (fs.existsSync(join(dataDir, file))) assert.equal(getMode(join(dataDir, file)), 0o600, file)
  assert.equal(getMode(join(dataDir, 'postgres/data')), 0o700)
})

test('a second start is rejected without disturbing the first', async () => {
  const { code, out, err } = await runCommand(['start'], { ...environment, PORT: '0' })
  assert.equal(code, 1)
  assert.equal(out, '')
  assert.equal(
    err,
    `tillbridge: ${join(dataDir, 'postgres')} is in use by process ${server.pid}. Only one process can own it.\n`,
  )
  const access = readAccess(dataDir)
  assert.equal((await sendGet(access, '/customers/search', access)).status, 200)
})

test('a command rejected by the running PostgreSQL prints its message', async () => {
  const postgres = await connectToDatabase(dataDir)
  const allowConnections = (isAllowed: boolean) =>
    postgres.query(`update pg_database set datallowconn = ${isAllowed} where datname = current_database()`)
  try {
    await allowConnections(false)
    const { code, err } = await runCommand(['service', 'list'], environment)
    const why = 'database "tillbridge" is not currently accepting connections'
    assert.deepEqual([code, err], [1, `tillbridge: The database of process ${server.pid} is unreachable: ${why}\n`])
  } finally {
    await allowConnections(true)
    await postgres.end()
  }
})

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  test(`${signal} finishes running requests, stops PostgreSQL and exits with 0`, async () => {
    const access = readAccess(dataDir)
    // A job may have logged that the database rejected connections in the test above.
    const loggedBefore = server.err
    const postgres = findPostgresPid(dataDir) ?? 0
    assert.ok(isRunning(postgres))
    const other = await connectToDatabase(dataDir)
    await other.query('begin')
    await other.query('lock table customer in access exclusive mode')
    const slow = sendGet(server, '/customers/search?limit=3', access)
    await waitUntil(
      async () => (await other.query('select from pg_locks where not granted')).rowCount,
      'the request waits',
    )
    const ended = stopServer(server, signal)
    await waitUntil(
      () =>
        sendGet(server, '/health/live').then(
          () => false,
          error => error.code === 'ECONNREFUSED',
        ),
      'new connections are refused',
    )
    await other.query('commit')
    await other.end()
    const response = await slow
    assert.equal(response.status, 200)
    assert.deepEqual(response.json.data, firstCustomers)
    assert.deepEqual(await ended, { code: 0, signal: null })
    assert.ok(!isRunning(postgres))
    assert.ok(!fs.existsSync(join(dataDir, 'database.json')))
    assert.equal(server.err, loggedBefore)
    server = await serve([], environment)
  })

test('the next start is fast, keeps the data and hides the password', async t => {
  assert.deepEqual(await stopServer(server), { code: 0, signal: null })
  const startedAt = performance.now()
  server = await serve([], environment)
  const tookMs = performance.now() - startedAt
  const durations = `${tookMs.toFixed()} ms after ${firstStartMs.toFixed()} ms`
  t.diagnostic(durations)
  assert.ok(tookMs < firstStartMs / 2, durations)
  const access = readAccess(dataDir)
  assert.equal(access.password, firstPassword)
  assert.equal(access.baseUrl, server.baseUrl, 'access.json must name this server')
  assert.doesNotMatch(server.out, /First start|Migrated/)
  assert.ok(!server.out.includes(firstPassword))
  assert.ok(server.out.includes(`The credentials of ${access.username} are in ${join(dataDir, 'access.json')}.`))
  assert.deepEqual((await sendGet(access, '/customers/search?limit=3', access)).json.data, firstCustomers)
})

test('starts without access.json keep the first password alive', async () => {
  const access = readAccess(dataDir)
  for (let i = 0; i < 2; i++) {
    await stopServer(server)
    fs.rmSync(join(dataDir, 'access.json'), { force: true })
    server = await serve([], environment)
    assert.ok(!fs.existsSync(join(dataDir, 'access.json')))
    assert.match(server.out, /^To issue a new password for demo: tillbridge account rotate demo$/m)
  }
  assert.equal((await sendGet(server, '/customers/search', access)).status, 200)
  assert.match(await runSuccessfully(['account', 'list'], environment), /^demo +demo +admin +1 /m)
  fs.writeFileSync(join(dataDir, 'access.json'), JSON.stringify(access))
})

test('an ended password in access.json is reported as invalid', async () => {
  await runSuccessfully(['account', 'rotate', 'demo'], environment)
  await runSuccessfully(['account', 'revoke', 'demo', '--previous-secret'], environment)
  await stopServer(server)
  server = await serve([], environment)
  assert.match(server.out, /^To issue a new password for demo: tillbridge account rotate demo$/m)
  assert.equal(readAccess(dataDir).password, firstPassword, 'the file must be unchanged')
})

test('a revoked demo account stays revoked', async () => {
  await runSuccessfully(['account', 'revoke', 'demo'], environment)
  await stopServer(server)
  server = await serve([], environment)
  assert.doesNotMatch(server.out, /password/)
  assert.doesNotMatch(await runSuccessfully(['account', 'list'], environment), /demo/)
})

test('root starts in a directory accessible only to root', { skip: needsRoot }, async () => {
  const DATA_DIR = join(createDirectory(0o700), 'data')
  const alone = await serve(['--no-demo'], { DATA_DIR }, { cwd: createDirectory(0o700) })
  assert.equal((await sendGet(alone, '/health/ready')).status, 200)
  assert.deepEqual(await stopServer(alone), { code: 0, signal: null })
})
