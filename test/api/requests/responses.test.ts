import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { errorCodes } from '../../../src/errors/api-error.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { buildCustomers } from '../../support/paginate.ts'
import { assertCommonHeaders, assertProblem } from '../../support/problem.ts'
import { startTestApi, type TestApi } from '../../support/service.ts'

let api: TestApi
before(async () => {
  api = await startTestApi({ settings: { readsPerMinute: 'off' } })
  await upsertCustomers(api.db, api.service, buildCustomers(1, 2))
})
after(() => api.stop())

const customerPath = '/customers/000001'

test('every response has the standard headers', async () => {
  const { baseUrl } = api
  assertCommonHeaders(await api.get('/stores'))
  assertCommonHeaders(await api.get(customerPath))
  for (const path of [
    '/health/live',
    '/health/ready',
    '/openapi.json',
    '/docs',
    '/docs/site.js',
    '/docs/shop/checkout.md',
    '/docs/api',
    '/docs/api/viewer.js',
    '/docs/api/reference.js',
    '/llms.txt',
    '/docs/icon.svg',
    '/changelog',
    '/errors/not_found',
  ]) {
    const response = await api.sendRaw(path)
    assert.equal(response.status, 200, path)
    assertCommonHeaders(response)
  }
  assertProblem(await api.sendRaw('/stores'), 'invalid_credentials', baseUrl, '/stores')
  assertProblem(await api.get('/stores', { 'x-service-name': undefined }), 'service_name_required', baseUrl, '/stores')
  assertProblem(await api.get('/stores', { 'x-service-name': 'other' }), 'service_not_assigned', baseUrl, '/stores')
  assertProblem(await api.get('/stores?nope=1'), 'invalid_parameter', baseUrl, '/stores?nope=1')
  assertProblem(await api.get('/customers/9'), 'not_found', baseUrl, '/customers/9')
  assertProblem(await api.request('/stores', { method: 'PUT' }), 'method_not_allowed', baseUrl, '/stores')
  assertProblem(await api.get('/customers/%zz'), 'invalid_parameter', baseUrl)
  assertProblem(await api.get(`/stores?${'x'.repeat(9_000)}`), 'uri_too_long', baseUrl)
  assertProblem(await api.get('/stores', { 'x-large': 'x'.repeat(17_000) }), 'headers_too_large', baseUrl)
})

test('each error type links to its page', async () => {
  for (const [code, { status, title }] of Object.entries(errorCodes)) {
    const { json } = code === 'not_found' ? await api.get('/nowhere') : { json: undefined }
    const address = json ? new URL(json.type).pathname : `/errors/${code}`
    const response = await api.sendRaw(address)
    assert.equal(response.status, 200, code)
    assert.match(String(response.headers['content-type']), /^text\/html/)
    assert.ok(response.text.includes(`<h1>${code}</h1>`) && response.text.includes(String(status)), `${code}: ${title}`)
  }
  for (const path of ['/errors/nope', '/errors/__proto__', '/errors/constructor'])
    assertProblem(await api.sendRaw(path), 'not_found', api.baseUrl, path)
})

test('each error page is available as Markdown with the next action', async () => {
  const actions: Partial<Record<string, string>> = {
    invalid_field: 'fix_request',
    invalid_cursor: 'fix_request',
    invalid_credentials: 'ask_admin',
    insufficient_role: 'ask_admin',
    rate_limited: 'retry_later',
    too_many_failures: 'retry_later',
    concurrent_update: 'retry',
    idempotency_in_progress: 'retry_later',
    precondition_failed: 'read_again',
    mapping_changed: 'read_again',
    back_office_unavailable: 'retry_later',
    outcome_unknown: 'retry_with_same_key',
    internal_error: 'ask_operator',
  }
  for (const [code, { status, title, remedy }] of Object.entries(errorCodes)) {
    const response = await api.sendRaw(`/errors/${code}`, { headers: { accept: 'text/markdown, text/html;q=0.5' } })
    assert.deepEqual([response.status, response.headers['content-type']], [200, 'text/markdown; charset=utf-8'])
    assert.equal(response.headers.vary, 'accept')
    const [, next = ''] = /^---\ncode: \w+\nstatus: \d+\nnext: (\w+)\n---\n/.exec(response.text) ?? []
    assert.match(next, /^(fix_request|read_again|retry|retry_later|retry_with_same_key|ask_admin|ask_operator)$/, code)
    assert.equal(next, actions[code] ?? next, code)
    for (const text of [`code: ${code}\n`, `status: ${status}\n`, title, remedy])
      assert.ok(response.text.includes(text), `${code}: ${text}`)
    assert.equal((await api.sendRaw(`/errors/${code}.md`)).text, response.text)
  }
  const browser = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }
  assert.match(String((await api.sendRaw('/errors/not_found', browser)).headers['content-type']), /^text\/html/)
  assertProblem(await api.sendRaw('/errors/nope.md'), 'not_found', api.baseUrl, '/errors/nope.md')
})

