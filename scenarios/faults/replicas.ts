import { mkdtempSync } from 'node:fs'
import { chmod, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { type Database, type Db, openDatabase, raw, sql } from '../../src/database/db.ts'
import { type Postgres, startPostgres } from '../../src/postgres/postgres.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { askOnce } from '../support/asking.ts'
import { freePort } from '../support/free-port.ts'
import { seeded } from '../support/random.ts'
import { waysTo } from '../support/reaching.ts'
import { startStandby, urlOf } from '../support/standby.ts'
import { verdict } from '../support/verdict.ts'
import { halting } from './halting.ts'
import { openInstallation } from './installation.ts'
import { whole } from './options.ts'
import { countedBy, type Follower, followChanges, followList } from './replicas/following.ts'
import { quantile, tell } from './telling.ts'

const { clients, seconds, late, keep } = new Command('npm run trial -- replicas')
  .description(
    'Two processes read from two replicas, while writers commit late, or not at all: one replica is late all the time, the other one stops replaying,\njumps, and stands still. Judges that whoever follows a list or /changes holds in the end what the primary holds, and sees what was just written.',
  )
  .option('--clients <number>', 'how many follow the list, and how many /changes', whole, 6)
  .option('--seconds <number>', 'how long is written', whole, 60)
  .option('--late <number>', 'seconds that one of the replicas is late', whole, 10)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run trial -- replicas\n  npm run trial -- replicas --clients 2 --seconds 6 --late 2\n',
  )
  .parse()
  .opts<{ clients: number; seconds: number; late: number; keep?: boolean }>()

const home = mkdtempSync(join(tmpdir(), 'tillbridge-replicas-'))
await chmod(home, 0o711)
const settings = { max_connections: '100' }
const primary = await startPostgres(join(home, 'primary'), { settings })
const place = { directory: join(home, 'primary'), postgres: primary }
const delayed = await startStandby(join(home, 'late'), place, { ...settings, recovery_min_apply_delay: `${late}s` })
const unsteady = await startStandby(join(home, 'unsteady'), place, settings)
const { database } = primary.connection
const random = seeded(1)
const ports = [await freePort(), await freePort()]
const installation = await openInstallation({
  apis: 2,
  at: { url: urlOf([primary], database), stop: async () => {} },
  settings: { readsPerMinute: 'off' },
  environment: { DATABASE_READ_URL: urlOf([delayed, unsteady], database) },
  of: name => ({ METRICS_PORT: String(ports[Number(name.slice(-1)) - 1]) }),
})
const { db, service, headers, apis } = installation
const ways = waysTo(apis, headers, random)
const way = () => ways.any() ?? Promise.reject(new Error('the processes have ended'))
const waits: number[] = []
/** Of those that were asked while a replica stood still. */
const stillWaits: number[] = []
let isStill = false
const statuses = new Map<number, number>()
let isOver = false
/** Nothing is written any more. */
let isSettled = false

/** Reads over any of the processes. */
async function read(path: string) {
  const [begun, wasStill] = [performance.now(), isStill]
  const answer = await askOnce<never>({ method: 'GET', path }, await way())
  waits.push(performance.now() - begun)
  if (wasStill) stillWaits.push(performance.now() - begun)
  statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
  return answer
}

/** Transactions that wait before they commit; one in ten is ended instead, as by `kill -9`. */
const slow: Database = {
  ...db,
  transaction: <T>(work: (tx: Db) => Promise<T>) =>
    db.transaction(async tx => {
      const done = await work(tx)
      await delay(random.fraction() ** 3 * 400)
      if (random.chance(0.1)) await tx.run(sql`select pg_terminate_backend(pg_backend_pid())`)
      return done
    }),
}

let commits = 0
const ids = Array.from({ length: 400 }, (_, i) => `c${i}`)
async function write() {
  while (!isOver) {
    const rows = ids.filter(() => random.chance(0.02)).map(id => ({ id, firstname: `Ann ${random.whole(1, 1e6)}` }))
    commits += await upsertCustomers(slow, service, rows).then(
      () => 1,
      () => 0,
    )
    await delay(20)
  }
}

const unseen: string[] = []
let own = 0
/** Creates customers, and looks at once for each, as its list and its path have it. */
async function writeAndLook() {
  for (let i = 0; !isOver; i++) {
    const email = `own-${i}@example.com`
    const body = { firstname: 'Own', surname: 'Write', contact: { email } }
    const made = await askOnce<{ id: string }>({ method: 'POST', path: '/customers', key: email, body }, await way())
    const id = made.body.data?.id
    const found = [await read(`/customers/${id}`), await read(`/customers?email=${encodeURIComponent(email)}`)]
    for (const { text } of found) if (id === undefined || !text.includes(`"${id}"`)) unseen.push(`${id}: ${text}`)
    own++
    await delay(100)
  }
}

