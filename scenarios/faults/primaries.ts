import { mkdtempSync } from 'node:fs'
import { chmod, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import type { Tillbridge } from '../../client/src/index.ts'
import { randomFor } from '../../seed/random.ts'
import { openDatabase, sql } from '../../src/database/db.ts'
import { type Postgres, startPostgres } from '../../src/postgres/postgres.ts'
import { writeAndReadChanges } from '../support/actors/change-reader.ts'
import { createCustomer } from '../support/actors/customer-writers.ts'
import { check } from '../support/expectations/check.ts'
import { openInstallation } from '../support/installation.ts'
import { openClient, toOutcome } from '../support/operations/client.ts'
import { parseInteger } from '../support/options.ts'
import { runCommand } from '../support/processes.ts'
import { quantile, report } from '../support/report.ts'
import { buildDatabaseUrl } from '../support/standby.ts'
import { createRetailers, type Retailer, writeUrlFiles } from './primaries/retailers.ts'

const { services, moves, seconds, rate, pause, times, keep } = new Command('npm run scenario -- primaries')
  .description(
    'Runs many services on three PostgreSQL servers. Some move to another server under load, then one server is killed. Checks that a move loses nothing\nand delivers no change twice or out of order. Writes must pause for less than 5 s, and only services on the dead server can fail.',
  )
  .option('--services <number>', 'number of services', parseInteger, 200)
  .option('--moves <number>', 'number of services that move', parseInteger, 20)
  .option('--seconds <number>', 'duration of the measurement before the kill, and after it', parseInteger, 30)
  .option('--rate <number>', 'requests a second', parseInteger, 60)
  .option('--pause <milliseconds>', 'pause of a client of a moving service after each request', parseInteger, 100)
  .option(
    '--times <number>',
    "allowed growth of the other services' p99 after the kill, in tenths (13 is 1.3 times); 0 skips this check",
    parseInteger,
    13,
  )
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run scenario -- primaries\n  npm run scenario -- primaries --services 12 --moves 2 --seconds 4 --rate 5 --pause 300 --times 0\n',
  )
  .parse()
  .opts<{
    services: number
    moves: number
    seconds: number
    rate: number
    pause: number
    times: number
    keep?: boolean
  }>()

const home = mkdtempSync(join(tmpdir(), 'tillbridge-primaries-'))
await chmod(home, 0o711)
const start = (name: string) =>
  startPostgres(join(home, name), { settings: { max_connections: '80' }, restartDelaysMs: [] })
const [first, east, west] = await Promise.all([start('control'), start('east'), start('west')])
const urlAt = (server: Postgres) => buildDatabaseUrl([server], server.connection.database)
const shardUrls = new Map([
  ['east', urlAt(east)],
  ['west', urlAt(west)],
])
const installation = await openInstallation({
  apis: 2,
  workers: 1,
  database: { url: urlAt(first), stop: async () => {} },
})
const { db: control, keys, apis, secret } = installation
const random = randomFor('primaries')
const environment = { DATABASE_URL: urlAt(first), SECRET_KEY: secret, DATA_DIR: join(home, 'data') }
const clients = new Map<Retailer, Tillbridge>()
function getClient(retailer: Retailer) {
  const client = clients.get(retailer) ?? openClient(apis, retailer.credentials, random)
  clients.set(retailer, client)
  return client
}

interface Sample {
  retailer: Retailer
  /** The shard when the request was sent. */
  shard: string | undefined
  status: number
  ms: number
}

const reads: ((api: Tillbridge) => Promise<unknown>)[] = [
  api => api.customers.get('c1'),
  api => api.customers.search({ limit: 10 }).page(),
  api => api.changes.list({ limit: 10 }).page(),
  api => api.stores.list().page(),
]
let createdCount = 0
/** Sends one request; one in five is a write. */
async function sendOne(retailer: Retailer): Promise<Sample> {
  const email = `new-${createdCount++}@example.com`
  const api = getClient(retailer)
  const [startedAt, { shard }] = [performance.now(), retailer]
  const isWrite = random.chance(0.2)
  const { status } = isWrite ? await createCustomer(api, email) : await toOutcome(random.pick(reads)(api))
  if (status === 201) retailer.acknowledged.push(email)
  return { retailer, shard, status, ms: performance.now() - startedAt }
}

/** Sends requests at a fixed rate, whatever the response times, until `isOver`. */
async function runLoad(retailers: readonly Retailer[], isOver: () => boolean): Promise<Sample[]> {
  const inFlight: Promise<Sample>[] = []
  for (let next = performance.now(); !isOver(); next += 1_000 / rate) {
    inFlight.push(sendOne(random.pick(retailers)))
    await delay(Math.max(0, next - performance.now()))
  }
  return Promise.all(inFlight)
}

const afterSeconds = (count: number) => {
  const end = performance.now() + count * 1_000
  return () => performance.now() > end
}
const getP99 = (samples: readonly Sample[]) =>
  quantile(
    samples.map(({ ms }) => ms),
    0.99,
  )
const listFailures = (samples: readonly Sample[]) =>
  samples
    .filter(({ status }) => status !== 200 && status !== 201)
    .map(({ retailer, status }) => `${retailer.service.name}: ${status}`)

