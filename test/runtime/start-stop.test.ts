import assert from 'node:assert/strict'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { connect } from 'node:http2'
import { Agent, get } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { listChildPids } from '../../scenarios/support/children.ts'
import { installWithAccess } from '../support/installations/installations.ts'
import { isRunning } from '../support/postgres/processes.ts'
import {
  cli,
  connectToDatabase,
  createDirectory,
  findPostgresPid,
  type RunningServer,
  sendGet,
  serve,
  stopServer,
  waitUntil,
} from '../support/processes.ts'

const environment = { DATA_DIR: join(createDirectory(), 'data') }
const access = installWithAccess(environment)

/** Sends a request that waits, because another session has locked its table. */
async function sendBlockedRequest(server: RunningServer) {
  const other = await connectToDatabase(environment.DATA_DIR)
  await other.query('begin')
  await other.query('lock table customer in access exclusive mode')
  const response = sendGet(server, '/customers/search', await access)
  response.catch(() => {})
  await waitUntil(
    async () => (await other.query('select from pg_locks where not granted')).rowCount,
    'the request waits',
  )
  return { other, response, postgres: findPostgresPid(environment.DATA_DIR) ?? 0 }
}

test('a second, later signal ends the server immediately', async () => {
  await access
  const server = await serve(['--no-demo'], environment)
  const slow = await sendBlockedRequest(server)
  server.child.kill('SIGINT')
  await delay(1_200)
  assert.deepEqual(await stopServer(server, 'SIGINT'), { code: 1, signal: null })
  await assert.rejects(slow.response)
  await waitUntil(() => !isRunning(slow.postgres), 'PostgreSQL ends')
})

test('SIGHUP without a terminal changes nothing and is logged', async () => {
  const server = await serve(['--no-demo'], environment)
  server.child.kill('SIGHUP')
  await waitUntil(() => server.err.includes('\n'), 'the signal is logged')
  const { level, msg } = JSON.parse(server.err)
  assert.deepEqual(
    [level, msg],
    [40, 'SIGHUP ignored: certificates reload when their files change, settings need a restart'],
  )
  assert.equal((await sendGet(server, '/stores', await access)).status, 200)
  assert.deepEqual(await stopServer(server), { code: 0, signal: null })
})

test('closing the terminal finishes requests and stops PostgreSQL', async () => {
  const terminal = ['sh', '-c', `exec script -qec "${process.execPath} ${cli} $0 $*" /dev/null`] as const
  const server = await serve(['--no-demo'], environment, { program: terminal })
  const slow = await sendBlockedRequest(server)
  await stopServer(server, 'SIGKILL')
  await delay(300)
  await slow.other.query('commit')
  await slow.other.end()
  assert.equal((await slow.response).status, 200)
  await waitUntil(() => !isRunning(slow.postgres), 'PostgreSQL ends')
})

test('SHUTDOWN_DELAY_SECONDS drains load balancers, even with DRAIN_SECONDS=0', async () => {
  const server = await serve(['--no-demo'], { ...environment, DRAIN_SECONDS: '0', SHUTDOWN_DELAY_SECONDS: '600' })
  server.child.kill('SIGTERM')
  await waitUntil(async () => (await sendGet(server, '/health/ready')).status === 503, 'readiness fails')
  assert.equal((await sendGet(server, '/stores', await access)).status, 200)
  await delay(1_200)
  assert.deepEqual(await stopServer(server), { code: 1, signal: null })
})

test('requests still running after DRAIN_SECONDS are cut off', async () => {
  const server = await serve(['--no-demo'], { ...environment, DRAIN_SECONDS: '1' })
  const slow = await sendBlockedRequest(server)
  const startedAt = performance.now()
  const ended = stopServer(server)
  await assert.rejects(slow.response)
  assert.deepEqual(await ended, { code: 0, signal: null })
  assert.ok(performance.now() - startedAt < 6_000, `${performance.now() - startedAt} ms`)
  assert.ok(!isRunning(slow.postgres))
})

test('idle connections do not delay the stop', async () => {
  const server = await serve(['--no-demo'], environment)
  const agent = new Agent({ keepAlive: true, ca: fs.readFileSync(server.caFile ?? '') })
  await new Promise(resolve =>
    get(`${server.baseUrl}/health/live`, { agent }, response => response.resume().on('end', resolve)),
  )
  const startedAt = performance.now()
  assert.deepEqual(await stopServer(server), { code: 0, signal: null })
  assert.ok(performance.now() - startedAt < 3_000, `${performance.now() - startedAt} ms`)
  agent.destroy()
})

