import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { ErrorCode, FieldError } from '../../../src/errors/api-error.ts'
import { assertCreatesNoCustomer, buildCustomer } from '../../support/customer-bodies.ts'
import { assertProblem } from '../../support/problem.ts'
import {
  buildCreateHead,
  buildCredentials,
  captureLog,
  openTls,
  readUntilClosed,
  sendBytes,
  startSecondServer,
} from '../../support/servers.ts'
import { startTestApi, type TestResponse } from '../../support/service.ts'
import { post, put } from '../../support/write.ts'

const logged = captureLog('error')
const api = await startTestApi({ settings: { writesPerMinute: 'off' }, log: logged.log })
after(() => api.stop())

const buildHead = (...lines: string[]) => buildCreateHead(api, ...lines)

const assertRejected = (response: TestResponse, code: ErrorCode) =>
  assertProblem(response, code, api.baseUrl, '/customers')

test('a body must be plain JSON', () =>
  assertCreatesNoCustomer(api, async () => {
    const types = [
      undefined,
      'text/xml',
      'application/xml',
      'text/plain',
      'text/json',
      'application/jsonp',
      'application/json-patch+json',
      'application/problem+json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json; charset=utf-7',
      'application/json; charset=utf-16',
      'application/json; charset="iso-8859-1"',
      'application/json; charset=',
      'application/json; charset=utf-7; charset=utf-8',
      'application/json; charset=utf-8; charset=utf-7',
      'application/json, application/json',
      'nonsense',
    ]
    for (const type of types)
      for (const body of [buildCustomer(), '{"bad', ''])
        assertRejected(await post(api, '/customers', body, { 'content-type': type }), 'unsupported_media_type')
    const headers = { 'content-type': ['application/json', 'text/plain'] }
    assertRejected(
      await api.request('/customers', { method: 'POST', headers, body: JSON.stringify(buildCustomer()) }),
      'duplicate_header',
    )
  }))

test('the message of a rejected body names what to send', async () => {
  const send = (type: string, body: string) => post(api, '/customers', body, { 'content-type': type })
  assert.equal((await send('text/plain', '{}')).json.detail, '`Content-Type` must be `application/json`.')
  assert.equal((await send('application/json', '')).json.detail, 'The body is empty. If you have no fields, send `{}`.')
})

test('a compressed body is rejected without decompression', () =>
  assertCreatesNoCustomer(api, async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, ' '))
    assert.ok(bomb.length < 100_000)
    for (const [encoding, body] of [
      ['gzip', gzipSync(JSON.stringify(buildCustomer()))],
      ['gzip', bomb],
      ['identity, gzip', gzipSync(JSON.stringify(buildCustomer()))],
      ['br', JSON.stringify(buildCustomer())],
      ['deflate', JSON.stringify(buildCustomer())],
    ] as const)
      assertRejected(await post(api, '/customers', body, { 'content-encoding': encoding }), 'unsupported_media_type')
    for (const coding of ['gzip, chunked', 'deflate, chunked'])
      assertRejected(
        await post(api, '/customers', buildCustomer(), { 'transfer-encoding': coding }),
        'unsupported_media_type',
      )
  }))

test('the content type is accepted in any spelling', async () => {
  for (const headers of [
    { 'content-type': 'application/json' },
    { 'content-type': 'Application/JSON;Charset="UTF-8"' },
    { 'content-type': 'application/json ; charset=utf-8' },
    { 'content-encoding': 'identity' },
  ])
    assert.equal((await post(api, '/customers', buildCustomer(), headers)).status, 201, JSON.stringify(headers))
})

const maxBytes = 256 * 1024

const buildPaddedBody = (size: number) => JSON.stringify(buildCustomer()).padEnd(size)

test('a body can have 256 KiB, with or without a length', async () => {
  assert.equal((await post(api, '/customers', buildPaddedBody(maxBytes))).status, 201)
  assert.equal((await post(api, '/customers', buildPaddedBody(maxBytes), chunked)).status, 201)
  await assertCreatesNoCustomer(api, async () => {
    for (const size of [maxBytes + 1, 2_000_000])
      for (const headers of [{}, chunked]) {
        const response = await post(api, '/customers', buildPaddedBody(size), headers)
        assertRejected(response, 'body_too_large')
      }
  })
})

const chunked = { 'transfer-encoding': 'chunked' }

