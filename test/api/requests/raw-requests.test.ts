import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as plainRequest } from 'node:http'
import { connect, createServer } from 'node:net'
import { after, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { assertProblem } from '../../support/problem.ts'
import {
  buildCredentialLines,
  buildCredentials,
  createRequester,
  openTls,
  parseStatuses,
  sendBytes,
  startSecondServer,
} from '../../support/servers.ts'
import { startTestApi } from '../../support/service.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
after(() => api.stop())

const credentialLines = buildCredentialLines(api)

const getPort = ({ baseUrl }: { baseUrl: string }) => Number(new URL(baseUrl).port)

test('plain HTTP on the TLS port is closed without a response', async () => {
  const socket = connect(getPort(api), '127.0.0.1')
  socket.write(`GET /stores HTTP/1.1\r\nHost: localhost\r\n${credentialLines}\r\n`)
  let received = ''
  socket.on('data', chunk => {
    received += chunk
  })
  socket.on('error', () => {})
  await once(socket, 'close')
  assert.doesNotMatch(received, /HTTP|[ -~]{8}/, 'at most a TLS alert')
})

test('only TLS 1.2 and 1.3 are accepted', async () => {
  for (const version of ['TLSv1', 'TLSv1.1'] as const) {
    const socket = connectTls({
      port: getPort(api),
      host: '127.0.0.1',
      servername: 'localhost',
      ca: api.ca,
      minVersion: version,
      maxVersion: version,
      ciphers: 'DEFAULT@SECLEVEL=0',
    })
    const [error] = await once(socket, 'error')
    assert.match(String(error), /alert protocol version/)
  }
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = await openTls(api, { minVersion: version, maxVersion: version })
    assert.equal(socket.getProtocol(), version)
    socket.destroy()
  }
})

test('the plain port returns the reason, never data or a redirect', async () => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  await once(probe, 'close')
  const server = await startSecondServer(api, { environment: { PLAIN_PORT: String(port) } })
  try {
    for (const [method, path] of [
      ['GET', '/stores?limit=1'],
      ['POST', '/customers'],
      ['GET', '/health/live'],
    ] as const) {
      const clientRequest = plainRequest({
        port,
        host: '127.0.0.1',
        method,
        path,
        headers: buildCredentials(api),
      }).end()
      const [response] = await once(clientRequest, 'response')
      let text = ''
      for await (const chunk of response) text += chunk
      assert.equal(response.headers.location, undefined)
      assertProblem(
        { status: response.statusCode, headers: response.headers, text, json: JSON.parse(text) },
        'https_required',
        server.baseUrl,
        path,
      )
    }
  } finally {
    await server.stop()
  }
})

test('the forwarded scheme counts only from a trusted proxy', async () => {
  const server = await startSecondServer(api, { environment: { TRUSTED_PROXIES: '127.0.0.1' } })
  const withScheme = (scheme: string) => ({
    headers: { ...buildCredentials(api), 'x-forwarded-proto': scheme, 'x-forwarded-for': '203.0.113.7' },
  })
  try {
    assertProblem(await server.sendRequest('/stores', withScheme('http')), 'https_required', server.baseUrl, '/stores')
    assert.equal((await server.sendRequest('/stores', withScheme('https'))).status, 200)
    assert.equal(
      (await server.sendRequest('/stores', { ...withScheme('http'), from: '127.0.0.2' })).status,
      200,
      'an untrusted proxy must be ignored',
    )
    assert.equal(
      (await createRequester(api)('/stores', withScheme('http'))).status,
      200,
      'without trusted proxies, the header must be ignored',
    )
  } finally {
    await server.stop()
  }
})

