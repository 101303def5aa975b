import { mkdtempSync } from 'node:fs'
import { chmod, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { openDatabase, sql } from '../../src/database/db.ts'
import { askOnce } from '../support/asking.ts'
import { makePrimary, makeStandby, noDebianPostgres } from '../support/debian-postgres.ts'
import { freePort } from '../support/free-port.ts'
import { seeded } from '../support/random.ts'
import { waysTo } from '../support/reaching.ts'
import { verdict } from '../support/verdict.ts'
import { creating } from './customers.ts'
import { openInstallation } from './installation.ts'
import { whole } from './options.ts'
import { tell } from './telling.ts'

const { clients, seconds, asynchronous, behind, keep } = new Command('npm run trial -- failover')
  .description(
    "Kills the primary (Debian's PostgreSQL, kill -9) while clients create customers through two processes whose DATABASE_URL names it and its synchronous\nstandby, and promotes that. Judges that the service comes back by itself, and that nothing acknowledged is lost and nothing done twice.",
  )
  .option('--clients <number>', 'how many create customers', whole, 16)
  .option('--seconds <number>', 'how long they do before and after', whole, 10)
  .option('--asynchronous', 'the primary does not wait for its standby: tells how much is lost')
  .option(
    '--behind <milliseconds>',
    'asynchronous: for how long before the kill nothing has reached the standby',
    whole,
    200,
  )
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run trial -- failover\n  npm run trial -- failover --clients 3 --seconds 1\n  npm run trial -- failover --asynchronous\n',
  )
  .parse()
  .opts<{ clients: number; seconds: number; asynchronous?: boolean; behind: number; keep?: boolean }>()

if (noDebianPostgres) throw new Error(noDebianPostgres)
const home = mkdtempSync(join(tmpdir(), 'tillbridge-failover-'))
await chmod(home, 0o711)
const one = { home: join(home, 'one'), port: await freePort() }
const two = { home: join(home, 'two'), port: await freePort() }
const primary = makePrimary(one)
/** What has to end, the last one first. */
const ends: (() => unknown)[] = [() => rm(home, { recursive: true, force: true })]
let isKilled = false
let isOver = false

try {
  primary.start()
  ends.push(() => isKilled || primary.stop())
  const standby = makeStandby(two, one, 'standby')
  standby.start()
  ends.push(() => standby.stop())
  const url = `postgres://tillbridge@127.0.0.1:${one.port},127.0.0.1:${two.port}/postgres`

  /** Has the primary wait for the standby with each commit, from now on. */
  async function synchronise() {
    const db = openDatabase(url, { max: 1 })
    try {
      await db.pool.query(`alter system set synchronous_standby_names = 'standby'`)
      await db.pool.query('select pg_reload_conf()')
      for (const begun = performance.now(); ; await delay(100)) {
        if (await db.row(sql`select from pg_stat_replication where sync_state = 'sync'`)) return
        if (performance.now() - begun > 60_000) throw new Error('the standby does not follow')
      }
    } finally {
      await db.close()
    }
  }

  if (!asynchronous) await synchronise()
  const installation = await openInstallation({
    apis: 2,
    // It is stopped below.
    at: { url, stop: async () => {} },
  })
  ends.push(() => installation.close())
  const { db, headers, apis } = installation
  const ways = waysTo(apis, headers, seeded(1))
  ends.push(() => ways.close())
  const acknowledged: string[] = []
  const statuses = new Map<string, number>()

  /** Creates customers one after the other, each until it is known to be. */
  async function create(client: number) {
    for (let i = 0; !isOver; i++) {
      const email = `c${client}-${i}@example.com`
      for (;;) {
        const way = ways.any()
        if (!way) throw new Error('the processes have ended')
        const answer = await askOnce(creating(email), way, 40_000).catch(() => undefined)
        const status = String(answer?.status ?? 'broken')
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (status === '201') break
        await delay(100)
      }
      acknowledged.push(email)
      await delay(5)
    }
  }

  const untilCreated = async () => {
    const [count, since] = [acknowledged.length, performance.now()]
    while (acknowledged.length === count) {
      if (performance.now() - since > 90_000) throw new Error('nothing was created for 90 s')
      await delay(10)
    }
  }

  const working = Promise.all(Array.from({ length: clients }, (_, i) => create(i)))
  await untilCreated()
  await delay(seconds * 1_000)
  let told = 0
  if (asynchronous) {
    // What a network does that is slow: the primary has the log, and its standby not yet.
    primary.holdBack()
    await delay(behind)
    const lag = await db.row<{ bytes: number }>(sql`
      select pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::float8 as bytes from pg_stat_replication`)
    told = lag?.bytes ?? 0
  }
  const before = acknowledged.length
  const killed = performance.now()
  primary.kill()
  isKilled = true
  await delay(500)
  standby.promote()
  const promoted = performance.now()
  await untilCreated()
  const back = performance.now()
  await delay(seconds * 1_000)
  isOver = true
  await working
  const there = (await db.rows<{ email: string }>(sql`select email from customer`)).map(({ email }) => email)
  const known = new Set(there)
  const lost = acknowledged.filter(email => !known.has(email))
  const odd = [...statuses.keys()].filter(status => !['201', '503', '504'].includes(status))
  tell(asynchronous ? 'failover-asynchronous' : 'failover', {
    keep: keep === true,
    how: asynchronous ? 'failover --asynchronous' : 'failover',
    figures: [
      ['clients', clients],
      ['customers created before and after', `${before}, ${acknowledged.length - before}`],
      ...[...statuses].sort().map(([status, count]) => [`answers ${status}`, count] as const),
      ['from the kill to the first write, s', ((back - killed) / 1_000).toFixed(1)],
      ['from the end of the promotion to it, s', ((back - promoted) / 1_000).toFixed(1)],
      ...(asynchronous
        ? [
            ['before the kill nothing reached the standby for, ms', behind] as const,
            ['by which it was behind, as the primary told, KB', Math.round(told / 1_024)] as const,
          ]
        : []),
      ['acknowledged and lost', lost.length],
    ],
    verdicts: [
      asynchronous
        ? verdict('of what is lost the primary had told that the standby was behind', told > 0 ? [] : lost)
        : verdict('what was acknowledged is there', lost, acknowledged.length),
      verdict('nothing was done twice', known.size === there.length ? [] : [`${there.length - known.size} rows`]),
      verdict(
        'nothing is there that nobody was told of',
        there.filter(email => !acknowledged.includes(email)),
      ),
      verdict('every answer is 201, 503 or 504', odd, statuses.size),
      verdict('it goes on by itself within 30 s', back - killed > 30_000 ? [`${(back - killed) / 1_000} s`] : []),
    ],
  })
} finally {
  isOver = true
  for (const end of ends.toReversed()) await end()
}
