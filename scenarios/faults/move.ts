import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { chmod, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { openDatabase, sql } from '../../src/database/db.ts'
import { startPostgres } from '../../src/postgres/postgres.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { type Asked, askOnce } from '../support/asking.ts'
import { seeded } from '../support/random.ts'
import { waysTo } from '../support/reaching.ts'
import { urlOf } from '../support/standby.ts'
import { verdict } from '../support/verdict.ts'
import { openInstallation } from './installation.ts'
import { whole } from './options.ts'
import { writeAndFollow } from './primaries/following.ts'
import type { Retailer } from './primaries/retailers.ts'
import { tell } from './telling.ts'

const { rows, writers, keep } = new Command('npm run trial -- move')
  .description(
    'A service of many rows is moved from one PostgreSQL server to another while it is written and followed, and rows of before are changed. Judges that\nwrites pause for less than 5 s however many rows there are, and that nothing is lost.',
  )
  .option('--rows <number>', 'how many customers it has', whole, 1_000_000)
  .option('--writers <number>', 'how many change customers of before', whole, 2)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText('after', '\nExamples:\n  npm run trial -- move\n  npm run trial -- move --rows 5000\n')
  .parse()
  .opts<{ rows: number; writers: number; keep?: boolean }>()

const home = mkdtempSync(join(tmpdir(), 'tillbridge-move-'))
await chmod(home, 0o711)
const [first, east] = await Promise.all(
  ['control', 'east'].map(name => startPostgres(join(home, name), { restartWaitsMs: [] })),
)
if (!first || !east) throw new Error('both are started')
const urls = [first, east].map(server => urlOf([server], server.connection.database))
const installation = await openInstallation({ apis: 1, at: { url: urls[0] ?? '', stop: async () => {} } })
const { apis, secret, service, headers } = installation
const ways = waysTo(apis, {}, seeded(1))

/** Runs a command of `tillbridge`; returns what it says. */
async function command(...args: string[]) {
  const env = { ...process.env, DATABASE_URL: urls[0], SECRET_KEY: secret, DATA_DIR: join(home, 'data') }
  const cli = fileURLToPath(new URL('../../src/cli.js', import.meta.url))
  const child = spawn(process.execPath, [cli, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [[code], said, err] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  return { code: code as number, said, err }
}

/** Gives the service as many customers: one as an import makes it, the others after it. */
async function fill() {
  const db = openDatabase(urls[0] ?? '', { max: 1, statementTimeoutMs: 0 })
  await upsertCustomers(db, service, [
    { id: 'c0', firstname: 'Ann', surname: 'Lee', address: { addressLine1: 'x'.repeat(60) } },
  ])
  const portion = 50_000
  for (let from = 1; from < rows; from += portion)
    await db.run(sql`
      insert into customer
      select made.*
        from customer c cross join generate_series(${from}::integer, ${Math.min(rows, from + portion) - 1}::integer) i
       cross join lateral json_populate_record(c, json_build_object('id', 'c' || i, 'record', replace(c.record, '"c0"', '"c' || i || '"'))) made
       where c.service_id = ${service.id} and c.id = 'c0'`)
  await db.close()
}

const ask = async <Data>(retailer: Retailer, asked: Asked) => {
  const way = ways.any()
  if (!way) throw new Error('the processes have ended')
  return askOnce<Data>(asked, { ...way, headers: retailer.headers }).catch(() => undefined)
}
const retailer: Retailer = { service, at: undefined, headers, acknowledged: [] }
const changed = new Map<string, string>()
let isMoved = false

/** Changes customers of before, one after the other; what was acknowledged is in `changed`. */
async function change(writer: number) {
  const random = seeded(writer)
  for (let i = 0; !isMoved; i++) {
    const id = `c${random.whole(0, Math.floor(rows / writers) - 1) * writers + writer}`
    const firstname = `Ann ${writer} ${i}`
    const path = `/customers/${id}`
    const asked = { method: 'PUT', path, key: `${writer}-${i}`, body: { firstname } } as const
    for (let status = 0; status !== 200; await delay(5)) status = (await ask(retailer, asked))?.status ?? 0
    changed.set(id, firstname)
  }
}

try {
  await fill()
  const file = join(home, 'east.url')
  writeFileSync(file, urls[1] ?? '')
  await command('database', 'add', 'east', '--url-file', file)
  const following = writeAndFollow(retailer, ask, () => isMoved)
  const changing = Array.from({ length: writers }, (_, i) => change(i))
  await delay(1_000)
  const began = performance.now()
  const { code, said, err } = await command('service', 'move', service.name, '--to', 'east')
  const seconds = (performance.now() - began) / 1_000
  isMoved = true
  const [{ wrong, pausedMs }] = await Promise.all([following, ...changing])
  const target = openDatabase(urls[1] ?? '', { max: 2, statementTimeoutMs: 0 })
  const there = await target.row<{ count: number }>(
    sql`select count(*)::integer as count from customer where service_id = ${service.id} and id ~ '^c\\d+$'`,
  )
  const names = await target.rows<{ id: string; firstname: string }>(
    sql`select id, firstname from customer where service_id = ${service.id} and id = any(${[...changed.keys()]})`,
  )
  await target.close()
  const known = new Map(names.map(each => [each.id, each.firstname]))
  const paused = Number(/paused for ([\d.]+) s/.exec(said)?.[1] ?? Number.NaN)
  tell('move', {
    keep: keep === true,
    figures: [
      ['customers of before', rows.toLocaleString('en')],
      ['of them changed while it moved', changed.size],
      ['the move, with what is left removed, s', seconds.toFixed(0)],
      ['writes paused, s', paused],
      ['from one write to the next, longest, s', (pausedMs / 1_000).toFixed(1)],
    ],
    verdicts: [
      verdict('it is moved', code === 0 ? [] : [err.trim()]),
      verdict('writes pause for less than 5 s', paused < 5 ? [] : [String(paused)]),
      verdict('whoever writes and follows loses nothing, is told nothing twice, and no stamp goes back', wrong),
      verdict('each customer of before is there', there?.count === rows ? [] : [String(there?.count)], rows),
      verdict(
        'each has the name that was given to it last',
        [...changed].filter(([id, name]) => known.get(id) !== name).map(([id]) => id),
        changed.size,
      ),
    ],
  })
} finally {
  isMoved = true
  ways.close()
  await installation.close()
  for (const server of [first, east]) await server.stop()
  await rm(home, { recursive: true, force: true })
}
