import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { randomFor } from '../../seed/random.ts'
import { sql } from '../../src/database/db.ts'
import { checkCustomers, waitForNextCustomer, writeCustomers } from '../support/actors/customer-writers.ts'
import { check } from '../support/expectations/check.ts'
import { haltPostgresWhile } from '../support/halt.ts'
import { openInstallation } from '../support/installation.ts'
import { fetchFromAny, openClient, sendRaw } from '../support/operations/client.ts'
import { parseInteger } from '../support/options.ts'
import { quantile, report } from '../support/report.ts'

const { seconds, clients, keep } = new Command('npm run scenario -- halted-database')
  .description(
    'Halts all of PostgreSQL (SIGSTOP) while clients create customers and repeat each until it is acknowledged, and others send requests without\na database query. Then kills one session of PostgreSQL (kill -9), which ends all sessions. Checks that nothing acknowledged is lost or\nstored twice.',
  )
  .option('--seconds <number>', 'duration of the halt', parseInteger, 30)
  .option('--clients <number>', 'number of clients that create customers', parseInteger, 20)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run scenario -- halted-database\n  npm run scenario -- halted-database --seconds 5 --clients 4\n',
  )
  .parse()
  .opts<{ seconds: number; clients: number; keep?: boolean }>()

const installation = await openInstallation()
const { db, postgres, credentials, apis } = installation
const random = randomFor('halted-database')
const api = openClient(apis, credentials, random, { timeoutMs: 40_000 })
const acknowledged: string[] = []
const statuses = new Map<string, number>()
const rejectedAfterMs: number[] = []
const liveMs: number[] = []
let phase: 'before' | 'halted' | 'after' | 'over' = 'before'
let brokenConnections = 0

const create = (client: number) =>
  writeCustomers(api, acknowledged, {
    prefix: `c${client}`,
    isOver: () => phase === 'over',
    retryMs: 200,
    onAttempt({ status }, ms) {
      statuses.set(`${phase} ${status}`, (statuses.get(`${phase} ${status}`) ?? 0) + 1)
      if (!status) brokenConnections++
      if (status !== 201) rejectedAfterMs.push(ms)
    },
  })

async function probeLiveness() {
  const send = fetchFromAny(apis, random)
  while (phase !== 'over') {
    const startedAt = performance.now()
    const { status } = await sendRaw(send, credentials, { method: 'GET', path: '/health/live' })
    if (status !== 200) brokenConnections++
    if (phase === 'halted') liveMs.push(performance.now() - startedAt)
    await delay(50)
  }
}

try {
  const working = Promise.all([...Array.from({ length: clients }, (_, i) => create(i)), probeLiveness()])
  await waitForNextCustomer(acknowledged, 60_000)
  phase = 'halted'
  await haltPostgresWhile(postgres.pid, () => Promise.race([delay(seconds * 1_000), working]))
  phase = 'after'
  const afterHaltMs = await waitForNextCustomer(acknowledged, 60_000)
  const [session] = await db.rows<{ pid: number }>(
    sql`select pid from pg_stat_activity where application_name like 'api-%' limit 1`,
  )
  if (!session) throw new Error('the API process has no database session')
  process.kill(session.pid, 'SIGKILL')
  await delay(50)
  const afterKillMs = await waitForNextCustomer(acknowledged, 60_000)
  phase = 'over'
  await working
  report('halted-database', {
    keep,
    measurements: [
      ['duration of the halt, s', seconds],
      ['clients', clients],
      ['customers created', acknowledged.length],
      ...[...statuses].sort().map(([name, count]) => [`responses, ${name}`, count] as const),
      ['p99 of requests without a database query during the halt, ms', Math.round(quantile(liveMs, 0.99))],
      ['longest wait for a rejection, ms', Math.round(Math.max(0, ...rejectedAfterMs))],
      ['first write after the halt, ms', Math.round(afterHaltMs)],
      ['first write after a session was killed, ms', Math.round(afterKillMs)],
    ],
    checks: [
      ...(await checkCustomers(db, acknowledged)),
      check(
        'every response is 201, 503 or 504',
        [...statuses.keys()].filter(name => !/ (201|503|504)$/.test(name)),
        statuses.size,
      ),
      check('a rejection takes at most 12 s', rejectedAfterMs.filter(ms => ms > 12_000).map(String)),
      check(
        'requests without a database query take at most 15 s during the halt',
        liveMs.filter(ms => ms > 15_000).map(String),
        liveMs.length,
      ),
      check('writes resume within 20 s', [afterHaltMs, afterKillMs].filter(ms => ms > 20_000).map(String)),
      check('no connection of a client broke', brokenConnections ? [`${brokenConnections}`] : []),
    ],
  })
} finally {
  await installation.close()
}