/** Compares the customers in each database with those that were acknowledged. */
async function compareDatabases(retailers: readonly Retailer[], urls: ReadonlyMap<string | undefined, string>) {
  const wrong: string[] = []
  for (const [name, url] of urls) {
    const db = openDatabase(url, { max: 2 })
    for (const { shard, service, acknowledged } of retailers) {
      const rows = await db.rows<{ email: string }>(sql`select email from customer where service_id = ${service.id}`)
      if (shard !== name) {
        if (rows.length) wrong.push(`${service.name} has rows on another shard`)
        continue
      }
      const stored = new Set(rows.map(({ email }) => email))
      for (const email of acknowledged) if (!stored.has(email)) wrong.push(`${service.name}: ${email}`)
      if (stored.size < rows.length) wrong.push(`${service.name}: a customer is stored twice`)
    }
    await db.close()
  }
  return wrong
}

let restarted: Postgres | undefined
try {
  for (const { name, file } of writeUrlFiles(home, shardUrls))
    await runCommand(environment, 'shard', 'add', name, '--url-file', file)
  const allRetailers = await createRetailers(control, keys, shardUrls, { services, customers: 50 })
  await runLoad(allRetailers, afterSeconds(Math.min(10, seconds)))

  // Services of each database move to the next one; none can move into the control database.
  const targets = new Map([
    [undefined, 'east'],
    ['east', 'west'],
    ['west', 'east'],
  ])
  const moving = allRetailers.slice(0, moves)
  const staying = allRetailers.slice(moves)
  let areMoved = false
  const failedMoves: string[] = []
  const pausedSeconds: number[] = []
  const reading = moving.map(caller =>
    writeAndReadChanges(caller.service.name, getClient(caller), () => areMoved, pause),
  )
  const loading = runLoad(staying, () => areMoved)
  for (const caller of moving) {
    const to = targets.get(caller.shard) ?? 'east'
    const { code, output } = await runCommand(environment, 'service', 'move', caller.service.name, '--to', to)
    if (code === 0) caller.shard = to
    else failedMoves.push(`${caller.service.name}: ${output.trim()}`)
    pausedSeconds.push(Number(/paused for ([\d.]+) s/.exec(output)?.[1] ?? 0))
  }
  areMoved = true
  const changes = await Promise.all(reading)
  const duringMoves = await loading
  const samplesBeforeKill = await runLoad(allRetailers, afterSeconds(seconds))

  process.kill(west.pid, 'SIGKILL')
  await west.ended
  const samplesAfterKill = await runLoad(allRetailers, afterSeconds(seconds))
  const isOnDeadServer = ({ shard }: Sample) => shard === 'west'
  const excludeDeadServer = (samples: readonly Sample[]) => samples.filter(sample => !isOnDeadServer(sample))
  restarted = await start('west')

  const urls = new Map<string | undefined, string>([
    [undefined, urlAt(first)],
    ...shardUrls,
    ['west', urlAt(restarted)],
  ])
  const wrong = await compareDatabases(allRetailers, urls)
  const [beforeMs, afterMs] = [
    getP99(excludeDeadServer(samplesBeforeKill)),
    getP99(excludeDeadServer(samplesAfterKill)),
  ]
  const onDeadServer = samplesAfterKill.filter(isOnDeadServer)
  report('primaries', {
    keep,
    measurements: [
      ['servers, services, moves', `3, ${services}, ${moving.length}`],
      ['requests a second', rate],
      [
        'writes paused in a move, median and longest, s',
        `${quantile(pausedSeconds, 0.5)}, ${Math.max(...pausedSeconds)}`,
      ],
      [
        'longest time between two writes in a move, s',
        (Math.max(...changes.map(({ longestPauseMs }) => longestPauseMs)) / 1_000).toFixed(1),
      ],
      ['p99 of services that stay, during the moves, ms', getP99(duringMoves).toFixed(0)],
      ['p99 of services on the other servers, before the kill, ms', beforeMs.toFixed(0)],
      ['the same after the kill, ms', afterMs.toFixed(0)],
      ['requests for services on the dead server', onDeadServer.length],
    ],
    checks: [
      check('each move succeeds', failedMoves, moving.length),
      check(
        'writes pause for less than 5 s',
        pausedSeconds.filter(paused => paused >= 5).map(String),
        pausedSeconds.length,
      ),
      check(
        'clients that write and read changes lose nothing, and no change is delivered twice or out of order',
        changes.flatMap(change => change.wrong),
        changes.length,
      ),
      check('no request of a service that stays fails during moves', listFailures(duringMoves), duringMoves.length),
      check(
        'only services on the dead server fail',
        listFailures(excludeDeadServer(samplesAfterKill)),
        excludeDeadServer(samplesAfterKill).length,
      ),
      check(
        'requests for services on the dead server are rejected with 503',
        onDeadServer.filter(({ status }) => status !== 503).map(({ status }) => String(status)),
        onDeadServer.length,
      ),
      ...(times
        ? [
            check(
              `p99 of the other services grows at most ${times / 10} times`,
              afterMs > (beforeMs * times) / 10 ? [`${afterMs.toFixed(0)} ms`] : [],
            ),
          ]
        : []),
      check(
        'every acknowledged customer is stored once, in the database of its service',
        wrong,
        allRetailers.reduce((sum, writer) => sum + writer.acknowledged.length, 0),
      ),
    ],
  })
} finally {
  await installation.close()
  for (const server of [first, east, west, restarted]) await server?.stop()
  await rm(home, { recursive: true, force: true })
}