test('ambiguous bytes are rejected and the connection is closed', async () => {
  const post = 'POST /customers HTTP/1.1\r\nHost: a\r\n'
  const get = 'GET /stores HTTP/1.1\r\n'
  const smuggled = `GET /settings HTTP/1.1\r\nHost: a\r\n${credentialLines}\r\n`
  const ambiguousRequests = {
    'length and chunks': `${post}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    'chunks and length': `${post}Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n${smuggled}`,
    'two lengths': `${post}Content-Length: 6\r\nContent-Length: 5\r\n\r\n0\r\n\r\nG`,
    'two equal lengths': `${post}Content-Length: 5\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
    'a list of lengths': `${post}Content-Length: 5, 6\r\n\r\n0\r\n\r\n`,
    'a negative length': `${post}Content-Length: -1\r\n\r\n`,
    'a length with a sign': `${post}Content-Length: +5\r\n\r\n0\r\n\r\n`,
    'a length that is too large': `${post}Content-Length: 99999999999999999999999\r\n\r\n`,
    'an unknown coding': `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`,
    'chunked not last': `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    'a chunk without a size': `${post}Transfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n`,
    'bare line feeds': `GET /stores HTTP/1.1\nHost: a\n${credentialLines.replaceAll('\r', '')}\n`,
    'one bare line feed': `${get}Host: a\nX-A: b\r\n\r\n`,
    'a bare carriage return': `${get}Host: a\r\nX-A: b\rX-B: c\r\n\r\n`,
    'a space before the colon': `${get}Host : a\r\n\r\n`,
    'a folded header': `${get}Host: a\r\nX-A: b\r\n c\r\n\r\n`,
    'NUL in a header': `${get}Host: a\r\nX-A: b\0c\r\n\r\n`,
    'no header name': `${get}Host: a\r\n: b\r\n\r\n`,
    'no Host': `${get}${credentialLines}\r\n`,
    'an empty Host': `${get}Host:\r\n${credentialLines}\r\n`,
    'two Hosts': `${get}Host: a\r\nHost: b\r\n${credentialLines}\r\n`,
    'two equal Hosts': `${get}Host: a\r\nHost: a\r\n${credentialLines}\r\n`,
    'another version': 'GET /stores HTTP/9.9\r\nHost: a\r\n\r\n',
    'HTTP/2.0 as text': 'GET /stores HTTP/2.0\r\nHost: a\r\n\r\n',
    'HTTP/0.9 as text': 'GET /stores HTTP/0.9\r\nHost: a\r\n\r\n',
    'a body of HTTP/2.0 as text': 'POST /customers HTTP/2.0\r\nHost: a\r\nContent-Length: 9\r\n\r\n',
    'HTTP/2 without its handshake': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'an unknown method': 'FOO /stores HTTP/1.1\r\nHost: a\r\n\r\n',
    'no HTTP at all': '\x16\x03\x01\x02\x00\x01\x00',
  }
  for (const [title, bytes] of Object.entries(ambiguousRequests)) {
    const response = await Promise.race([
      sendBytes(api, bytes),
      new Promise<string>(resolve => setTimeout(resolve, 3_000, 'left open')),
    ])
    assert.deepEqual(parseStatuses(response), [400], `${title}: ${response.slice(0, 200)}`)
    assert.match(response, /\r\nx-request-id: [\w-]{36}\r\n/, title)
    assert.match(response, /\r\ncontent-type: application\/problem\+json/, title)
    assert.match(response, /\r\nconnection: close\r\n/i, title)
  }
})

test('an unknown expectation is rejected and 100-continue is supported', async () => {
  const rejected = await sendBytes(
    api,
    `GET /stores?limit=1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: tea\r\nX-Request-Id: n1\r\n${credentialLines}\r\n`,
  )
  assert.deepEqual(parseStatuses(rejected), [417])
  for (const header of ['x-request-id: n1', 'cache-control', 'strict-transport-security', 'x-content-type-options'])
    assert.ok(rejected.includes(`\r\n${header}`), header)
  const { requestId, instance } = JSON.parse(rejected.slice(rejected.indexOf('\r\n\r\n')))
  assert.deepEqual({ requestId, instance }, { requestId: 'n1', instance: '/stores' })
  const accepted = await sendBytes(
    api,
    `GET /stores HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\n${credentialLines}\r\n`,
  )
  assert.deepEqual(parseStatuses(accepted), [100, 200])
})

test('an upgrade is ignored and no tunnel is opened', async () => {
  for (const protocol of ['websocket', 'h2c']) {
    const response = await sendBytes(
      api,
      `GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: upgrade, close\r\nUpgrade: ${protocol}\r\n\r\n`,
    )
    assert.deepEqual(parseStatuses(response), [200])
  }
  assert.deepEqual(parseStatuses(await sendBytes(api, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')), [])
})

test('50 pipelined requests are answered in order', async () => {
  const paths = Array.from({ length: 50 }, (_, i) => [`/customers/${i}`, '/stores', `/errors/none${i}`][i % 3])
  const bytes = paths.map(
    (path, i) =>
      `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Request-Id: n${i}\r\n${credentialLines}${i === 49 ? 'Connection: close\r\n' : ''}\r\n`,
  )
  const response = await sendBytes(api, bytes.join(''))
  assert.deepEqual(
    parseStatuses(response),
    paths.map(path => (path === '/stores' ? 200 : 404)),
  )
  const ids = [...response.matchAll(/\r\nx-request-id: (n\d+)\r\n/g)].map(([, id]) => id)
  assert.deepEqual(
    ids,
    paths.map((_, i) => `n${i}`),
  )
})
