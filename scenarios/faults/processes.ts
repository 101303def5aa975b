import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { randomFor } from '../../seed/random.ts'
import { sql } from '../../src/database/db.ts'
import { ensureLocalCertificate } from '../../src/tls/tls.ts'
import { compareCustomers, writeCustomers } from '../support/actors/customer-writers.ts'
import { check } from '../support/expectations/check.ts'
import { findFreePort } from '../support/free-port.ts'
import { faketime, faketimeMissing, haproxyMissing, startHaproxy } from '../support/haproxy.ts'
import { openInstallation } from '../support/installation.ts'
import { type Outcome, openClient, toOutcome, trustCertificate } from '../support/operations/client.ts'
import { parseInteger } from '../support/options.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/postgres-proxy.ts'
import { report } from '../support/report.ts'

const { seconds, clients, rounds, pause, keep } = new Command('npm run scenario -- processes')
  .description(
    'Runs three API processes behind HAProxy (Debian) with deploy/haproxy.cfg, and two workers; their clocks are 5 s apart. Restarts all in turn\nunder load, then isolates one from the database. Checks that no request fails during restarts, and that nothing is lost or stored twice.',
  )
  .option('--seconds <number>', 'duration of the isolation', parseInteger, 20)
  .option('--clients <number>', 'number of clients that create customers, and of those that read', parseInteger, 8)
  .option('--rounds <number>', 'number of restarts of all processes', parseInteger, 3)
  .option('--pause <milliseconds>', 'pause of a client after each request', parseInteger, 50)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run scenario -- processes\n  npm run scenario -- processes --seconds 4 --clients 2 --rounds 1 --pause 500\n',
  )
  .parse()
  .opts<{ seconds: number; clients: number; rounds: number; pause: number; keep?: boolean }>()

if (haproxyMissing) throw new Error(haproxyMissing)
if (faketimeMissing) throw new Error(faketimeMissing)

const home = mkdtempSync(join(tmpdir(), 'tillbridge-processes-'))
const certificate = ensureLocalCertificate(join(home, 'tls'))
const ports = [await findFreePort(), await findFreePort(), await findFreePort()]
/** Clock offsets in seconds: the clocks of the first and the last process of each role are wrong. */
const clockOffsets = ['+5', '+0', '-5']
let proxy: PostgresProxy | undefined
const getIndex = (name: string) => Number(name.split('-')[1]) - 1

