import { mkdtempSync, writeFileSync } from 'node:fs'
import { chmod, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { randomFor } from '../../seed/random.ts'
import { openDatabase, sql } from '../../src/database/db.ts'
import { startPostgres } from '../../src/postgres/postgres.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { writeAndReadChanges } from '../support/actors/change-reader.ts'
import { check } from '../support/expectations/check.ts'
import { openInstallation } from '../support/installation.ts'
import { openClient, toOutcome } from '../support/operations/client.ts'
import { parseInteger } from '../support/options.ts'
import { runCommand } from '../support/processes.ts'
import { report } from '../support/report.ts'
import { buildDatabaseUrl } from '../support/standby.ts'

const { rows, writers, pause, keep } = new Command('npm run scenario -- move')
  .description(
    'Moves a service with many rows from one PostgreSQL server to another while clients create customers, change existing ones and read changes.\nChecks that writes pause for less than 5 s whatever the number of rows, and that nothing is lost.',
  )
  .option('--rows <number>', 'number of customers', parseInteger, 1_000_000)
  .option('--writers <number>', 'number of clients that change existing customers', parseInteger, 2)
  .option('--pause <milliseconds>', 'pause of a client after each change', parseInteger, 5)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText('after', '\nExamples:\n  npm run scenario -- move\n  npm run scenario -- move --rows 5000\n')
  .parse()
  .opts<{ rows: number; writers: number; pause: number; keep?: boolean }>()

const home = mkdtempSync(join(tmpdir(), 'tillbridge-move-'))
await chmod(home, 0o711)
const [first, east] = await Promise.all(
  ['control', 'east'].map(name => startPostgres(join(home, name), { restartDelaysMs: [] })),
)
if (!first || !east) throw new Error('two servers were started')
const [firstUrl, eastUrl] = [first, east].map(server => buildDatabaseUrl([server], server.connection.database)) as [
  string,
  string,
]
const installation = await openInstallation({ database: { url: firstUrl, stop: async () => {} } })
const { apis, secret, service, credentials } = installation
const api = openClient(apis, credentials, randomFor('move'))
const environment = { DATABASE_URL: firstUrl, SECRET_KEY: secret, DATA_DIR: join(home, 'data') }

/** Inserts one customer like an import, and then copies of it. */
async function insertCustomers() {
  const db = openDatabase(firstUrl, { max: 1, statementTimeoutMs: 0 })
  await upsertCustomers(db, service, [
    { id: 'c0', firstname: 'Ann', surname: 'Lee', address: { addressLine1: 'x'.repeat(60) } },
  ])
  const batchSize = 50_000
  for (let from = 1; from < rows; from += batchSize)
    await db.run(sql`
      insert into customer
      select copied.*
        from customer c cross join generate_series(${from}::integer, ${Math.min(rows, from + batchSize) - 1}::integer) i
       cross join lateral json_populate_record(c, json_build_object('id', 'c' || i, 'record', replace(c.record, '"c0"', '"c' || i || '"'))) copied
       where c.service_id = ${service.id} and c.id = 'c0'`)
  await db.close()
}

/** The last acknowledged first name of each changed customer. */
const lastNames = new Map<string, string>()
let isMoved = false

/** Changes existing customers one after the other. Writers don't share customers. */
async function changeCustomers(writer: number) {
  const random = randomFor(`writer ${writer}`)
  for (let i = 0; !isMoved; i++) {
    const id = `c${random.integer(0, Math.floor(rows / writers) - 1) * writers + writer}`
    const firstname = `Ann ${writer} ${i}`
    for (let status = 0; status !== 200; await delay(pause))
      status = (await toOutcome(api.customers.update(id, { firstname }))).status
    lastNames.set(id, firstname)
  }
}

try {
  await insertCustomers()
  const file = join(home, 'east.url')
  writeFileSync(file, eastUrl)
  await runCommand(environment, 'shard', 'add', 'east', '--url-file', file)
  const reading = writeAndReadChanges(service.name, api, () => isMoved, Math.max(100, pause))
  const changing = Array.from({ length: writers }, (_, i) => changeCustomers(i))
  await delay(1_000)
  const startedAt = performance.now()
  const { code, output } = await runCommand(environment, 'service', 'move', service.name, '--to', 'east')
  const seconds = (performance.now() - startedAt) / 1_000
  isMoved = true
  const [{ wrong, longestPauseMs }] = await Promise.all([reading, ...changing])
  const target = openDatabase(eastUrl, { max: 2, statementTimeoutMs: 0 })
  const moved = await target.row<{ count: number }>(
    sql`select count(*)::integer as count from customer where service_id = ${service.id} and id ~ '^c\\d+$'`,
  )
  const names = await target.rows<{ id: string; firstname: string }>(
    sql`select id, firstname from customer where service_id = ${service.id} and id = any(${[...lastNames.keys()]})`,
  )
  await target.close()
  const stored = new Map(names.map(({ id, firstname }) => [id, firstname]))
  const pausedSeconds = Number(/paused for ([\d.]+) s/.exec(output)?.[1] ?? Number.NaN)
  report('move', {
    keep,
    measurements: [
      ['customers', rows.toLocaleString('en')],
      ['customers changed during the move', lastNames.size],
      ['duration of the move including cleanup, s', seconds.toFixed(0)],
      ['writes paused, s', pausedSeconds],
      ['longest time between two writes, s', (longestPauseMs / 1_000).toFixed(1)],
    ],
    checks: [
      check('the move succeeds', code === 0 ? [] : [output.trim()]),
      check('writes pause for less than 5 s', pausedSeconds < 5 ? [] : [String(pausedSeconds)]),
      check(
        'clients that write and read changes lose nothing, and no change is delivered twice or out of order',
        wrong,
      ),
      check('each customer is on the new server', moved?.count === rows ? [] : [String(moved?.count)], rows),
      check(
        'each changed customer has its last acknowledged name',
        [...lastNames].filter(([id, name]) => stored.get(id) !== name).map(([id]) => id),
        lastNames.size,
      ),
    ],
  })
} finally {
  isMoved = true
  await installation.close()
  for (const server of [first, east]) await server.stop()
  await rm(home, { recursive: true, force: true })
}
