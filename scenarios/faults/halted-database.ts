import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { sql } from '../../src/database/db.ts'
import { type Answered, askOnce } from '../support/asking.ts'
import { seeded } from '../support/random.ts'
import { waysTo } from '../support/reaching.ts'
import { verdict } from '../support/verdict.ts'
import { creating } from './customers.ts'
import { halting } from './halting.ts'
import { openInstallation } from './installation.ts'
import { whole } from './options.ts'
import { quantile, tell } from './telling.ts'

const { seconds, clients, keep } = new Command('npm run trial -- halted-database')
  .description(
    'Halts all of PostgreSQL (SIGSTOP) while clients create customers, repeating what was not answered, and others ask for what needs no database. Then\nkills one of its sessions (kill -9), at which PostgreSQL ends them all. Judges that nothing acknowledged is lost and nothing done twice.',
  )
  .option('--seconds <number>', 'how long it stands still', whole, 30)
  .option('--clients <number>', 'how many create customers', whole, 20)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run trial -- halted-database\n  npm run trial -- halted-database --seconds 5 --clients 4\n',
  )
  .parse()
  .opts<{ seconds: number; clients: number; keep?: boolean }>()

const installation = await openInstallation({ apis: 1 })
const { db, postgres, headers, apis } = installation
const ways = waysTo(apis, headers, seeded(1))
const way = () => ways.any() ?? Promise.reject(new Error('the process has ended'))
const acknowledged: string[] = []
const statuses = new Map<string, number>()
const waits = { live: [] as number[], refused: [] as number[] }
let phase: 'before' | 'halted' | 'after' | 'over' = 'before'
let broken = 0

/** Creates customers one after the other, each until it is known to be. */
async function create(client: number) {
  for (let i = 0; phase !== 'over'; i++) {
    const email = `c${client}-${i}@example.com`
    const asked = creating(email)
    for (;;) {
      const begun = performance.now()
      const answer: Answered<unknown> | undefined = await askOnce(asked, await way(), 40_000).catch(() => undefined)
      const status = answer?.status ?? 0
      statuses.set(`${phase} ${status}`, (statuses.get(`${phase} ${status}`) ?? 0) + 1)
      if (!answer) broken++
      if (status === 201) break
      waits.refused.push(performance.now() - begun)
      await delay(200)
    }
    acknowledged.push(email)
    await delay(5)
  }
}

async function lookAlive() {
  while (phase !== 'over') {
    const begun = performance.now()
    const { status } = await askOnce({ method: 'GET', path: '/health/live' }, await way())
    if (status !== 200) broken++
    if (phase === 'halted') waits.live.push(performance.now() - begun)
    await delay(50)
  }
}

const untilCreated = async () => {
  const [count, since] = [acknowledged.length, performance.now()]
  while (acknowledged.length === count) {
    if (performance.now() - since > 60_000) throw new Error('nothing was created for a minute')
    await delay(10)
  }
  return performance.now() - since
}

try {
  const working = Promise.all([...Array.from({ length: clients }, (_, i) => create(i)), lookAlive()])
  await untilCreated()
  phase = 'halted'
  await halting(postgres.pid, () => Promise.race([delay(seconds * 1_000), working]))
  phase = 'after'
  const recovery = await untilCreated()
  const [session] = await db.rows<{ pid: number }>(
    sql`select pid from pg_stat_activity where application_name like 'api-%' limit 1`,
  )
  if (!session) throw new Error('no session of the process')
  process.kill(session.pid, 'SIGKILL')
  await delay(50)
  const afterKill = await untilCreated()
  phase = 'over'
  await working
  const rows = await db.rows<{ email: string }>(sql`select email from customer`)
  const there = rows.map(({ email }) => email)
  const lost = acknowledged.filter(email => !there.includes(email))
  const odd = [...statuses.keys()].filter(each => !/ (201|503|504)$/.test(each))
  tell('halted-database', {
    keep: keep === true,
    figures: [
      ['PostgreSQL stands still, seconds', seconds],
      ['clients', clients],
      ['customers created', acknowledged.length],
      ...[...statuses].sort().map(([each, count]) => [`answers, ${each}`, count] as const),
      ['p99 of what needs no database, meanwhile, ms', Math.round(quantile(waits.live, 0.99))],
      ['longest wait for a refusal, ms', Math.round(Math.max(0, ...waits.refused))],
      ['first write after it goes on, ms', Math.round(recovery)],
      ['first write after a session was killed, ms', Math.round(afterKill)],
    ],
    verdicts: [
      verdict('what was acknowledged is there', lost, acknowledged.length),
      verdict(
        'nothing was done twice',
        there.length === new Set(there).size && there.length === acknowledged.length ? [] : [`${there.length} rows`],
      ),
      verdict('every answer is 201, 503 or 504', odd, statuses.size),
      verdict('a refusal comes within 12 s', waits.refused.filter(wait => wait > 12_000).map(String)),
      verdict(
        'what needs no database is answered meanwhile, within 15 s',
        waits.live.filter(wait => wait > 15_000).map(String),
        waits.live.length,
      ),
      verdict('it goes on within 20 s', [recovery, afterKill].filter(wait => wait > 20_000).map(String)),
      verdict('no connection of a client broke', broken ? [`${broken}`] : []),
    ],
  })
} finally {
  ways.close()
  await installation.close()
}
