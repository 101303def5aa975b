import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { assertProblem } from '../../support/problem.ts'
import { buildAuthorization, buildBasicAuth, buildCredentials, startSecondServer } from '../../support/servers.ts'
import { startTestApi, type TestResponse } from '../../support/service.ts'
import { addVouchers, clearFailures, waitForMinuteStart } from '../../support/voucher-shop.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
const other = await startSecondServer(api)
after(async () => {
  await other.stop()
  await api.stop()
})

/** Requests an existing or an unknown name. Both must be rejected with this status. */
type Guess = (i: number) => Promise<TestResponse>

/** Returns the milliseconds of alternating guesses. Failures are cleared before they reach the limit. */
async function measureTimes(
  count: number,
  maxFailures: number,
  status: number,
  guesses: { existing: Guess; unknown: Guess },
) {
  const times = { existing: [] as number[], unknown: [] as number[] }
  for (let i = 0; i < count; i++) {
    if (i % maxFailures === 0) await clearFailures(api)
    for (const guess of i % 2 ? (['existing', 'unknown'] as const) : (['unknown', 'existing'] as const)) {
      const startedAt = performance.now()
      const response = await guesses[guess](i)
      times[guess].push(performance.now() - startedAt)
      assert.equal(response.status, status)
    }
  }
  return times
}

/** Attempts to compare times. On a busy machine, two equal distributions sometimes differ. */
const maxTries = 5

const getMedian = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** Returns the median times of sign-ins, in milliseconds. */
async function compare(count: number, existing: (i: number) => string, unknown: (i: number) => string) {
  const withHeader = (header: (i: number) => string) => (i: number) => api.get('/stores', { authorization: header(i) })
  const times = await measureTimes(count, 15, 401, { existing: withHeader(existing), unknown: withHeader(unknown) })
  return { existing: getMedian(times.existing), unknown: getMedian(times.unknown) }
}

/** Asserts that the two medians differ by less than a tenth. Tries again if they don't, because other load distorts times. */
async function assertSimilarTimes(measure: () => Promise<{ existing: number; unknown: number }>) {
  const tries: string[] = []
  for (let i = 0; i < maxTries; i++) {
    const { existing, unknown } = await measure()
    tries.push(`${existing.toFixed(3)} ms and ${unknown.toFixed(3)} ms`)
    if (Math.abs(existing - unknown) < 0.1 * Math.min(existing, unknown)) return tries.join(', ')
  }
  throw new assert.AssertionError({ message: tries.join(', ') })
}

test('an unknown username takes as long to reject as a wrong password', async t => {
  const password = 'x'.repeat(43)
  const wrong = buildAuthorization(api, password)
  const unknown = buildBasicAuth(`nobody:${password}`)
  const compareRepeatedNames = () =>
    compare(
      800,
      () => wrong,
      () => unknown,
    )
  t.diagnostic(`the same names again and again: ${await assertSimilarTimes(compareRepeatedNames)}`)

  await api.db.run(
    sql`insert into account (username, skeleton) select 'existing' || n, 'existing' || n from generate_series(0, ${maxTries * 300 - 1}) n`,
  )
  await api.db.run(
    sql`insert into account_password (username, password_hash) select username, '\\x00000000' || sha256(username::bytea) from account where username like 'existing%'`,
  )
  let tried = 0
  const compareNewNames = () => {
    const from = tried
    tried += 300
    return compare(
      300,
      i => buildBasicAuth(`existing${from + i}:${password}`),
      i => buildBasicAuth(`other${from + i}:${password}`),
    )
  }
  t.diagnostic(`new names: ${await assertSimilarTimes(compareNewNames)}`)
})

/** Returns the share of pairs in which the value of `a` is larger: about 0.5 if both distributions are equal, even on a busy machine. */
function getLargerShare(a: readonly number[], b: readonly number[]) {
  let more = 0
  for (const x of a) for (const y of b) more += x > y ? 1 : x === y ? 0.5 : 0
  return more / a.length / b.length
}

