import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { installWithAccess } from '../support/installations/installations.ts'
import {
  createDirectory,
  type Environment,
  pickPort,
  type RunningServer,
  sendGet,
  serve,
  stopServer,
  waitUntil,
} from '../support/processes.ts'

const plainPort = pickPort()
const environment: Environment = {
  DATA_DIR: join(createDirectory(), 'data'),
  LOG_LEVEL: 'info',
  ACCESS_LOG: 'true',
  PLAIN_PORT: plainPort,
}
let server: RunningServer
let access: Awaited<ReturnType<typeof installWithAccess>>
before(async () => {
  access = await installWithAccess(environment)
  server = await serve(['--no-demo'], environment)
})
after(() => stopServer(server))

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
type Line = Record<string, any>

const parseLines = ({ err }: RunningServer): Line[] =>
  err
    .split('\n')
    .filter(line => line.startsWith('{') && line.endsWith('}'))
    .map(line => JSON.parse(line))

/** Waits until a request is logged. Returns its log lines. */
async function waitForLines(requestId: string) {
  const findLines = () => parseLines(server).filter(line => line.requestId === requestId)
  await waitUntil(() => findLines().length > 0, `${requestId} is logged`)
  return findLines()
}

/** Returns the status, error and route of a log line. */
const getResult = (line: Line = {}) => [line['http.response.status_code'], line['error.type'], line['http.route']]

test('each request has one info line with caller, result and duration', async () => {
  const { status, headers } = await sendGet(server, '/customers/canary-7?x=canary-8', access)
  assert.equal(status, 400)
  const [line = {}, ...furtherLines] = await waitForLines(headers['x-request-id'])
  assert.deepEqual(furtherLines, [])
  const { time, ms, pid, ...fields } = line
  assert.equal(pid, server.pid)
  assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.ok(Math.abs(Date.now() - Date.parse(time)) < 60_000)
  assert.ok(ms > 0 && ms < 60_000)
  assert.deepEqual(fields, {
    level: 30,
    'service.name': 'tillbridge',
    msg: 'request',
    requestId: headers['x-request-id'],
    'client.address': '127.0.0.1',
    'http.request.method': 'GET',
    'http.route': '/customers/:id',
    service: 'luma',
    account: 'luma-admin',
    'http.response.status_code': 400,
    'error.type': 'invalid_parameter',
  })
  assert.doesNotMatch(server.err, /canary/)
})

test('a rejected request is found by its ID with the reason', async () => {
  const wrongAccess = { ...access, password: 'canary-password' }
  const { status, json } = await sendGet(server, '/stores', wrongAccess)
  assert.equal(status, 401)
  const [line] = await waitForLines(json.requestId)
  assert.deepEqual(getResult(line), [401, json.code, '/stores'])
  assert.equal(line?.account, undefined)
  const notFound = await sendGet(server, '/canary-9', access)
  const [notFoundLine] = await waitForLines(notFound.json.requestId)
  assert.deepEqual(getResult(notFoundLine), [404, 'not_found', undefined])
  assert.doesNotMatch(server.err, /canary/)
})

/** Sends raw bytes. Returns the server's response. */
async function sendRaw(socket: ReturnType<typeof connect>, bytes: string) {
  socket.end(bytes)
  return Buffer.concat(await socket.toArray()).toString()
}

test('malformed and plain HTTP requests have log lines too', async () => {
  const port = Number(new URL(server.baseUrl).port)
  const broken = await sendRaw(connectTls({ port, rejectUnauthorized: false }), 'canary canary\r\n\r\n')
  const clear = await sendRaw(connect(Number(plainPort)), 'GET /canary HTTP/1.1\r\nhost: x\r\n\r\n')
  for (const [response, status, code] of [
    [broken, 400, 'malformed_request'],
    [clear, 403, 'https_required'],
  ] as const) {
    const [, requestId = ''] = /"requestId":"([^"]+)"/.exec(response) ?? []
    const [line] = await waitForLines(requestId)
    assert.deepEqual(getResult(line).slice(0, 2), [status, code])
    assert.match(line?.['client.address'], /^(127\.0\.0\.1|::1)$/)
  }
  assert.doesNotMatch(server.err, /canary/)
})

test('every line has its time in RFC 3339', () => {
  const lines = parseLines(server)
  assert.ok(lines.length > 4)
  for (const { time } of lines) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})
