import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../../src/db.ts'
import { isProblem } from '../../support/problem.ts'
import { anotherServer, basic, credentials, withPassword } from '../../support/servers.ts'
import { startTestService, type TestService } from '../../support/service.ts'

let service: TestService
let other: Awaited<ReturnType<typeof anotherServer>>
before(async () => {
  service = await startTestService({ settings: { readsPerMinute: 'off' } })
  other = await anotherServer(service)
})
after(async () => {
  await other.stop()
  await service.stop()
})

const forget = () => service.db.run(sql`delete from failure`)

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** The medians of the times that the two take, asked by turns; in milliseconds. */
async function compare(count: number, known: (i: number) => string, unknown: (i: number) => string) {
  const times = { known: [] as number[], unknown: [] as number[] }
  for (let i = 0; i < count; i++) {
    if (i % 15 === 0) await forget()
    for (const which of i % 2 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)) {
      const authorization = which === 'known' ? known(i) : unknown(i)
      const begun = performance.now()
      const { status } = await service.get('/stores', { authorization })
      times[which].push(performance.now() - begun)
      assert.equal(status, 401)
    }
  }
  return { known: median(times.known), unknown: median(times.unknown) }
}

/** Asserts that the two medians are within a tenth; a machine that is busy with other things gets two more tries. */
async function takesAsLong(ask: () => Promise<{ known: number; unknown: number }>) {
  const tries: string[] = []
  for (let i = 0; i < 3; i++) {
    const { known, unknown } = await ask()
    tries.push(`${known.toFixed(3)} ms and ${unknown.toFixed(3)} ms`)
    if (Math.abs(known - unknown) < 0.1 * Math.min(known, unknown)) return tries.join(', ')
  }
  throw new assert.AssertionError({ message: tries.join(', ') })
}

test('an unknown username cannot be told from a wrong password by time', async t => {
  const password = 'x'.repeat(43)
  const wrong = withPassword(service, password)
  const unknown = basic(`nobody:${password}`)
  const often = () =>
    compare(
      800,
      () => wrong,
      () => unknown,
    )
  t.diagnostic(`the same names again and again: ${await takesAsLong(often)}`)

  await service.db.run(sql`insert into account (username) select 'known' || n from generate_series(0, 899) n`)
  await service.db.run(
    sql`insert into account_password (username, password_hash) select username, sha256(username::bytea) from account where username like 'known%'`,
  )
  let tried = 0
  const once = () => {
    const from = tried
    tried += 300
    return compare(
      300,
      i => basic(`known${from + i}:${password}`),
      i => basic(`other${from + i}:${password}`),
    )
  }
  t.diagnostic(`names that are new: ${await takesAsLong(once)}`)
})

/** Failures are counted by the minute: begins where there are some seconds of it left. */
async function earlyInTheMinute() {
  const { left } = (await service.db.row<{ left: number }>(
    sql`select 60 - extract(second from now())::float8 as left`,
  )) ?? { left: 0 }
  if (left < 6) await delay(left * 1_000)
  await forget()
}

test('wrong passwords are counted for all servers, and beyond 20 refused with the time to wait', async () => {
  await earlyInTheMinute()
  const colleague = await service.account('visitor')
  const wrong = { headers: { ...credentials(colleague), authorization: withPassword(colleague, 'wrong') } }
  const ask = (i: number) => (i % 2 ? other.ask('/stores', wrong) : service.get('/stores', wrong.headers))
  for (let i = 0; i < 20; i++) assert.equal((await ask(i)).status, 401)
  for (let i = 0; i < 4; i++) {
    const answer = await ask(i)
    isProblem(answer, 'too_many_failures', (i % 2 ? other : service).baseUrl, '/stores')
    const wait = Number(answer.headers['retry-after'])
    assert.ok(wait >= 1 && wait <= 60)
  }
  for (const server of [other.ask('/stores', { headers: credentials(colleague) }), colleague.get('/stores')])
    assert.equal((await server).status, 200, 'the right password still opens')
  assert.equal(
    (await other.ask('/stores', { ...wrong, from: '127.0.0.2' })).status,
    401,
    'elsewhere nothing was counted',
  )
  assert.equal(
    (await service.get('/stores', { authorization: basic('nobody:x') })).status,
    401,
    'another name goes by its own count',
  )
  await forget()
})

test('an address that tries one name after the other is refused beyond 200', async () => {
  await earlyInTheMinute()
  const attempt = (i: number) => service.get('/stores', { authorization: basic(`guess${i}:x`) })
  for (let i = 0; i < 200; i++) assert.equal((await attempt(i)).status, 401)
  isProblem(await attempt(200), 'too_many_failures', service.baseUrl, '/stores')
  assert.equal((await service.get('/stores')).status, 200)
  const { names } = (await service.db.row<{ names: string }>(
    sql`select string_agg(encode(subject, 'escape'), ' ') as names from failure`,
  )) ?? { names: '' }
  assert.doesNotMatch(names, /guess|127\.0\.0/, 'neither names nor addresses are kept')
  await forget()
})
