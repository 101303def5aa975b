import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { buildCustomer } from '../../support/customer-bodies.ts'
import { getCreatedRecord } from '../../support/order-shop.ts'
import { assertProblem, getErrorDetails } from '../../support/problem.ts'
import { buildCredentialLines, sendBytes } from '../../support/servers.ts'
import { startTestApi } from '../../support/service.ts'
import { assertReplay, post, put, withKey } from '../../support/write.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
after(() => api.stop())
const { baseUrl } = api

const credentialLines = buildCredentialLines(api)
const long = 'x'.repeat(9_000)

test("a query with invalid percent-encoding is rejected with the parameter's name", async () => {
  for (const [query, parameter] of [
    ['email=%zz', 'email'],
    ['email=100%', 'email'],
    ['email=%ff', 'email'],
    ['email=%c0%af', 'email'],
    ['email=%ed%a0%80', 'email'],
    ['email=a%4', 'email'],
    ['email=a@b&limit=%3', 'limit'],
    ['%zz=1', '?zz'],
  ] as const) {
    const response = await api.get(`/customers?${query}`)
    assertProblem(response, 'invalid_parameter', baseUrl, '/customers')
    assert.deepEqual(
      response.json.errors.filter((error: { parameter: string }) => error.parameter === parameter),
      [
        {
          parameter,
          code: 'invalid_parameter',
          detail: `\`${parameter}\` must be percent-encoded UTF-8. Write a \`%\` as \`%25\`.`,
        },
      ],
      query,
    )
  }
  assert.equal((await api.get('/customers?email=100%25@b')).status, 200)
})

test('a text that is no email address is rejected in a look-up', async () => {
  for (const path of ['/customers', '/staff']) {
    const getDetails = async (text: string) => {
      const response = await api.get(`${path}?email=${text}`)
      assertProblem(response, 'invalid_parameter', baseUrl, path)
      return getErrorDetails(response)
    }
    const hint = ['`email` has a space. Write `+` as `%2B` in a URL.']
    for (const text of ['ann+shop@example.com', 'ann%20shop@example.com', 'a+b+c@example.com'])
      assert.deepEqual(await getDetails(text), hint, text)
    for (const text of ['notanemail', 'ann', '@example.com', 'ann@', 'a@b@example.com+', '++', 'a%C2%A0b@example.com'])
      assert.deepEqual(await getDetails(text), ['`email` must be an email address.'], text)
    assert.deepEqual(await getDetails('ann%0A@example.com'), ["`email` can't contain a line break (character 4)."])
    for (const text of ['ann%2Bshop@example.com', 'a..b@docomo.example', '%22a%20b%22@example.com'])
      assert.equal((await api.get(`${path}?email=${text}`)).status, 200, text)
  }
})

test('a `+` decoded as a space is explained in the error', async () => {
  const detail = '`updated_after` has a space where its offset starts. Write `+` as `%2B` in a URL.'
  for (const text of ['2024-05-10T09:30:00+10:00', '2024-05-10T09:30:00.5%2010:00', '2024-05-10T09:30:00+00:00']) {
    const response = await api.get(`/customers/search?updated_after=${text}`)
    assertProblem(response, 'invalid_timestamp', baseUrl, '/customers/search')
    assert.deepEqual(getErrorDetails(response), [detail], text)
  }
  for (const text of ['2024-02-30T09:30:00+10:00', '2024-02-30+09:30', '2024-05-10T09:30:00+now']) {
    const response = await api.get(`/customers/search?updated_after=${text}`)
    assertProblem(response, 'invalid_timestamp', baseUrl, '/customers/search')
    assert.doesNotMatch(getErrorDetails(response).join(), /%2B/, text)
  }
  for (const text of ['2024-05-10T09:30:00%2B10:00', '2024-05-10+09:30', '2024-05-10+09:30:00'])
    assert.equal((await api.get(`/customers/search?updated_after=${text}`)).status, 200, text)
})

test('a URL over 8 KiB is too long, whatever else is wrong', async () => {
  for (const path of [
    `/customers/${long}`,
    `/${long}`,
    `/orders/${long}/returns`,
    `/stores?x=${long}`,
    `/%zz${long}`,
  ]) {
    assertProblem(await api.get(path), 'uri_too_long', baseUrl, path)
    assertProblem(await api.sendRaw(path), 'uri_too_long', baseUrl, path)
    assertProblem(await api.request(path, { method: 'DELETE' }), 'uri_too_long', baseUrl, path)
  }
  assertProblem(await api.get(`/customers/${'x'.repeat(8_000)}`), 'not_found', baseUrl)
  assertProblem(await api.sendRaw(`/customers/${'x'.repeat(8_000)}`), 'invalid_credentials', baseUrl)
})