for (const drain of ['25', '0'])
  test(`idle HTTP/2 sessions do not delay the stop with DRAIN_SECONDS=${drain}`, async () => {
    const server = await serve(['--no-demo'], { ...environment, HTTP2: 'true', DRAIN_SECONDS: drain })
    const session = connect(server.baseUrl, { ca: fs.readFileSync(server.caFile ?? '') })
    session.on('error', () => {})
    const stream = session.request({ ':path': '/health/live' })
    const [headers] = await once(stream, 'response')
    assert.equal(headers[':status'], 200)
    stream.resume()
    await once(stream, 'end')
    const startedAt = performance.now()
    assert.deepEqual(await stopServer(server), { code: 0, signal: null })
    assert.ok(performance.now() - startedAt < 3_000, `${performance.now() - startedAt} ms`)
    assert.equal(server.err, '')
    session.destroy()
  })

/** Sends such a request over HTTP/2. */
async function sendBlockedHttp2Request(server: RunningServer) {
  const other = await connectToDatabase(environment.DATA_DIR)
  await other.query('begin')
  await other.query('lock table customer in access exclusive mode')
  const { username, password, serviceName } = await access
  const session = connect(server.baseUrl, { ca: fs.readFileSync(server.caFile ?? '') })
  session.on('error', () => {})
  const stream = session.request({
    ':path': '/customers/search',
    authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
    'x-service-name': serviceName,
  })
  await waitUntil(
    async () => (await other.query('select from pg_locks where not granted')).rowCount,
    'the request waits',
  )
  return { other, stream, session }
}

test('SIGUSR1 does not open the debugger', async () => {
  const server = await serve(['--no-demo'], environment)
  server.child.kill('SIGUSR1')
  await delay(500)
  assert.equal((await sendGet(server, '/stores', await access)).status, 200)
  assert.doesNotMatch(server.err, /Debugger/)
  await stopServer(server)
})

test('a running HTTP/2 request is finished', async () => {
  const server = await serve(['--no-demo'], { ...environment, HTTP2: 'true' })
  const { other, stream, session } = await sendBlockedHttp2Request(server)
  // Listens now, because the response can arrive before `other.end()` resolves.
  const responded = once(stream, 'response')
  const received = text(stream)
  const ended = stopServer(server)
  await delay(300)
  await other.query('commit')
  await other.end()
  const [headers] = await responded
  assert.equal(headers[':status'], 200)
  assert.equal(JSON.parse(await received).data.length, 0)
  assert.deepEqual(await ended, { code: 0, signal: null })
  session.destroy()
})

test('an HTTP/2 request still running after DRAIN_SECONDS is cut off', async () => {
  const server = await serve(['--no-demo'], { ...environment, HTTP2: 'true', DRAIN_SECONDS: '1' })
  const { stream, session } = await sendBlockedHttp2Request(server)
  stream.on('error', () => {})
  const startedAt = performance.now()
  assert.deepEqual(await stopServer(server), { code: 0, signal: null }, server.err)
  assert.ok(performance.now() - startedAt < 6_000, `${performance.now() - startedAt} ms`)
  session.destroy()
})

/** Returns an environment in which the `close` method of every server runs `script` instead. */
const replaceClose = (script: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    `import net from 'node:net'; net.Server.prototype.close = function () { ${script} return this }`,
  )}`,
})

test('a hanging step is named in the log, and PostgreSQL still stops', async () => {
  const server = await serve(['--no-demo'], { ...environment, DRAIN_SECONDS: '0', ...replaceClose('') })
  const postgres = findPostgresPid(environment.DATA_DIR) ?? 0
  assert.deepEqual(await stopServer(server), { code: 1, signal: null })
  const { step, msg } = JSON.parse(server.err.trim().split('\n').at(-1) ?? '')
  assert.deepEqual([step, msg], ['requests', 'stop step timed out, continuing without it'])
  assert.ok(!isRunning(postgres))
})

test('a step that blocks the event loop is logged and killed', async () => {
  const server = await serve(['--no-demo'], { ...environment, DRAIN_SECONDS: '0', ...replaceClose('for (;;);') })
  const postgres = findPostgresPid(environment.DATA_DIR) ?? 0
  assert.deepEqual(await stopServer(server), { code: null, signal: 'SIGKILL' })
  const { steps, msg } = JSON.parse(server.err.trim().split('\n').at(-1) ?? '')
  assert.deepEqual([steps, msg], [['requests', 'jobs', 'metrics'], 'stop step hangs, killing'])
  await waitUntil(() => !isRunning(postgres), 'PostgreSQL ends')
})

test('worker processes that hang do not delay the stop', async () => {
  const settings = { ...environment, DRAIN_SECONDS: '0', WEB_CONCURRENCY: '2', ...replaceClose('for (;;);') }
  const server = await serve(['--no-demo'], settings)
  const workers = listChildPids(server.pid)
  assert.deepEqual(await stopServer(server), { code: 0, signal: null }, server.err)
  for (const pid of workers) assert.ok(!isRunning(pid))
})
