import { mkdtempSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Agent } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { sql } from '../../src/database/db.ts'
import { localCertificate } from '../../src/tls/tls.ts'
import { type Answered, askOnce } from '../support/asking.ts'
import { freePort } from '../support/free-port.ts'
import { faketime, noFaketime, noHaproxy, startHaproxy } from '../support/haproxy.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/postgres-proxy.ts'
import { verdict } from '../support/verdict.ts'
import { openInstallation } from './installation.ts'
import { whole } from './options.ts'
import { tell } from './telling.ts'

const { seconds, clients, rounds, keep } = new Command('npm run trial -- processes')
  .description(
    'Three processes that serve behind HAProxy (Debian), as deploy/haproxy.cfg has it, and two workers; their clocks are 5 s apart. All are restarted in turn\nunder load, then one is cut off from the database. Judges that no request fails while they are restarted, and that nothing is lost or done twice.',
  )
  .option('--seconds <number>', 'how long one is cut off', whole, 20)
  .option('--clients <number>', 'how many create customers, and how many read', whole, 8)
  .option('--rounds <number>', 'how often all are restarted', whole, 3)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run trial -- processes\n  npm run trial -- processes --seconds 4 --clients 2 --rounds 1\n',
  )
  .parse()
  .opts<{ seconds: number; clients: number; rounds: number; keep?: boolean }>()

if (noHaproxy) throw new Error(noHaproxy)
if (noFaketime) throw new Error(noFaketime)

const home = mkdtempSync(join(tmpdir(), 'tillbridge-processes-'))
const certificate = localCertificate(join(home, 'tls'))
const ports = [await freePort(), await freePort(), await freePort()]
const clocks = ['+5', '+0', '-5']
let proxy: PostgresProxy | undefined
/** Processes in turn: the first and the last have a wrong clock. */
const numberOf = (name: string) => Number(name.split('-')[1]) - 1

const installation = await openInstallation({
  apis: 3,
  workers: 2,
  of: name => {
    const clock = clocks[numberOf(name)] ?? '+0'
    const isApi = name.startsWith('api')
    return {
      ...(clock !== '+0' && { LD_PRELOAD: faketime, FAKETIME: clock, FAKETIME_DONT_FAKE_MONOTONIC: '1' }),
      ...(isApi && {
        PORT: String(ports[numberOf(name)]),
        TLS_CERT_FILE: certificate.certFile,
        TLS_KEY_FILE: certificate.keyFile,
      }),
      SHUTDOWN_DELAY_SECONDS: '4',
    }
  },
  through: async url => {
    proxy = await startPostgresProxy(url)
    return { 'api-2': proxy.connection }
  },
})
const { db, headers, apis, workers } = installation
const haproxy = await startHaproxy({ directory: home, ports, certificate })
const agent = new Agent({ keepAlive: true, ca: readFileSync(certificate.caFile) })
const way = { baseUrl: haproxy.baseUrl, agent, headers }

type Phase = 'steady' | 'restarting' | 'cut off' | 'healed' | 'over'
let phase: Phase = 'steady'
const statuses = new Map<string, number>()
const failedAt: { phase: Phase; what: string; at: number }[] = []
const acknowledged: string[] = []
const told = new Set<string>()
let asOf = ''

/** Asks once, and notes what comes of it under the phase in which it was asked. */
async function noted(
  asked: Parameters<typeof askOnce>[0],
  wanted: number,
): Promise<Answered<{ contact?: { email?: string } }[]> | undefined> {
  const began = phase
  const answer = await askOnce<{ contact?: { email?: string } }[]>(asked, way).catch((error: Error) => error.message)
  const isOfCut = [began, phase].includes('cut off')
  const of = isOfCut ? 'cut off' : began
  const status = typeof answer === 'string' ? answer : answer.status
  statuses.set(`${of}: ${status}`, (statuses.get(`${of}: ${status}`) ?? 0) + 1)
  if (typeof answer !== 'string' && answer.status === wanted) return answer
  failedAt.push({
    phase: of,
    what: `${asked.method} ${asked.path}: ${status} ${typeof answer === 'string' ? '' : (answer.body.code ?? 'of HAProxy')}`,
    at: performance.now(),
  })
  return undefined
}

