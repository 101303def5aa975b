import { setTimeout as delay } from 'node:timers/promises'
import { Command, Option } from 'commander'
import { randomFor } from '../../seed/random.ts'
import { sql } from '../../src/database/db.ts'
import { check } from '../support/expectations/check.ts'
import { openInstallation } from '../support/installation.ts'
import { openClient, reconcile } from '../support/operations/client.ts'
import { parseInteger } from '../support/options.ts'
import { formatCounts, report, showProgress } from '../support/report.ts'
import { readCpuSeconds } from '../support/usage.ts'
import { openApparel21Stock } from './last-units/apparel21.ts'
import { openEmbeddedStock } from './last-units/embedded.ts'
import { probeExpiry } from './last-units/probe-expiry.ts'

const { clients, rounds, units, kills, tillSales, backOffice, seed, minutes, before, keep } = new Command(
  'npm run scenario -- last-units',
)
  .description(
    'Clients of two API processes reserve and order the last units of a SKU, round after round. One of the processes is killed (kill -9) while imports\nor syncs of the stock go on. Checks that no unit is sold twice and that expired reservations have no effect, also in /inventory.',
  )
  .option('--clients <number>', 'number of clients, each with one order in each round', parseInteger, 1_000)
  .option('--rounds <number>', 'number of rounds', parseInteger, 1_000)
  .option('--units <number>', 'units in stock at the beginning of a round', parseInteger, 100)
  .option('--kills <number>', 'kills of a process in ten rounds', parseInteger, 5)
  .option('--till-sales <number>', 'units that tills sell in each round, with Apparel21', parseInteger, 2)
  .addOption(
    new Option('--back-office <name>', 'where the stock is').choices(['embedded', 'apparel21']).default('embedded'),
  )
  .option('--seed <number>', 'chooses operations and kills', parseInteger, Date.now() % 1_000_000)
  .option('--minutes <number>', 'ends after the round in which this time has passed', parseInteger, 1_440)
  .option(
    '--before <number>',
    'contended orders of earlier runs with other seeds, to add in the report',
    parseInteger,
    0,
  )
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run scenario -- last-units\n  npm run scenario -- last-units --clients 100 --rounds 10\n  npm run scenario -- last-units --back-office apparel21 --clients 100 --rounds 10\n  npm run scenario -- last-units --minutes 20 --seed 2 --before 400000\n',
  )
  .parse()
  .opts<{
    clients: number
    rounds: number
    units: number
    kills: number
    tillSales: number
    backOffice: 'embedded' | 'apparel21'
    seed: number
    minutes: number
    before: number
    keep?: boolean
  }>()

const random = randomFor(`last units ${seed}`)
console.log(`seed ${seed}`)
const stock = await (backOffice === 'embedded' ? openEmbeddedStock : openApparel21Stock)()
const installation = await openInstallation({
  apis: 2,
  environment: { RUN_JOBS: 'true' },
  settings: { ...stock.settings, oversell: 'refuse' },
  prepare: stock.prepare,
  // Tillbridge rejects requests that it can't serve in time with 503. The clients repeat them.
  isUnexpected: line => /"level":(50|60)/.test(line) && !line.includes('"code":"service_unavailable"'),
})
const { db, service, apis, credentials, log } = installation
const api = openClient(apis, credentials, random, { timeoutMs: 60_000 })

const retries = new Map<string, number>()
const outcomes = new Map<string, number>()
const contradictions: string[] = []
const countUp = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
const repeatUntilFinal = <T>(call: () => Promise<T>) =>
  reconcile(call, { random, onRetry: code => countUp(retries, code.replace(/^(\d+ )?/, '')) })

/** The steps of a client before its order: more than half of the clients have none. */
const preparations = [...Array(6).fill('none'), 'expire', 'release', 'reserve', 'reserve'] as const
/** The same for the second half of the clients, without expiries, so that no round ends with a wait for one. */
const latePreparations = preparations.map(preparation => (preparation === 'expire' ? 'none' : preparation))

/** Orders one unit: with a reservation, after one was released, after one has expired, or without any. */
async function buyOneUnit(round: number, client: number) {
  const key = `${round}-${client}`
  const lines = [{ sku: stock.sku, quantity: 1 }]
  const preparation = random.pick(client < clients / 2 ? preparations : latePreparations)
  const seconds = preparation === 'expire' ? 1 : 120
  const reserved =
    preparation === 'none'
      ? undefined
      : await repeatUntilFinal(() => api.reservations.create({ lines, seconds }, { idempotencyKey: `reserve-${key}` }))
  const { id } = reserved?.data ?? {}
  if (id && preparation === 'expire') await delay(1_000)
  if (id && preparation === 'release') await repeatUntilFinal(() => api.reservations.release(id))
  const reservationId = preparation === 'reserve' ? id : undefined
  const body = { ...stock.buildOrder(client), ...(reservationId && { reservationId }) }
  const {
    status,
    data,
    code = '',
  } = await repeatUntilFinal(() => api.orders.place(body, { idempotencyKey: `order-${key}` }))
  countUp(outcomes, data ? 'placed' : code)
  if (data || code === 'insufficient_stock' || (code === 'reservation_expired' && reservationId)) return
  contradictions.push(`order ${key}: ${status} ${code}`)
}