const installation = await openInstallation({
  apis: 3,
  workers: 2,
  buildEnvironment: name => {
    const offset = clockOffsets[getIndex(name)] ?? '+0'
    return {
      ...(offset !== '+0' && { LD_PRELOAD: faketime, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' }),
      ...(name.startsWith('api') && {
        PORT: String(ports[getIndex(name)]),
        TLS_CERT_FILE: certificate.certFile,
        TLS_KEY_FILE: certificate.keyFile,
      }),
      SHUTDOWN_DELAY_SECONDS: '4',
    }
  },
  routeDatabase: async url => {
    proxy = await startPostgresProxy(url)
    return { 'api-2': proxy.connection }
  },
})
const { db, credentials, apis, workers } = installation
const haproxy = await startHaproxy({ directory: home, ports, certificate })
trustCertificate(certificate.caFile)
const api = openClient([haproxy], credentials, randomFor('processes'))

type Phase = 'steady' | 'restarting' | 'isolated' | 'reconnected' | 'over'
let phase: Phase = 'steady'
const statuses = new Map<string, number>()
const failures: { phase: Phase; description: string; at: number }[] = []
const acknowledged: string[] = []
const polled = new Set<string>()

/** Counts an outcome under the phase in which its request began; a request that overlaps the isolation counts there. */
function recordOutcome({ status, code }: Outcome<unknown>, request: string, begunIn: Phase) {
  const counted = [begunIn, phase].includes('isolated') ? 'isolated' : begunIn
  const name = `${counted}: ${status || 'no response'}`
  statuses.set(name, (statuses.get(name) ?? 0) + 1)
  if (status !== 200 && status !== 201)
    failures.push({ phase: counted, description: `${request}: ${status} ${code ?? ''}`, at: performance.now() })
}

async function create(client: number) {
  let begunIn = phase
  await writeCustomers(api, acknowledged, {
    prefix: `c${client}`,
    isOver: () => phase === 'over',
    pauseMs: pause,
    beforeAttempt() {
      begunIn = phase
    },
    onAttempt: outcome => recordOutcome(outcome, 'POST /customers', begunIn),
  })
}

async function readPage(query: Parameters<typeof api.customers.search>[0], cursor?: string) {
  const begunIn = phase
  const outcome = await toOutcome(api.customers.search(query).page(cursor))
  recordOutcome(outcome, 'GET /customers/search', begunIn)
  return outcome.data
}

let areWritesDone = false

/** Polls the list of customers by `asOf`, the last time after the last write. */
async function poll() {
  let asOf: string | undefined
  for (let isLast = false; !isLast; ) {
    isLast = areWritesDone
    let cursor: string | undefined
    do {
      const page = await readPage(asOf ? { updatedAfter: asOf } : { limit: 100 }, cursor)
      if (!page) {
        await delay(100)
        continue
      }
      for (const { contact } of page.data) polled.add(contact.email ?? '')
      cursor = page.meta.hasNextPage ? (page.meta.endCursor ?? undefined) : undefined
      if (!cursor) asOf = page.meta.asOf
    } while (cursor)
    await delay(pause)
  }
}

async function readRepeatedly() {
  while (phase !== 'over') {
    await readPage({ limit: 20 })
    await delay(pause)
  }
}

const listFailures = (inPhase: Phase) => failures.filter(failure => failure.phase === inPhase)

try {
  await haproxy.untilAllAreUp()
  const working = Promise.all([
    ...Array.from({ length: clients }, (_, i) => create(i)),
    ...Array.from({ length: clients }, () => readRepeatedly()),
  ])
  const polling = poll()
  await delay(1_000)
  phase = 'restarting'
  for (let round = 0; round < rounds; round++)
    for (const server of [...apis, ...workers]) {
      await server.restart()
      await haproxy.untilAllAreUp()
    }
  phase = 'isolated'
  const isolatedAt = performance.now()
  const reconnect = proxy?.cutOff()
  await delay(seconds * 1_000)
  reconnect?.()
  await haproxy.untilAllAreUp()
  phase = 'reconnected'
  await delay(2_000)
  phase = 'over'
  await working.finally(() => {
    areWritesDone = true
  })
  await polling
  const { stored, lost, duplicates, unexpected } = await compareCustomers(db, acknowledged)
  const overdue = await db.row<{ seconds: number }>(
    sql`select coalesce(max(extract(epoch from now() - due_at)), 0)::float8 as seconds from job where leased_until is null or leased_until < now()`,
  )
  const lastFailureSeconds = Math.max(0, ...listFailures('isolated').map(({ at }) => at - isolatedAt)) / 1_000
  if (listFailures('restarting').length) for (const line of installation.log.slice(0, 3)) console.error(line)
  report('processes', {
    keep,
    measurements: [
      ['clients that write, that read', `${clients}, ${clients}`],
      ['restarts of all processes', rounds],
      ['customers created', acknowledged.length],
      ...[...statuses].sort().map(([name, count]) => [`responses, ${name}`, count] as const),
      ['duration of the isolation, s', seconds],
      ['last rejection after the isolation began, s', lastFailureSeconds.toFixed(1)],
    ],
    checks: [
      check(
        'no request fails while all processes are restarted in turn',
        listFailures('restarting').map(({ description }) => description),
      ),
      check(
        'no request fails outside the restarts and the isolation',
        [...listFailures('steady'), ...listFailures('reconnected')].map(({ description }) => description),
      ),
      check(
        'an isolated process receives no requests after 15 s',
        lastFailureSeconds > 15 ? [`${lastFailureSeconds.toFixed(1)} s`] : [],
      ),
      check(
        'every response is 200, 201, 503 or 504',
        [...statuses.keys()].filter(name => !/: (200|201|503|504)$/.test(name)),
        statuses.size,
      ),
      check('every acknowledged customer is stored', lost, acknowledged.length),
      check('no customer is stored twice or without acknowledgement', [
        ...(duplicates ? [`${duplicates} twice`] : []),
        ...unexpected,
      ]),
      check(
        'a client that polls the list receives every customer',
        [...stored].filter(email => !polled.has(email)),
        stored.size,
      ),
      check(
        'the workers run the jobs that are due',
        (overdue?.seconds ?? 0) > 30 ? [`${overdue?.seconds} s overdue`] : [],
      ),
    ],
  })
} finally {
  phase = 'over'
  await haproxy.end()
  await installation.close()
  proxy?.close()
  await rm(home, { recursive: true, force: true })
}