/** Creates customers one after the other, each until it is known to be. */
async function create(client: number) {
  for (let i = 0; phase !== 'over'; i++) {
    const email = `c${client}-${i}@example.com`
    const body = { firstname: 'A', surname: 'B', contact: { email } }
    while (!(await noted({ method: 'POST', path: '/customers', key: email, body }, 201))) await delay(100)
    acknowledged.push(email)
    await delay(50)
  }
}

/** Follows the list of customers, whoever answers. */
async function follow() {
  for (let isLast = false; !isLast; ) {
    isLast = phase === 'over'
    let cursor: string | undefined
    do {
      const query = cursor ? `&after_cursor=${cursor}` : ''
      const since = asOf ? `updated_after=${encodeURIComponent(asOf)}` : 'limit=100'
      const page = await noted({ method: 'GET', path: `/customers/search?${since}${query}` }, 200)
      if (!page) {
        await delay(100)
        continue
      }
      for (const { contact } of page.body.data ?? []) told.add(contact?.email ?? '')
      cursor = page.body.meta?.hasNextPage ? (page.body.meta.endCursor ?? undefined) : undefined
      if (!cursor) asOf = page.body.meta?.asOf ?? asOf
    } while (cursor)
    await delay(50)
  }
}

async function read() {
  while (phase !== 'over') {
    await noted({ method: 'GET', path: '/customers/search?limit=20' }, 200)
    await delay(50)
  }
}

const failedIn = (of: Phase) => failedAt.filter(each => each.phase === of)

try {
  await haproxy.untilAllAreUp()
  const writing = Array.from({ length: clients }, (_, i) => create(i))
  const reading = Array.from({ length: clients }, () => read())
  const following = follow()
  await delay(1_000)
  phase = 'restarting'
  for (let round = 0; round < rounds; round++)
    for (const each of [...apis, ...workers]) {
      await each.restart()
      await haproxy.untilAllAreUp()
    }
  phase = 'cut off'
  const cutAt = performance.now()
  const mend = proxy?.cutOff()
  await delay(seconds * 1_000)
  mend?.()
  await haproxy.untilAllAreUp()
  phase = 'healed'
  await delay(2_000)
  phase = 'over'
  await Promise.all([...writing, ...reading, following])
  const rows = await db.rows<{ email: string }>(sql`select email from customer`)
  const there = rows.map(({ email }) => email)
  const overdue = await db.row<{ seconds: number }>(
    sql`select coalesce(max(extract(epoch from now() - due_at)), 0)::float8 as seconds from job where leased_until is null or leased_until < now()`,
  )
  const lastFailure = Math.max(0, ...failedIn('cut off').map(({ at }) => at - cutAt)) / 1_000
  const odd = [...statuses.keys()].filter(each => !/: (200|201|503|504)$/.test(each))
  if (failedIn('restarting').length) for (const line of installation.log.slice(0, 3)) console.error(line)
  tell('processes', {
    keep: keep === true,
    figures: [
      ['clients that write, that read', `${clients}, ${clients}`],
      ['times that all were restarted', rounds],
      ['customers created', acknowledged.length],
      ...[...statuses].sort().map(([each, count]) => [`answers, ${each}`, count] as const),
      ['one is cut off, s', seconds],
      ['last refusal after it was cut off, s', lastFailure.toFixed(1)],
    ],
    verdicts: [
      verdict(
        'no request fails while all are restarted in turn',
        failedIn('restarting').map(({ what }) => what),
      ),
      verdict(
        'no request fails while nothing happens',
        [...failedIn('steady'), ...failedIn('healed')].map(({ what }) => what),
      ),
      verdict(
        'of one that is cut off nobody hears any more within 15 s',
        lastFailure > 15 ? [`${lastFailure.toFixed(1)} s`] : [],
      ),
      verdict('every answer is 200, 201, 503 or 504', odd, statuses.size),
      verdict(
        'what was acknowledged is there',
        acknowledged.filter(email => !there.includes(email)),
        acknowledged.length,
      ),
      verdict('nothing was done twice', there.length === acknowledged.length ? [] : [`${there.length} rows`]),
      verdict(
        'who follows the list is told of every customer',
        there.filter(email => !told.has(email)),
        there.length,
      ),
      verdict('the workers do what is due', (overdue?.seconds ?? 0) > 30 ? [`${overdue?.seconds} s overdue`] : []),
    ],
  })
} finally {
  phase = 'over'
  agent.destroy()
  await haproxy.end()
  await installation.close()
  proxy?.close()
  await rm(home, { recursive: true, force: true })
}