/** Kills one of the processes at some time within the round. */
async function killOne(isRoundOver: () => boolean) {
  await delay(random.integer(100, 2_000))
  const running = apis.filter(({ isUp }) => isUp)
  if (running.length === apis.length && !isRoundOver()) random.pick(running).kill()
}

let isOver = false
let longestOverdueMs = 0
/** Measures how long expired reservations stay in the table: until then, the change feed does not show their end. */
async function watchReservations() {
  while (!isOver) {
    const row = await db.row<{ ms: number | null }>(sql`
      select max(extract(epoch from clock_timestamp() - expires_at) * 1000)::float8 as ms
        from stock_reservation where service_id = ${service.id}`)
    longestOverdueMs = Math.max(longestOverdueMs, row?.ms ?? 0)
    await delay(50)
  }
}

interface Progress {
  orders: number
  perSecond: number
}

const progress = showProgress<Progress>(
  rounds,
  Math.min(50, Math.ceil(rounds / 10)),
  'rounds',
  ({ orders, perSecond }) =>
    `: ${orders} contended orders, ${outcomes.get('placed') ?? 0} placed, ${countKills()} kills, ${contradictions.length} contradictions, ${perSecond.toFixed(0)} orders/s, ${((clients * rounds - orders) / perSecond / 60).toFixed(0)} min left`,
)
const countKills = () => apis.reduce((sum, { kills: processKills }) => sum + processKills.length, 0)
/** Returns the CPU seconds of the clients in this process, of PostgreSQL, and of all processes together. */
function readCpu() {
  const { user, system } = process.cpuUsage()
  return [(user + system) / 1e6, readCpuSeconds(installation.postgres.pid), readCpuSeconds(process.pid)] as const
}

const startedAt = performance.now()
const getElapsedSeconds = () => (performance.now() - startedAt) / 1_000
let completed = 0
try {
  const watching = watchReservations()
  // The probe needs the unit that `begin` makes available.
  await stock.begin(installation, units)
  const probing = probeExpiry({ api, sku: stock.probeSku, repeatUntilFinal, isOver: () => isOver })
  const cpuBefore = readCpu()
  for (let round = 1; round <= rounds && getElapsedSeconds() < minutes * 60; round++) {
    if (round > 1) await stock.begin(installation, units)
    let isRoundOver = false
    const disturbance = stock.disturb(installation, { random, tillSales, isOver: () => isRoundOver })
    const killing = random.chance(kills / 10) ? killOne(() => isRoundOver) : undefined
    await Promise.all(Array.from({ length: clients }, (_, client) => buyOneUnit(round, client)))
    isRoundOver = true
    await Promise.all([disturbance, killing])
    contradictions.push(...(await stock.end(installation, round)))
    completed = round
    progress.update(round, { orders: clients * round, perSecond: (clients * round) / getElapsedSeconds() })
  }
  const seconds = getElapsedSeconds()
  const [clientsCpu = 0, databaseCpu = 0, allCpu = 0] = readCpu().map((used, i) => used - (cpuBefore[i] ?? 0))
  const formatCpu = (used: number) => ((used / (clients * completed)) * 1_000).toFixed(2)
  isOver = true
  await watching
  const expiry = await probing
  const placed = outcomes.get('placed') ?? 0
  const stored = await db.run(sql`select from sales_order where service_id = ${service.id}`)
  const { measurements, checks } = stock.summarize(placed)
  report(backOffice === 'embedded' ? 'last-units' : 'last-units-apparel21', {
    keep,
    command: `last-units --back-office ${backOffice} --clients ${clients} --rounds ${rounds} --units ${units} --kills ${kills}${backOffice === 'apparel21' ? ` --till-sales ${tillSales}` : ''} --seed ${seed}${before ? ` --before ${before}` : ''}`,
    measurements: [
      ['clients, rounds, units in each round', `${clients}, ${completed}, ${units}`],
      ['contended orders', clients * completed],
      ['contended orders with those of earlier runs', before + clients * completed],
      ['orders per second', ((clients * completed) / seconds).toFixed(0)],
      [
        'CPU per contended order, ms: clients, Tillbridge, PostgreSQL',
        [clientsCpu, allCpu - clientsCpu - databaseCpu, databaseCpu].map(formatCpu).join(', '),
      ],
      ['results', formatCounts(outcomes)],
      ['attempts without a final response', formatCounts(retries)],
      ['kills', countKills()],
      ...expiry.measurements,
      ['longest time until the change feed showed the end of a reservation, ms', longestOverdueMs.toFixed(0)],
      ['duration, min', (getElapsedSeconds() / 60).toFixed(1)],
      ...measurements,
    ],
    checks: [
      check('every order has a final result that its stock explains', contradictions, clients * completed),
      check('every acknowledged order is stored once', stored === placed ? [] : [`${placed} placed, ${stored} stored`]),
      ...expiry.checks,
      check('no process logs an unexpected error', log),
      ...checks,
    ],
  })
} finally {
  isOver = true
  progress.end()
  await installation.close()
  await stock.close()
}
