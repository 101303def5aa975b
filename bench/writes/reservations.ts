import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../src/database/db.ts'
import { addAccount } from '../../src/store/accounts/accounts.ts'
import type { Bench } from '../rig/bench.ts'
import type { LoadedDatabase } from '../rig/database.ts'
import { startService } from '../rig/processes.ts'
import { createQuantile } from '../rig/quantile.ts'
import { formatPercent, formatTenths, formatWhole, getMedianBy, type Section } from '../rig/report.ts'
import { type Client, createClient } from './client.ts'
import { findSku, lockVouchers } from './kinds.ts'
import { clients, openShop } from './shop.ts'

const warmMs = 2_000
const minSeconds = 3
const page = '/products?limit=100'

interface Round {
  perSecond: number
  p50: number
  p99: number
  /** Median milliseconds of a page that one client reads at the same time. */
  pageMs: number
}

/** Compares reservations with locks of vouchers in the same rounds, and the pages that one client reads at the same time. */
export async function measureReservations(bench: Bench, loaded: LoadedDatabase): Promise<Section> {
  const seconds = Math.max(bench.seconds, minSeconds)
  const name = `reservations-${randomUUID()}`
  const service = await openShop(loaded, name)
  const password = (await addAccount(loaded.db, loaded.keys, name, service, 'maintainer')) ?? ''
  const running = await startService(bench.directory, { DATABASE_URL: loaded.url })
  const client = createClient(running, name, password)
  const lock = await lockVouchers(client)
  const writeSteps = {
    'lock of a voucher': (number: number) => [() => lock(number)],
    'reserve and release': (number: number) => {
      let id = ''
      return [
        async () => {
          const lines = [{ sku: findSku(number), quantity: 1 }]
          id = (await client.write<{ id: string }>('POST', '/reservations', { lines })).id
        },
        () => client.write('DELETE', `/reservations/${id}`),
      ]
    },
    'pages alone': () => [],
  } satisfies Record<string, (number: number) => (() => Promise<unknown>)[]>
  const results = new Map<string, Round[]>()
  try {
    for (let round = 0; round < bench.rounds; round++)
      for (const [kind, buildSteps] of Object.entries(writeSteps)) {
        bench.say(`  ${kind}`)
        const rounds = results.get(kind) ?? []
        results.set(kind, rounds)
        rounds.push(await measureLoad(client, buildSteps, seconds))
      }
  } finally {
    client.end()
    await running.stop()
    await loaded.db.run(sql`delete from service where service_id = ${service.id}`)
    await loaded.db.run(sql`delete from account where username = ${name}`)
  }
  const getMedianRound = (kind: keyof typeof writeSteps) =>
    getMedianBy(results.get(kind) ?? [], ({ pageMs, perSecond }) => perSecond || pageMs)
  const [locks, reservations, alone] = [
    getMedianRound('lock of a voucher'),
    getMedianRound('reserve and release'),
    getMedianRound('pages alone'),
  ]
  const share = reservations.perSecond / locks.perSecond
  const slowdown = reservations.pageMs / locks.pageMs
  const buildRow = (kind: string, { perSecond, p50, p99, pageMs }: Round) => [
    kind,
    perSecond ? formatWhole(perSecond) : '-',
    ...[p50, p99, pageMs].map(formatTenths),
  ]
  return {
    title: 'Reservations',
    about: `${clients} clients with persistent connections. Each reserves one unit of its own SKU and releases it, or locks its own voucher, again and again; a reservation and its release count as two writes. Another client reads \`GET ${page}\` at the same time. The generator runs on the same cores. A measurement takes ${seconds} s, after ${warmMs / 1_000} s of warm-up.`,
    tables: [
      {
        caption: 'Over HTTPS, in the same rounds',
        head: ['write', 'writes/s', 'p50 ms', 'p99 ms', 'page, p50 ms'],
        rows: [
          buildRow('lock of a voucher', locks),
          buildRow('reserve and release', reservations),
          buildRow('pages alone', alone),
        ],
      },
    ],
    targets: [
      {
        label: 'reserve and release: share of the rate of voucher locks',
        expected: 'at least 60 %',
        actual: formatPercent(share),
        met: share >= 0.6,
      },
      {
        label: 'page during reservations: share of a page during voucher locks',
        expected: 'at most 120 %',
        actual: formatPercent(slowdown),
        met: slowdown <= 1.2,
      },
    ],
  }
}

async function measureLoad(
  client: Client,
  buildSteps: (number: number) => (() => Promise<unknown>)[],
  seconds: number,
): Promise<Round> {
  let times: number[] = []
  let pages: number[] = []
  let isRunning = true
  const repeat = async (steps: readonly (() => Promise<unknown>)[], record: (ms: number) => void) => {
    while (isRunning && steps.length)
      for (const step of steps) {
        const from = performance.now()
        await step()
        record(performance.now() - from)
      }
  }
  const allClients = Promise.all([
    repeat([() => client.read(page)], ms => pages.push(ms)),
    ...Array.from({ length: clients }, (_, number) => repeat(buildSteps(number), ms => times.push(ms))),
  ])
  // A rejected client ends the measurement.
  const run = async (ms: number) => void (await Promise.race([allClients, delay(ms)]))
  try {
    await run(warmMs)
    times = []
    pages = []
    const from = performance.now()
    await run(seconds * 1_000)
    const perSecond = (times.length / (performance.now() - from)) * 1_000
    const quantile = createQuantile(times)
    return { perSecond, p50: quantile(0.5), p99: quantile(0.99), pageMs: createQuantile(pages)(0.5) }
  } finally {
    isRunning = false
    await allClients
  }
}
