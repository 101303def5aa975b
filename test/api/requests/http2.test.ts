import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, connect, constants, type OutgoingHttpHeaders } from 'node:http2'
import { after, test } from 'node:test'
import { assertProblem } from '../../support/problem.ts'
import { buildCredentials, captureLog, parseStatuses, sendBytes, startSecondServer } from '../../support/servers.ts'
import { startTestApi } from '../../support/service.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
after(() => api.stop())
const captured = captureLog('warn')
const server = await startSecondServer(api, { environment: { HTTP2: 'true' }, log: captured.log })
after(() => server.stop())

const address = server.baseUrl.replace('localhost', '127.0.0.1')
const credentials = buildCredentials(api)

async function sendRequest(session: ClientHttp2Session, path: string, headers: OutgoingHttpHeaders = {}) {
  const stream = session.request({ ':path': path, ...headers })
  const [responseHeaders] = await once(stream, 'response')
  let text = ''
  for await (const chunk of stream) text += chunk
  return { status: responseHeaders[':status'], headers: responseHeaders, text, json: JSON.parse(text) }
}

/** Sends a request over a new connection. */
async function sendAlone(path: string, headers?: OutgoingHttpHeaders) {
  const session = connect(address, { ca: server.ca })
  try {
    return await sendRequest(session, path, headers)
  } finally {
    session.close()
  }
}

test('HTTP/2 requests get the same responses as HTTP/1.1', async () => {
  const response = await sendAlone('/stores', credentials)
  assert.equal(response.status, 200)
  assert.deepEqual(response.json.data, [])
  assertProblem(await sendAlone('/customers/9', credentials), 'not_found', server.baseUrl, '/customers/9')
  assertProblem(await sendAlone('/stores'), 'invalid_credentials', server.baseUrl, '/stores')
  const manyHeaders = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`x-${i}`, '1']))
  for (const more of [manyHeaders, { 'x-large': 'x'.repeat(17_000) }])
    assertProblem(
      await sendAlone('/stores', { ...credentials, ...more }),
      'headers_too_large',
      server.baseUrl,
      '/stores',
    )
})

test('a URL is limited to 8 KiB and headers to 16 KiB', async () => {
  const path = `/stores?${'x'.repeat(8 * 1024 - 8)}`
  for (const [length, code] of [
    [15_000, 'invalid_parameter'],
    [16 * 1024, 'headers_too_large'],
  ] as const) {
    const headers = { ...credentials, 'x-large': 'x'.repeat(length) }
    for (const response of [await sendAlone(path, headers), await server.sendRequest(path, { headers })])
      assert.equal(response.json.code, code)
    for (const response of [await sendAlone(`${path}x`, headers), await server.sendRequest(`${path}x`, { headers })])
      assert.equal(response.json.code, 'uri_too_long')
  }
})

test('HTTP/1.1 is supported on the same port', async () => {
  assert.equal((await server.sendRequest('/stores', { headers: credentials })).status, 200)
  assert.deepEqual(parseStatuses(await sendBytes(server, 'GET /stores HTTP/1.1\r\nHost : a\r\n\r\n')), [400])
})

test('an unknown method is rejected and not logged as an error', async () => {
  for (const method of ['FOO', 'get', 'x'.repeat(1_000)]) {
    const response = await sendAlone('/stores', { ...credentials, ':method': method })
    assertProblem(response, 'malformed_request', server.baseUrl, '/stores')
    assert.equal(response.headers['x-request-id'], response.json.requestId)
  }
  assert.equal(captured.text, '')
})

test('a `host` that differs from `:authority` is rejected', async () => {
  const authority = new URL(server.baseUrl).host
  for (const host of ['shop.example', `${authority}0`])
    assertProblem(
      await sendAlone('/stores', { ...credentials, ':authority': authority, host }),
      'malformed_request',
      server.baseUrl,
      '/stores',
    )
  for (const host of [authority, authority.toUpperCase()])
    assert.equal((await sendAlone('/stores', { ...credentials, ':authority': authority, host })).status, 200)
  assert.equal(
    (await sendAlone('/stores', { ...credentials, host: 'shop.example' })).status,
    200,
    'without `:authority`, any `host` must be accepted',
  )
})

test('a connection can have 100 concurrent requests, and more are rejected', async () => {
  const session = connect(address, { ca: server.ca, peerMaxConcurrentStreams: 1_000 })
  const outcomes = Array.from({ length: 300 }, async () => {
    const stream = session.request({ ':path': '/stores', ...credentials }).resume()
    await once(stream, 'close').catch(() => {})
    return stream.rstCode
  })
  const codes = await Promise.all(outcomes)
  session.close()
  assert.equal(session.remoteSettings.maxConcurrentStreams, 100)
  const { NGHTTP2_NO_ERROR: noError, NGHTTP2_REFUSED_STREAM: refused } = constants
  assert.deepEqual(
    [noError, refused].map(code => codes.filter(received => received === code).length),
    [100, 200],
  )
})

test('a client with 1,000 concurrent requests does not delay others', async () => {
  const session = connect(address, { ca: server.ca, peerMaxConcurrentStreams: 1_000 })
  const other = connect(address, { ca: server.ca })
  await Promise.all([once(session, 'remoteSettings'), once(other, 'remoteSettings')])
  let responseCount = 0
  const count = () => {
    responseCount++
  }
  for (let i = 0; i < 1_000; i++) sendRequest(session, '/stores', credentials).then(count, () => {})
  await new Promise(setImmediate)
  const counts = []
  for (let i = 0; i < 3; i++) {
    const countBefore = responseCount
    await sendRequest(other, '/stores', credentials)
    counts.push(responseCount - countBefore)
  }
  session.destroy()
  other.close()
  assert.ok(
    Math.max(...counts) < 250,
    `responses to the 1,000 requests before each response to the other client: ${counts.join(' ')}`,
  )
})