test('a malformed path is checked after the headers', async () => {
  const manyHeaders = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`x-${i}`, '1']))
  assertProblem(await api.get('/%zz', manyHeaders), 'headers_too_large', baseUrl, '/%zz')
  for (const path of ['/%zz', '/stores']) {
    assert.match(
      await sendBytes(api, `GET ${path} HTTP/1.1\r\n${credentialLines}\r\n`),
      /^HTTP\/1.1 400 [\s\S]*"code":"malformed_request"/,
    )
    assert.match(
      await sendBytes(
        api,
        `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${credentialLines}${credentialLines}\r\n`,
      ),
      /^HTTP\/1.1 400 [\s\S]*"code":"duplicate_header"/,
    )
  }
})

test('a trailing slash in a path changes no response', async () => {
  for (const path of ['/stores', '/customers', '/customers/search', '/orders', '/health/live', '/openapi.json']) {
    const [withoutSlash, withSlash] = [await api.get(path), await api.get(`${path}/`)]
    assert.equal(withSlash.status, withoutSlash.status, path)
    for (const method of ['DELETE', 'PATCH', 'OPTIONS', 'PROPFIND']) {
      const rejected = await api.request(`${path}/?x=%zz`, { method })
      assertProblem(rejected, 'method_not_allowed', baseUrl, path)
      assert.equal(rejected.headers.allow, (await api.request(path, { method })).headers.allow)
    }
  }
  assertProblem(await api.get('/customers/9/'), 'not_found', baseUrl, '/customers/9')
  assertProblem(await api.sendRaw('/stores/'), 'invalid_credentials', baseUrl, '/stores')
  assertProblem(await api.get('/nowhere/'), 'not_found', baseUrl, '/nowhere')
  for (const path of ['//', '/stores//', '//stores', '//stores/'])
    assertProblem(await api.get(path), 'not_found', baseUrl)
})

test('a trailing slash does not affect keys, audit entries or created records', async () => {
  const [body, key] = [buildCustomer(), withKey()]
  const first = await post(api, '/customers/', body, key)
  assert.match(String(first.headers.location), /^\/customers\/[^/]+$/)
  assertReplay(await post(api, '/customers', body, key), first)
  const { id } = getCreatedRecord(first)
  const changed = await put(api, `/customers/${id}/`, { surname: 'Smythe' })
  assert.deepEqual([changed.status, changed.json.data.surname], [200, 'Smythe'])
  const { json } = await api.get('/audit/')
  assert.deepEqual(
    json.data.map(({ operation, subject }: { operation: string; subject: string }) => [operation, subject]),
    [
      ['POST /customers', `/customers/${id}`],
      ['PUT /customers/:id', `/customers/${id}`],
    ],
  )
})

test('a cursor from a path with slash is valid without it', async () => {
  await post(api, '/customers', buildCustomer({ contact: { email: 'second@example.com' } }))
  const { json } = await api.get('/customers/search/?limit=1')
  const next = await api.get(`/customers/search?limit=1&after_cursor=${json.meta.endCursor}`)
  assert.deepEqual([next.status, next.json.data.length], [200, 1])
})

test('a page with relative links is served without the trailing slash', async () => {
  for (const path of ['/docs', '/errors/not_found']) {
    const { status, headers } = await api.sendRaw(`${path}/`)
    assert.deepEqual([status, headers.location], [308, path])
  }
})

test('`/` redirects browsers to the reference and gives others its address', async () => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  for (const accept of [browser, 'TEXT/HTML', '*/*, text/html;q=0.1']) {
    const { status, headers, text } = await api.sendRaw('/', { headers: { accept } })
    assert.deepEqual([status, headers.location, text], [302, '/docs', ''], accept)
  }
  for (const headers of [
    {},
    ...['*/*', 'application/json', 'text/html;q=0, */*', 'text/xml', ''].map(accept => ({ accept })),
  ]) {
    const response = await api.sendRaw('/', { headers })
    assertProblem(response, 'not_found', baseUrl, '/')
    assert.match(response.json.detail, /`\/docs`.*`\/openapi\.json`/)
  }
})
