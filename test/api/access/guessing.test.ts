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

const forget = () => clearFailures(api)

/** Requests an existing or an unknown name. Both must be rejected with this status. */
type Guess = (i: number) => Promise<TestResponse>

/** Returns the milliseconds of alternating guesses. Failures are cleared before they reach the limit. */
async function timesOf(count: number, atMost: number, status: number, asks: { existing: Guess; unknown: Guess }) {
  const times = { existing: [] as number[], unknown: [] as number[] }
  for (let i = 0; i < count; i++) {
    if (i % atMost === 0) await forget()
    for (const guess of i % 2 ? (['existing', 'unknown'] as const) : (['unknown', 'existing'] as const)) {
      const begun = performance.now()
      const response = await asks[guess](i)
      times[guess].push(performance.now() - begun)
      assert.equal(response.status, status)
    }
  }
  return times
}

/** Attempts to compare times: on a busy machine two equal distributions differ sometimes. */
const triesAtMost = 5

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** The medians of the times that sign-ins take. */
async function compare(count: number, existing: (i: number) => string, unknown: (i: number) => string) {
  const withHeader = (header: (i: number) => string) => (i: number) => api.get('/stores', { authorization: header(i) })
  const times = await timesOf(count, 15, 401, { existing: withHeader(existing), unknown: withHeader(unknown) })
  return { existing: median(times.existing), unknown: median(times.unknown) }
}

/** Asserts that the two medians are within a tenth; a machine that is busy with other things gets more tries. */
async function takesAsLong(ask: () => Promise<{ existing: number; unknown: number }>) {
  const tries: string[] = []
  for (let i = 0; i < triesAtMost; i++) {
    const { existing, unknown } = await ask()
    tries.push(`${existing.toFixed(3)} ms and ${unknown.toFixed(3)} ms`)
    if (Math.abs(existing - unknown) < 0.1 * Math.min(existing, unknown)) return tries.join(', ')
  }
  throw new assert.AssertionError({ message: tries.join(', ') })
}

test('an unknown username takes as long to reject as a wrong password', async t => {
  const password = 'x'.repeat(43)
  const wrong = buildAuthorization(api, password)
  const unknown = buildBasicAuth(`nobody:${password}`)
  const often = () =>
    compare(
      800,
      () => wrong,
      () => unknown,
    )
  t.diagnostic(`the same names again and again: ${await takesAsLong(often)}`)

  await api.db.run(
    sql`insert into account (username, skeleton) select 'existing' || n, 'existing' || n from generate_series(0, ${triesAtMost * 300 - 1}) n`,
  )
  await api.db.run(
    sql`insert into account_password (username, password_hash) select username, '\\x00000000' || sha256(username::bytea) from account where username like 'existing%'`,
  )
  let tried = 0
  const once = () => {
    const from = tried
    tried += 300
    return compare(
      300,
      i => buildBasicAuth(`existing${from + i}:${password}`),
      i => buildBasicAuth(`other${from + i}:${password}`),
    )
  }
  t.diagnostic(`names that are new: ${await takesAsLong(once)}`)
})

/** Returns how often a value of `a` exceeds a value of `b`: half the time if both are alike, even on a busy machine. */
function share(a: readonly number[], b: readonly number[]) {
  let more = 0
  for (const x of a) for (const y of b) more += x > y ? 1 : x === y ? 0.5 : 0
  return more / a.length / b.length
}

test('rejecting an unknown voucher number takes as long as a wrong PIN', async t => {
  // 10,000 tries detect smaller differences, and take several minutes.
  const { PIN_TRIES } = process.env
  const [again, fresh] = PIN_TRIES ? [Number(PIN_TRIES), Number(PIN_TRIES)] : [700, 400]
  const numbers = Array.from({ length: triesAtMost * fresh }, (_, i) => `existing${i}`)
  await addVouchers(api, api, Object.fromEntries(['100', ...numbers].map(number => [number, {}])))
  const lookUp = (number: string) => api.get(`/vouchers/${number}`, { 'x-voucher-pin': '999999' })
  let tried = 0
  for (const [label, ask] of [
    [
      'the same numbers again and again',
      () => timesOf(again, 7, 403, { existing: () => lookUp('100'), unknown: () => lookUp('nope') }),
    ],
    [
      'numbers that are new',
      () => {
        const from = tried
        tried += fresh
        const numbered = (name: string) => (i: number) => lookUp(`${name}${from + i}`)
        return timesOf(fresh, 7, 403, { existing: numbered('existing'), unknown: numbered('other') })
      },
    ],
  ] as const) {
    // Both are alike to within what chance does to so many; a machine that is busy with other things gets more tries.
    const tries: number[] = []
    while (tries.length < triesAtMost && Math.abs((tries.at(-1) ?? 1) - 0.5) > 0.06) {
      const { existing, unknown } = await ask()
      tries.push(share(existing, unknown))
    }
    t.diagnostic(`${label}: existing took longer in ${tries.map(ratio => `${(ratio * 100).toFixed(1)} %`).join(', ')}`)
    assert.ok(Math.abs((tries.at(-1) ?? 1) - 0.5) <= 0.06, tries.join())
  }
})

test('wrong passwords are counted across servers and blocked after 20 with Retry-After', async () => {
  await waitForMinuteStart(api)
  const colleague = await api.createAccount('visitor')
  const wrong = { headers: { ...buildCredentials(colleague), authorization: buildAuthorization(colleague, 'wrong') } }
  const ask = (i: number) => (i % 2 ? other.sendRequest('/stores', wrong) : api.get('/stores', wrong.headers))
  for (let i = 0; i < 20; i++) assert.equal((await ask(i)).status, 401)
  for (let i = 0; i < 4; i++) {
    const response = await ask(i)
    assertProblem(response, 'too_many_failures', (i % 2 ? other : api).baseUrl, '/stores')
    const wait = Number(response.headers['retry-after'])
    assert.ok(wait >= 1 && wait <= 60)
  }
  for (const server of [
    other.sendRequest('/stores', { headers: buildCredentials(colleague) }),
    colleague.get('/stores'),
  ])
    assert.equal((await server).status, 200, 'the right password still opens')
  assert.equal(
    (await other.sendRequest('/stores', { ...wrong, from: '127.0.0.2' })).status,
    401,
    'elsewhere nothing was counted',
  )
  assert.equal(
    (await api.get('/stores', { authorization: buildBasicAuth('nobody:x') })).status,
    401,
    'another name goes by its own count',
  )
  await forget()
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
  assert.doesNotMatch(names, /guess|127\.0\.0/, 'neither names nor addresses are kept')
  await forget()
})
