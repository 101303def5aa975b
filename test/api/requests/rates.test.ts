import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createRateLimiter } from '../../../src/http/limits/rate-limit.ts'
import { assertProblem } from '../../support/problem.ts'
import { startTestApi, type TestApi } from '../../support/service.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.stop())

/** Parses a `RateLimit` header such as `"read";r=2;t=60`. */
const parseRateLimit = (header: unknown) => {
  const [, r, t] = /^"read";r=(\d+);t=(\d+)$/.exec(String(header)) ?? []
  return { r: Number(r), t: Number(t) }
}

test('responses show the rate limit; excess requests are rejected until the reset', async () => {
  const caller = await api.createService({ readsPerMinute: 3 })
  for (const [path, remaining] of [
    ['/stores', 2],
    ['/customers/9', 1],
    ['/stores?nope=1', 0],
  ] as const) {
    const { headers } = await caller.get(path)
    assert.equal(headers['ratelimit-policy'], '"read";q=3;w=60')
    assert.equal(parseRateLimit(headers.ratelimit).r, remaining)
    assert.ok(parseRateLimit(headers.ratelimit).t >= 1 && parseRateLimit(headers.ratelimit).t <= 60)
    assert.equal(headers['retry-after'], undefined)
  }
  for (let i = 0; i < 3; i++) {
    const response = await caller.get('/stores')
    assertProblem(response, 'rate_limited', api.baseUrl, '/stores')
    assert.equal(parseRateLimit(response.headers.ratelimit).r, 0)
    assert.equal(response.headers['retry-after'], String(parseRateLimit(response.headers.ratelimit).t))
  }
})

test('a disabled limit has no headers', async () => {
  const caller = await api.createService({ readsPerMinute: 'off' })
  for (let i = 0; i < 20; i++) {
    const { status, headers } = await caller.get('/stores')
    assert.equal(status, 200)
    assert.equal(headers['ratelimit-policy'], undefined)
    assert.equal(headers.ratelimit, undefined)
  }
})

test('each account has its own limit in each service', async () => {
  const [caller, other] = [
    await api.createService({ readsPerMinute: 2 }),
    await api.createService({ readsPerMinute: 2 }),
  ]
  const colleague = await api.createAccount('visitor', caller.service)
  for (let i = 0; i < 2; i++) await caller.get('/stores')
  assert.equal((await caller.get('/stores')).status, 429)
  assert.equal(parseRateLimit((await colleague.get('/stores')).headers.ratelimit).r, 1)
  assert.equal(parseRateLimit((await other.get('/stores')).headers.ratelimit).r, 1)
})

test('concurrent requests are counted one by one', async () => {
  const caller = await api.createService({ readsPerMinute: 10 })
  const responses = await Promise.all(Array.from({ length: 30 }, () => caller.get('/stores')))
  assert.equal(responses.filter(({ status }) => status === 200).length, 10)
  assert.equal(responses.filter(({ status }) => status === 429).length, 20)
})

test('a failed sign-in does not count towards the limit', async () => {
  const caller = await api.createService({ readsPerMinute: 5 })
  for (let i = 0; i < 3; i++) await caller.get('/stores', { authorization: 'Basic eDp5' })
  for (let i = 0; i < 3; i++) await caller.get('/stores', { 'x-service-name': 'other' })
  assert.equal(parseRateLimit((await caller.get('/stores')).headers.ratelimit).r, 4)
})

test('unknown paths and methods of an identified account have the headers too', async () => {
  const caller = await api.createService({ readsPerMinute: 4, writesPerMinute: 5 })
  for (const [method, path, code, remaining] of [
    ['GET', '/nope', 'not_found', 3],
    ['GET', '/customers/1/nope', 'not_found', 2],
    ['HEAD', '/nope/', undefined, 1],
    ['POST', '/nope', 'not_found', 4],
    ['DELETE', '/stores', 'method_not_allowed', 3],
    ['PROPFIND', '/stores', 'method_not_allowed', 2],
    ['PROPFIND', '/nope', 'not_found', 1],
    ['POST', '/customers', 'unsupported_media_type', 0],
    ['GET', '/nope', 'not_found', 0],
  ] as const) {
    const response = await caller.request(path, { method })
    const [policy, quota] = ['GET', 'HEAD'].includes(method) ? ['read', 4] : ['write', 5]
    assert.equal(response.headers['ratelimit-policy'], `"${policy}";q=${quota};w=60`, `${method} ${path}`)
    assert.match(
      String(response.headers.ratelimit),
      new RegExp(`^"${policy}";r=${remaining};t=\\d+$`),
      `${method} ${path}`,
    )
    if (code) assertProblem(response, code, api.baseUrl)
  }
  assertProblem(await caller.get('/nope'), 'rate_limited', api.baseUrl)
  assertProblem(await caller.request('/stores', { method: 'DELETE' }), 'rate_limited', api.baseUrl)
  for (const headers of [{}, { authorization: 'Basic eDp5', 'x-service-name': caller.service.name }]) {
    const response = await api.sendRaw('/nope', { headers })
    assertProblem(response, 'not_found', api.baseUrl)
    assert.equal(response.headers.ratelimit, undefined)
  }
})

test('public pages do not count towards the limit', async () => {
  const { headers } = await api.sendRaw('/health/live')
  assert.equal(headers.ratelimit, undefined)
})

test('the remaining time of a minute is from 1 to 60 seconds', t => {
  // The clock starts at 7 s and has fractions of milliseconds.
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const rate = createRateLimiter()
  for (let i = 0; i < 5_000; i++) {
    now = 7_000 + i * 1.000_037
    for (const elapsed of [0, 59_999.9]) {
      now += elapsed
      const { resetsIn } = rate(api.service, `user${i}`, 'read') ?? { resetsIn: 0 }
      assert.equal(resetsIn, elapsed ? 1 : 60)
    }
  }
})