test('a record that the client already has returns 304', async () => {
  const { headers, text } = await api.get(customerPath)
  const etag = String(headers.etag)
  assert.match(etag, /^"[\w-]{22}"$/)
  for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, `"other",W/${etag} , "x"`, '*']) {
    const response = await api.get(customerPath, { 'if-none-match': tag })
    assert.equal(response.status, 304, tag)
    assert.equal(response.text, '')
    assert.equal(response.headers.etag, etag)
    assertCommonHeaders(response)
  }
  for (const other of ['"other"', etag.slice(1, -1), etag.toUpperCase(), '', `"${etag}"`]) {
    const response = await api.get(customerPath, { 'if-none-match': other })
    assert.equal(response.status, 200, other)
    assert.equal(response.text, text)
  }
  assertProblem(await api.get('/customers/9', { 'if-none-match': '*' }), 'not_found', api.baseUrl, '/customers/9')
})

test('a changed record has a new ETag', async () => {
  const original = await api.get('/customers/000002')
  await upsertCustomers(api.db, api.service, [{ id: '000002', firstname: 'Changed' }])
  const current = await api.get('/customers/000002', { 'if-none-match': String(original.headers.etag) })
  assert.equal(current.status, 200)
  assert.notEqual(current.headers.etag, original.headers.etag)
  assert.equal(current.json.data.firstname, 'Changed')
})

test('HEAD returns the headers of GET without the body', async () => {
  for (const path of [customerPath, '/stores', '/health/live', '/docs', '/openapi.json']) {
    const [get, head] = [await api.get(path), await api.request(path, { method: 'HEAD' })]
    assert.equal(head.status, 200, path)
    assert.equal(head.text, '')
    for (const name of ['content-type', 'content-length', 'etag', 'cache-control'])
      assert.equal(head.headers[name], get.headers[name], `${name} of ${path}`)
    assertCommonHeaders(head)
  }
  for (const [path, status] of [
    ['/customers/9', 404],
    ['/stores?nope=1', 400],
    ['/nowhere', 404],
  ] as const) {
    const head = await api.request(path, { method: 'HEAD' })
    assert.equal(head.status, status)
    assert.equal(head.text, '')
  }
  assert.equal((await api.sendRaw('/stores', { method: 'HEAD' })).status, 401)
  const headers = { 'if-none-match': String((await api.get(customerPath)).headers.etag) }
  assert.equal((await api.request(customerPath, { method: 'HEAD', headers: headers })).status, 304)
})

test('a harmless request ID is returned unchanged', async () => {
  for (const id of ['a', 'order-8001', '0f8fad5b-d9cb-469f-a165-70867728950e', 'a.b:c_d-1', 'x'.repeat(128)]) {
    assert.equal((await api.get('/stores', { 'x-request-id': id })).headers['x-request-id'], id)
    assert.equal((await api.get('/customers/9', { 'x-request-id': id })).json.requestId, id)
    assert.equal((await api.get('/%zz', { 'x-request-id': id })).json.requestId, id)
  }
})

test('an invalid request ID is replaced with a new one', async () => {
  const ids = new Set<string>()
  for (const id of [
    '',
    ' ',
    'a b',
    'x'.repeat(129),
    'x'.repeat(10_000),
    '<script>',
    '"',
    '{"a":1}',
    'é',
    '\u001b[31m'.slice(1),
    'a,b',
    '../x',
  ]) {
    const { headers, status } = await api.get('/stores', { 'x-request-id': id })
    assert.equal(status, 200)
    assert.match(String(headers['x-request-id']), /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/, id)
    ids.add(String(headers['x-request-id']))
  }
  ids.add(String((await api.get('/stores', { 'x-request-id': ['a', 'b'] })).headers['x-request-id']))
  assert.equal(ids.size, 13)
})

test('a malformed trace header is ignored', async () => {
  for (const traceparent of [
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    '',
    'garbage',
    '00-0-0-0',
    'x'.repeat(10_000),
    "'; drop table customer",
  ])
    assert.equal((await api.get('/stores', { traceparent })).status, 200)
})

test('responses are UTF-8 JSON with records as they were written', async () => {
  const name = '\u{1F469}\u200d\u{1F680} Zoë "\\" O\u2019Brien שלום \u202e'
  await upsertCustomers(api.db, api.service, [{ id: 'utf', firstname: name }])
  for (const path of ['/customers/utf', '/customers/search']) {
    const { headers, json } = await api.get(path)
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    const record = Array.isArray(json.data) ? json.data.find(({ id }: { id: string }) => id === 'utf') : json.data
    assert.equal(record.firstname, name)
  }
})