async function ask(server: Postgres, statement: string) {
  const admin = openDatabase(server.connection, { max: 1, straight: true, onFault: () => {} })
  await admin.run(raw(statement)).finally(() => admin.close())
}

const jumps = { replay: 0, stillness: 0 }
/** Has the unsteady replica stop replaying and jump on, and stand still as a whole. */
async function unsettle() {
  while (!isOver) {
    await delay(random.whole(300, 1_000))
    await ask(unsteady, 'select pg_wal_replay_pause()')
    await delay(random.whole(300, 2_000))
    await ask(unsteady, 'select pg_wal_replay_resume()')
    jumps.replay++
    await delay(random.whole(300, 1_000))
    isStill = true
    await halting(unsteady.pid, () => delay(random.whole(300, 1_500)))
    isStill = false
    jumps.stillness++
  }
}

/** How many reads each replica has answered. */
async function answeredBy() {
  const counts = await countedBy(ports)
  return [delayed, unsteady].map(({ connection: { host } }) => counts(host, 'answered'))
}

/** On a slow machine it may take longer than it was to. */
async function untilAllHaveAnswered() {
  for (const begun = performance.now(); performance.now() - begun < 60_000; await delay(200))
    if ((await answeredBy()).every(count => count > 0)) return
}

try {
  await upsertCustomers(
    db,
    service,
    ids.map(id => ({ id, firstname: 'Ann' })),
  )
  // What a process does for the first time takes longest.
  for (const _ of apis) await read('/customers/search?limit=1')
  waits.length = 0
  // Some walks take longer than a replica is late.
  const paceOf = (i: number) => (i % 2 ? () => random.whole(0, 20) : () => random.whole(100, 150 * late))
  const follows = () => !isSettled
  const followers: Follower[] = Array.from({ length: clients }, (_, i) => [
    followList(read, paceOf(i), follows),
    followChanges(read, paceOf(i), follows),
  ]).flat()
  const following = Promise.all(followers.map(({ done }) => done))
  const writing = Promise.all([write(), write(), write(), writeAndLook(), unsettle()])
  await Promise.race([delay(seconds * 1_000).then(untilAllHaveAnswered), writing, following])
  isOver = true
  await writing
  isSettled = true
  await following
  const rows = await db.rows<{ id: string; firstname: string }>(sql`select id, firstname from customer`)
  const there = new Map(rows.map(({ id, firstname }) => [id, firstname]))
  const wrongOf = (path: string) =>
    followers
      .filter(one => one.path === path)
      .flatMap(({ copy }) =>
        [...new Set([...there.keys(), ...copy.keys()])]
          .filter(id => there.get(id) !== copy.get(id))
          .map(id => `${id} is ${copy.get(id)}, not ${there.get(id)}`),
      )
  const counts = await countedBy(ports)
  const [byLate = 0, byUnsteady = 0] = await answeredBy()
  const inWords = (times: number[]) => [0.5, 0.99].map(part => quantile(times, part).toFixed(0)).join(', ')
  tell('replicas', {
    keep: keep === true,
    figures: [
      ['seconds, and seconds that one replica is late', `${seconds}, ${late}`],
      ['commits of writers, beside those that were killed', commits],
      ['who follow the list, and /changes', `${clients}, ${clients}`],
      ['times the other one stopped replaying and jumped, stood still', `${jumps.replay}, ${jumps.stillness}`],
      ['reads', waits.length],
      ['answered by the late replica', byLate],
      ['answered by the unsteady one', byUnsteady],
      ['asked in vain: not come so far', counts('', 'behind')],
      ['asked in vain: failed, or silent', counts('', 'failed')],
      ['wait for an answer, p50 and p99, ms', inWords(waits)],
      ['of those asked while a replica stood still, ms', inWords(stillWaits)],
    ],
    verdicts: [
      verdict('who follows the list holds what the primary holds', wrongOf('/customers/search'), rows.length),
      verdict('who follows /changes holds what the primary holds', wrongOf('/changes'), rows.length),
      verdict('what was just written is seen', unseen, own),
      verdict(
        'each replica answers',
        [byLate, byUnsteady].flatMap((count, i) => (count ? [] : [`replica ${i + 1}`])),
      ),
      verdict(
        'every read is answered',
        [...statuses.keys()].filter(status => status !== 200).map(String),
        waits.length,
      ),
    ],
  })
} finally {
  isOver = true
  ways.close()
  await installation.close()
  for (const server of [delayed, unsteady, primary]) await server.stop()
  await rm(home, { recursive: true, force: true })
}