test('rejecting an unknown voucher number takes as long as a wrong PIN', async t => {
  // 10,000 tries detect smaller differences, and take several minutes.
  const { PIN_TRIES } = process.env
  const [repeatCount, newCount] = PIN_TRIES ? [Number(PIN_TRIES), Number(PIN_TRIES)] : [700, 400]
  const numbers = Array.from({ length: maxTries * newCount }, (_, i) => `existing${i}`)
  await addVouchers(api, api, Object.fromEntries(['100', ...numbers].map(number => [number, {}])))
  const lookUp = (number: string) => api.get(`/vouchers/${number}`, { 'x-voucher-pin': '999999' })
  let tried = 0
  for (const [label, measure] of [
    [
      'the same numbers again and again',
      () => measureTimes(repeatCount, 7, 403, { existing: () => lookUp('100'), unknown: () => lookUp('nope') }),
    ],
    [
      'new numbers',
      () => {
        const from = tried
        tried += newCount
        const lookUpNumbered = (name: string) => (i: number) => lookUp(`${name}${from + i}`)
        return measureTimes(newCount, 7, 403, {
          existing: lookUpNumbered('existing'),
          unknown: lookUpNumbered('other'),
        })
      },
    ],
  ] as const) {
    // Chance moves the share of so many pairs by at most 0.06. Try again if it differs more, because other load distorts times.
    const tries: number[] = []
    while (tries.length < maxTries && Math.abs((tries.at(-1) ?? 1) - 0.5) > 0.06) {
      const { existing, unknown } = await measure()
      tries.push(getLargerShare(existing, unknown))
    }
    t.diagnostic(`${label}: existing took longer in ${tries.map(ratio => `${(ratio * 100).toFixed(1)} %`).join(', ')}`)
    assert.ok(Math.abs((tries.at(-1) ?? 1) - 0.5) <= 0.06, tries.join())
  }
})

test('wrong passwords are counted across servers and blocked after 20 with Retry-After', async () => {
  await waitForMinuteStart(api)
  const colleague = await api.createAccount('visitor')
  const wrong = { headers: { ...buildCredentials(colleague), authorization: buildAuthorization(colleague, 'wrong') } }
  const signIn = (i: number) => (i % 2 ? other.sendRequest('/stores', wrong) : api.get('/stores', wrong.headers))
  for (let i = 0; i < 20; i++) assert.equal((await signIn(i)).status, 401)
  for (let i = 0; i < 4; i++) {
    const response = await signIn(i)
    assertProblem(response, 'too_many_failures', (i % 2 ? other : api).baseUrl, '/stores')
    const retryAfter = Number(response.headers['retry-after'])
    assert.ok(retryAfter >= 1 && retryAfter <= 60)
  }
  for (const response of [
    other.sendRequest('/stores', { headers: buildCredentials(colleague) }),
    colleague.get('/stores'),
  ])
    assert.equal((await response).status, 200, 'the right password must still work')
  assert.equal(
    (await other.sendRequest('/stores', { ...wrong, from: '127.0.0.2' })).status,
    401,
    'another address must have its own count',
  )
  assert.equal(
    (await api.get('/stores', { authorization: buildBasicAuth('nobody:x') })).status,
    401,
    'another username must have its own count',
  )
  await clearFailures(api)
})

test('an address that tries many usernames is blocked after 200 failures', async () => {
  await waitForMinuteStart(api)
  const attempt = (i: number) => api.get('/stores', { authorization: buildBasicAuth(`guess${i}:x`) })
  for (let i = 0; i < 200; i++) assert.equal((await attempt(i)).status, 401)
  assertProblem(await attempt(200), 'too_many_failures', api.baseUrl, '/stores')
  assert.equal((await api.get('/stores')).status, 200)
  // After that, guesses write nothing.
  const read = () => api.db.rows<{ xmin: string }>(sql`select xmin::text from failure order by subject`)
  const before = await read()
  for (let i = 201; i < 211; i++) assert.equal((await attempt(i)).status, 429)
  assert.deepEqual(await read(), before)
  const { names } = (await api.db.row<{ names: string }>(
    sql`select string_agg(encode(subject, 'escape'), ' ') as names from failure`,
  )) ?? { names: '' }
  assert.doesNotMatch(names, /guess|127\.0\.0/, 'names or addresses are stored')
  await clearFailures(api)
})
