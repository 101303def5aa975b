import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ErrorCode } from '../../../src/errors/api-error.ts'
import { assertProblem } from '../../support/problem.ts'
import { buildCredentialLines, sendBytes } from '../../support/servers.ts'
import { startTestApi, type TestApi } from '../../support/service.ts'

let api: TestApi
before(async () => {
  api = await startTestApi({ settings: { readsPerMinute: 'off' } })
})
after(() => api.stop())

const getRejection = async (path: string, code: ErrorCode) => {
  const response = await api.get(path)
  assertProblem(response, code, api.baseUrl, path)
  return response.json
}

test('unknown parameters are rejected by name, including inherited property names', async () => {
  for (const name of [
    'nope',
    'offset',
    'page',
    'Limit',
    'updatedAfter',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
  ]) {
    for (const path of [
      '/stores',
      '/customers/search',
      '/customers/1',
      '/payment-gateways',
      '/settings',
      '/rewards/programs',
    ]) {
      const { errors } = await getRejection(`${path}?${name}=1`, 'invalid_parameter')
      assert.deepEqual(
        errors.map(({ parameter }: { parameter: string }) => parameter),
        [name],
      )
    }
  }
  for (const query of ['=1', 'limit[]=1', 'limit%00=1', '%F0%9F%98%80=1', 'a;b=1', `${'x'.repeat(4_000)}=1`])
    await getRejection(`/stores?${query}`, 'invalid_parameter')
})

test('all errors of a request are listed with their parameters', async () => {
  const query = 'limit=0&limit=5&updated_after=soon&updated_before=2023-02-30&asc=yes&after_cursor=x&nope=1&sku='
  const { errors, code } = await getRejection(`/orders/transactions/search?${query}`, 'invalid_parameter')
  assert.equal(code, 'invalid_parameter')
  assert.deepEqual(
    Object.fromEntries(errors.map((error: { parameter: string; code: string }) => [error.parameter, error.code])),
    {
      limit: 'invalid_parameter',
      updated_after: 'invalid_timestamp',
      updated_before: 'invalid_timestamp',
      asc: 'invalid_parameter',
      after_cursor: 'invalid_cursor',
      nope: 'invalid_parameter',
      sku: 'invalid_parameter',
    },
  )
})

test('errors between parameters are reported with errors of single parameters', async () => {
  for (const [path, expected] of [
    [
      '/orders/transactions/search?updated_after=2024-02-02&updated_before=2024-02-01&nope=1',
      ['nope', 'updated_before'],
    ],
    ['/customers?limit=0', ['limit', 'email']],
    ['/customers?email=a@example.com&updated_after=2023-02-30', ['updated_after', 'updated_after']],
    ['/customers?email=', ['email']],
    ['/vouchers/1?amount=1&pin=1', ['pin', 'amount']],
  ] as const) {
    const { status, json } = await api.get(path)
    assert.equal(status, 400, path)
    assert.deepEqual(
      json.errors.map(({ parameter }: { parameter: string }) => parameter),
      expected,
      path,
    )
  }
})

test('an absolute request URL from a proxy is accepted', async () => {
  const headerLines = `Host: a\r\n${buildCredentialLines(api)}Connection: close`
  const response = await sendBytes(api, `GET https://a.example/stores/none HTTP/1.1\r\n${headerLines}\r\n\r\n`)
  assert.match(response, /^HTTP\/1.1 404 /)
  assert.match(response, /"instance":"\/stores\/none"/)
})

test('`asc` must be exactly true or false', async () => {
  for (const text of ['true', 'false'])
    assert.equal((await api.get(`/orders/transactions/search?asc=${text}`)).status, 200)
  for (const query of [
    'asc=TRUE',
    'asc=True',
    'asc=1',
    'asc=0',
    'asc=',
    'asc',
    'asc=yes',
    'asc=true&asc=true',
    'asc=true&asc=false',
    'asc=%20true',
  ])
    await getRejection(`/orders/transactions/search?${query}`, 'invalid_parameter')
})

test("an error response never repeats the request's values", async () => {
  const canary = 'c4n4ry-9f31'
  for (const query of [
    `email=${canary}%0A`,
    `limit=${canary}`,
    `updated_after=${canary}`,
    `after_cursor=${canary}`,
    `email=%00${canary}`,
  ]) {
    const { text, status } = await api.get(`/customers?${query}`)
    assert.equal(status, 400)
    assert.doesNotMatch(text, /c4n4ry/)
  }
  const { text } = await api.get('/stores?%3Cscript%3E=1')
  assert.doesNotMatch(text, /<script>/)
})

test('control characters are rejected in parameters and identifiers', async () => {
  for (const code of ['%00', '%01', '%0A', '%0D%0A', '%1B', '%7F']) {
    await getRejection(`/staff?email=a${code}b`, 'invalid_parameter')
    await getRejection(`/inventory?sku=${code}`, 'invalid_parameter')
    await getRejection(`/products?code=a${code}`, 'invalid_parameter')
    for (const path of [
      `/customers/${code}`,
      `/customers/a${code}b/transactions`,
      `/stores/${code}`,
      `/errors/a${code}`,
    ])
      assertProblem(await api.get(path), 'not_found', api.baseUrl, path)
  }
})

test('wildcards and quotes are ordinary characters', async () => {
  for (const text of [
    '%25',
    '_',
    "'",
    '"',
    '\\',
    "' or '1'='1",
    '*',
    '.*',
    '{{7*7}}',
    'a'.repeat(250),
    '\u{1F600}',
    'İ',
  ]) {
    const encoded = text === '%25' ? text : encodeURIComponent(text)
    const email = `${text === "' or '1'='1" ? 'or' : encoded.slice(0, 230)}@example.com`
    for (const path of [
      `/staff?email=${email}`,
      `/staff?code=${encoded}`,
      `/customers?email=${email}`,
      `/stores?ecommerce_location_id=${encoded}`,
    ]) {
      const { status, json } = await api.get(path)
      assert.equal(status, 200, path)
      assert.deepEqual(json.data, [], path)
    }
    assert.equal((await api.get(`/inventory?sku=${encoded}`)).status, 404)
  }
  await getRejection(`/staff?email=${'a'.repeat(251)}`, 'invalid_parameter')
})

test('a malformed path is rejected and an unknown one is not found', async () => {
  for (const path of ['/%zz', '/customers/%c0%af', '/customers/%', '/customers/%ff'])
    assertProblem(await api.get(path), 'invalid_parameter', api.baseUrl)
  for (const path of [
    '/',
    '/nowhere',
    '//stores',
    '/stores//',
    '/STORES',
    '/Stores',
    '/stores.json',
    '/customers/1/',
    '/customers/1/nowhere',
    '/customers/a%2fb',
    `/customers/${'x'.repeat(251)}`,
    `/customers/${'x'.repeat(501)}`,
    '/orders/1/nowhere',
    '/.env',
    '/favicon.ico',
  ])
    assertProblem(await api.get(path), 'not_found', api.baseUrl)
})

test('dots in a path cannot bypass routing', async () => {
  const head = `Host: localhost\r\n${buildCredentialLines(api)}Connection: close\r\n\r\n`
  for (const path of [
    '/customers/../stores',
    '/customers/%2e%2e/stores',
    '/./stores',
    '/health/../settings',
    '/docs/..%2f..%2fpackage.json',
  ])
    assert.match(await sendBytes(api, `GET ${path} HTTP/1.1\r\n${head}`), /^HTTP\/1.1 404 /, path)
})
