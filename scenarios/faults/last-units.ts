import { setTimeout as delay } from 'node:timers/promises'
import { Command, Option } from 'commander'
import { randomFor } from '../../seed/random.ts'
import { sql } from '../../src/database/db.ts'
import { check } from '../support/expectations/check.ts'
import { openInstallation } from '../support/installation.ts'
import { openClient, reconcile } from '../support/operations/client.ts'
import { integer } from '../support/options.ts'
import { formatCounts, report, showProgress } from '../support/report.ts'
import { openApparel21Stock } from './last-units/apparel21.ts'
import { openEmbeddedStock } from './last-units/embedded.ts'
import { probeExpiry } from './last-units/probe-expiry.ts'

const { clients, rounds, units, kills, tillSales, backOffice, seed, keep } = new Command(
  'npm run scenario -- last-units',
)
  .description(
    'Clients of two API processes reserve and order the last units of a SKU, round after round. One of the processes is killed (kill -9) while imports\nor syncs of the stock go on. Checks that no unit is sold twice and that expired reservations have no effect, also in /inventory.',
  )
  .option('--clients <number>', 'number of clients, each with one order in each round', integer, 1_000)
  .option('--rounds <number>', 'number of rounds', integer, 1_000)
  .option('--units <number>', 'units in stock at the beginning of a round', integer, 100)
  .option('--kills <number>', 'kills of a process in ten rounds', integer, 5)
  .option('--till-sales <number>', 'units that tills sell in each round, with Apparel21', integer, 2)
  .addOption(
    new Option('--back-office <name>', 'where the stock is').choices(['embedded', 'apparel21']).default('embedded'),
  )
  .option('--seed <number>', 'chooses operations and kills', integer, Date.now() % 1_000_000)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run scenario -- last-units\n  npm run scenario -- last-units --clients 100 --rounds 10\n  npm run scenario -- last-units --back-office apparel21 --clients 100 --rounds 10\n',
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
  // 503 is how Tillbridge answers more requests than it can serve in time. The clients repeat them.
  isUnexpected: line => /"level":(50|60)/.test(line) && !line.includes('"code":"service_unavailable"'),
})
const { db, service, apis, credentials, log } = installation
const api = openClient(apis, credentials, random, { timeoutMs: 60_000 })

const retries = new Map<string, number>()
const outcomes = new Map<string, number>()
const contradictions: string[] = []
const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
const settle = <T>(call: () => Promise<T>) =>
  reconcile(call, { random, onRetry: code => count(retries, code.replace(/^(\d+ )?/, '')) })

/** The steps of a client before its order: more than half of the clients have none. */
const preparations = [...Array(6).fill('none'), 'expire', 'release', 'reserve', 'reserve'] as const

/** Orders one unit: with a reservation, after one was released, after one has expired, or without any. */
async function buy(round: number, client: number) {
  const key = `${round}-${client}`
  const lines = [{ sku: stock.sku, quantity: 1 }]
  const preparation = random.pick(preparations)
  const seconds = preparation === 'expire' ? 1 : 120
  const reserved =
    preparation === 'none'
      ? undefined
      : await settle(() => api.reservations.create({ lines, seconds }, { idempotencyKey: `reserve-${key}` }))
  const { id } = reserved?.data ?? {}
  if (id && preparation === 'expire') await delay(1_000)
  if (id && preparation === 'release') await settle(() => api.reservations.release(id))
  const reservationId = preparation === 'reserve' ? id : undefined
  const body = { ...stock.buildOrder(client), ...(reservationId && { reservationId }) }
  const { status, data, code = '' } = await settle(() => api.orders.place(body, { idempotencyKey: `order-${key}` }))
  count(outcomes, data ? 'placed' : code)
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

const progress = showProgress(rounds, Math.ceil(rounds / 10), 'rounds', () => '')
const begun = performance.now()
let roundSeconds = 0
try {
  const watching = watchReservations()
  // The probe's unit exists from here on.
  await stock.begin(installation, units)
  const probing = probeExpiry({ api, sku: stock.probeSku, settle, isOver: () => isOver })
  for (let round = 1; round <= rounds; round++) {
    if (round > 1) await stock.begin(installation, units)
    const roundBegun = performance.now()
    let isRoundOver = false
    const disturbing = stock.disturb(installation, { random, tillSales, isOver: () => isRoundOver })
    const killing = random.chance(kills / 10) ? killOne(() => isRoundOver) : undefined
    await Promise.all(Array.from({ length: clients }, (_, client) => buy(round, client)))
    isRoundOver = true
    roundSeconds += (performance.now() - roundBegun) / 1_000
    await Promise.all([disturbing, killing])
    contradictions.push(...(await stock.end(installation, round)))
    progress.update(round, {})
  }
  isOver = true
  await watching
  const expiry = await probing
  const placed = outcomes.get('placed') ?? 0
  const stored = await db.run(sql`select from sales_order where service_id = ${service.id}`)
  const { measurements, checks } = stock.summarize(placed)
  report(backOffice === 'embedded' ? 'last-units' : 'last-units-apparel21', {
    keep,
    command: `last-units --back-office ${backOffice} --clients ${clients} --rounds ${rounds} --units ${units} --kills ${kills}${backOffice === 'apparel21' ? ` --till-sales ${tillSales}` : ''} --seed ${seed}`,
    measurements: [
      ['clients, rounds, units in each round', `${clients}, ${rounds}, ${units}`],
      ['contended orders', clients * rounds],
      ['orders per second', ((clients * rounds) / roundSeconds).toFixed(0)],
      ['results', formatCounts(outcomes)],
      ['attempts without a final response', formatCounts(retries)],
      ['kills', apis.reduce((sum, { kills: ofApi }) => sum + ofApi.length, 0)],
      ...expiry.measurements,
      ['longest time until the change feed showed the end of a reservation, ms', longestOverdueMs.toFixed(0)],
      ['duration, min', ((performance.now() - begun) / 60_000).toFixed(1)],
      ...measurements,
    ],
    checks: [
      check('every order has a final result that its stock explains', contradictions, clients * rounds),
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