test('an oversized or endless body is rejected early and its connection closed', async () => {
  const declared = await openTls(api)
  const declaredResponse = readUntilClosed(declared)
  declared.write(`${buildHead('Content-Type: application/json', 'Content-Length: 100000000')}{`)
  const endless = await openTls(api)
  const endlessResponse = readUntilClosed(endless)
  let sent = 0
  endless.write(buildHead('Content-Type: application/json', 'Transfer-Encoding: chunked'))
  const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`
  while (endless.writable && sent < 100_000_000) {
    sent += 65_536
    if (!endless.write(chunk)) await Promise.race([once(endless, 'drain'), once(endless, 'close')]).catch(() => {})
  }
  for (const response of await Promise.all([declaredResponse, endlessResponse]))
    assert.match(response, /^HTTP\/1.1 413 [\s\S]*"code":"body_too_large"/)
  assert.ok(sent < 20_000_000, `${sent} bytes were accepted`)
})

test('a body shorter than its declared length creates nothing', () =>
  assertCreatesNoCustomer(api, async () => {
    const socket = await openTls(api)
    const body = JSON.stringify(buildCustomer())
    socket.write(buildHead('Content-Type: application/json', `Content-Length: ${body.length + 1}`) + body)
    const response = readUntilClosed(socket)
    socket.end()
    assert.doesNotMatch(await response, /HTTP\/1.1 2/)
  }))

test('an aborted body is not logged as an error', () =>
  assertCreatesNoCustomer(api, async () => {
    for (const remainder of ['-1\r\n', '9\r\n{"first', '']) {
      const socket = await openTls(api)
      const closed = once(socket, 'close')
      socket.write(
        `${buildHead('Content-Type: application/json', 'Transfer-Encoding: chunked', 'Expect: 100-continue')}`,
      )
      await once(socket, 'data')
      socket.write(remainder, () => socket.destroy())
      await closed
      // When a later connection gets its response, the server has noticed the end of this one.
      await sendBytes(api, 'GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    }
    assert.deepEqual(
      logged.text.split('\n').filter(line => line.includes('"level":50')),
      [],
    )
  }))

test("a write with a query is rejected together with the body's errors", () =>
  assertCreatesNoCustomer(api, async () => {
    for (const query of ['pin=381940', 'limit=5', 'firstname=Ann&firstname=Bea', '=']) {
      assertRejected(await post(api, `/customers?${query}`, buildCustomer()), 'invalid_parameter')
      const response = await post(api, `/customers?${query}`, { ...buildCustomer(), firstname: 5, unheard: 1 })
      assertRejected(response, 'invalid_parameter')
      const pointers = response.json.errors.map(({ parameter, pointer }: FieldError) =>
        parameter === undefined ? pointer : '?',
      )
      assert.deepEqual(new Set(pointers), new Set(['?', '/firstname', '/unheard']))
      assert.equal(response.text.includes('381940'), false)
    }
    assertProblem(await put(api, '/customers/1?dry=true', {}), 'invalid_parameter', api.baseUrl, '/customers/1')
  }))

/** Sends a request head whose body never follows. Returns the response. */
async function sendHead(request: string) {
  const socket = await openTls(api)
  const data = once(socket.setEncoding('utf8'), 'data')
  socket.write(request)
  const [response] = await data
  socket.destroy()
  return String(response)
}

test('a list that is too long has only one error', async () => {
  const lines = Array.from({ length: 3_300 }, (_, i) => ({ sku: `S${i}`, quantity: -1, unknown: null }))
  const lists: [request: typeof post, path: string, field: string, entries: unknown[], maxEntries: number][] = [
    [post, '/orders', 'lines', lines, 200],
    [post, '/orders/quote', 'lines', lines, 200],
    [post, '/reservations', 'lines', lines, 200],
    [post, '/orders', 'payments', Array(9_900).fill(null), 20],
    [post, '/orders/1/returns', 'lines', Array(9_900).fill({}), 200],
    [post, '/orders/1/shipments', 'lines', Array(9_900).fill(1), 200],
    [put, '/settings', 'gateways', Array(9_900).fill(null), 200],
  ]
  for (const [send, path, field, entries, maxEntries] of lists) {
    const { status, json } = await send(api, path, { [field]: entries }, { 'if-match': '*' })
    assert.ok([400, 422].includes(status), `${path}: ${status}`)
    const errors = (json.errors as FieldError[]).filter(({ pointer }) => pointer?.startsWith(`/${field}`))
    const detail = `\`${field}\` can have at most ${maxEntries} entries.`
    assert.deepEqual(errors, [{ pointer: `/${field}`, code: 'invalid_field', detail }], path)
  }
})

test('403 and 404 are returned before the body arrives', async () => {
  const visitor = await api.createAccount('visitor')
  const bodyHeaders = ['Content-Type: application/json', 'Content-Length: 5000']
  const asVisitor = buildHead(...bodyHeaders).replace(
    /Authorization: .*/,
    `Authorization: ${buildCredentials(visitor).authorization}`,
  )
  assert.match(await sendHead(asVisitor), /^HTTP\/1.1 403 [\s\S]*"code":"insufficient_role"/)
  const stranger = buildHead(...bodyHeaders).replace(/Authorization: .*/, 'Authorization: Basic eDp5')
  assert.match(await sendHead(stranger), /^HTTP\/1.1 401 /)
  assert.match(await sendHead(buildHead(...bodyHeaders).replace('/customers', '/nowhere')), /^HTTP\/1.1 404 /)
  assert.match(await sendHead(buildHead(...bodyHeaders).replace('/customers', '/stores')), /^HTTP\/1.1 405 /)
})

test('an unexpected body is detected by its bytes, also over HTTP/2', async () => {
  const path = '/mappings/check'
  const sendCheck = (headers: Record<string, string>, body = '') => api.request(path, { method: 'POST', headers, body })
  assert.equal((await sendCheck({ 'transfer-encoding': 'chunked' })).status, 202)
  assert.equal((await sendCheck({ 'content-type': 'application/json' }, '{}')).status, 202)
  for (const type of ['text/plain', 'text/csv', 'application/x-ndjson'])
    assertProblem(await sendCheck({ 'content-type': type }, '{}'), 'unsupported_media_type', api.baseUrl)
  const server = await startSecondServer(api, { environment: { HTTP2: 'true' } })
  const session = connect(server.baseUrl.replace('localhost', '127.0.0.1'), { ca: server.ca })
  try {
    for (const [body, type, status] of [
      ['{}', 'text/plain', 415],
      ['x', 'text/csv', 415],
      ['{}', 'application/json', 202],
      ['', 'text/plain', 202],
    ] as const) {
      const headers = { ':path': path, ':method': 'POST', 'content-type': type }
      const stream = session.request(Object.assign(headers, buildCredentials(api))).resume()
      stream.end(body)
      const [responseHeaders] = await once(stream, 'response')
      assert.equal(responseHeaders[':status'], status, `${type} ${body}`)
    }
  } finally {
    session.destroy()
    await server.stop()
  }
})
