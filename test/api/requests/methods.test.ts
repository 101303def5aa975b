import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertCommonHeaders, assertProblem } from '../../support/problem.ts'
import { buildCredentials, sendBytes } from '../../support/servers.ts'
import { startTestApi, type TestApi } from '../../support/service.ts'

let api: TestApi
before(async () => {
  api = await startTestApi({ settings: { readsPerMinute: 'off' } })
})
after(() => api.stop())

const buildBody = (type: string, body: string) => ({
  headers: { 'content-type': type, 'content-length': String(Buffer.byteLength(body)) },
  body,
})
const bodies = [
  {},
  buildBody('application/json', '{"bad'),
  buildBody('application/json', ''),
  buildBody('application/json', JSON.stringify({ text: 'x'.repeat(2_000_000) })),
  buildBody('text/xml', '<a/>'),
  buildBody('multipart/form-data', 'x'),
  buildBody('nonsense', 'x'),
]

const paths = {
  '/stores': 'GET, HEAD',
  '/customers': 'GET, HEAD, POST',
  '/customers/1': 'GET, HEAD, PUT, DELETE',
  '/customers/search': 'GET, HEAD',
  '/customers/1/transactions': 'GET, HEAD',
  '/settings': 'GET, HEAD, PUT',
  '/audit': 'GET, HEAD',
  '/health/live': 'GET, HEAD',
  '/openapi.json': 'GET, HEAD',
  '/docs': 'GET, HEAD',
  '/st%6Fres': 'GET, HEAD',
  '/errors/not_found': 'GET, HEAD',
}

test('a known path rejects other methods with `Allow`, for any body', async () => {
  for (const [path, allowed] of Object.entries(paths))
    for (const method of [
      'DELETE',
      'PATCH',
      'PUT',
      'POST',
      'TRACE',
      'OPTIONS',
      'PROPFIND',
      'QUERY',
      'SEARCH',
      'MKCOL',
    ].filter(name => !allowed.split(', ').includes(name)))
      for (const body of method === 'PUT' || method === 'POST' ? bodies : bodies.slice(0, 3)) {
        const response = await api.request(path, { method, ...body })
        assertProblem(response, 'method_not_allowed', api.baseUrl, path)
        assert.equal(response.headers.allow, allowed, `${method} ${path}`)
        assert.equal(response.json.detail, `This path doesn't support this method; use one of ${allowed}.`)
      }
})

test('an unknown path is 404 for any method and body', async () => {
  for (const method of ['DELETE', 'PATCH', 'PUT', 'POST', 'TRACE', 'OPTIONS', 'PROPFIND', 'QUERY'])
    for (const body of bodies.slice(0, 3)) {
      const response = await api.request('/nowhere', { method, ...body })
      assertProblem(response, 'not_found', api.baseUrl, '/nowhere')
      assert.equal(response.json.detail, 'Path not found. The API reference at /docs/api lists all paths.')
    }
})

test('a client that does not accept JSON gets 406', async () => {
  for (const accept of [
    'text/xml',
    'text/html',
    'image/*',
    'application/xml, text/*;q=0.5',
    'application/json;q=0',
    'application/json;q=0, */*',
    '',
  ])
    assertProblem(await api.get('/stores', { accept }), 'not_acceptable', api.baseUrl, '/stores')
  for (const accept of [
    'application/json',
    '*/*',
    'application/*',
    'text/html, */*;q=0.1',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'text/xml, application/json;q=0.001',
  ])
    assert.equal((await api.get('/stores', { accept })).status, 200, accept)
  assert.equal((await api.sendRaw('/docs', { headers: { accept: 'text/html' } })).status, 200)
})

test('a URL can have at most 8 KiB', async () => {
  const longest = `/stores?ecommerce_location_id=${'x'.repeat(8 * 1024 - 30)}`
  assert.equal(longest.length, 8 * 1024)
  assertProblem(await api.get(longest), 'invalid_parameter', api.baseUrl, longest)
  assertProblem(await api.get(`${longest}x`), 'uri_too_long', api.baseUrl, longest)
})

test('a request can have at most 100 headers of 16 KiB', async () => {
  const { authorization } = buildCredentials(api)
  const baseHeaders = [
    'Host: localhost',
    `Authorization: ${authorization}`,
    `X-Service-Name: ${api.service.name}`,
    'Connection: close',
  ]
  const buildRequest = (count: number) => {
    const more = Array.from({ length: count - baseHeaders.length }, (_, i) => `X-${i}: ${i}`)
    return `GET /stores HTTP/1.1\r\n${[...baseHeaders, ...more].join('\r\n')}\r\n\r\n`
  }
  assert.match(await sendBytes(api, buildRequest(100)), /^HTTP\/1.1 200 /)
  for (const count of [101, 1_200]) {
    const response = await sendBytes(api, buildRequest(count))
    assert.match(response, /^HTTP\/1.1 431 /)
    assert.match(response, /"code":"headers_too_large"/)
  }
  assert.equal((await api.get('/stores', { 'x-large': 'x'.repeat(15 * 1024) })).status, 200)
  const large = await api.get('/stores', { 'x-large': 'x'.repeat(16 * 1024) })
  assertProblem(large, 'headers_too_large', api.baseUrl)
  assertCommonHeaders(large)
})
