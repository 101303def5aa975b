import { existsSync, rmSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { raw, sql } from '../../src/database/db.ts'
import { upsertProducts } from '../../src/store/catalog/products.ts'
import { upsertStores } from '../../src/store/catalog/stores.ts'
import { openInstallation } from '../faults/installation.ts'
import { whole } from '../faults/options.ts'
import { tell } from '../faults/telling.ts'
import { seeded } from '../support/random.ts'
import { currency, productRows, stores } from '../support/records.ts'
import { verdict } from '../support/verdict.ts'
import { begin, type Ended, program } from './command.ts'
import { type List, lists, writeRecords } from './lists.ts'

const { lines, kills, seed, keep } = new Command('npm run trial -- millions')
  .description(
    'Records are made, half of them customers and half of them transactions, one a line of NDJSON. Imports, each killed now and then and gone on with, take them in;\n' +
      'exports, killed too and begun anew, write them out. Judges that what comes out is what went in, to the byte, once both are sorted. Ten million lines take 25 GB\nof disk under TMPDIR.',
  )
  .option('--lines <number>', 'how many lines', whole, 500_000)
  .option('--kills <number>', 'how often the import of a file is killed', whole, 3)
  .option('--seed <number>', 'where it is killed', whole, 1)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run trial -- millions\n  npm run trial -- millions --lines 10000000 --keep\n',
  )
  .parse()
  .opts<{ lines: number; kills: number; seed: number; keep?: boolean }>()

/** What a process may need, in MB, however many lines there are. */
const mostMegabytes = 400
const count = Math.floor(lines / 2)
const random = seeded(seed)
/** Behind two batches, which may be under way together: the third one begins once the first is noted. */
const first = 4_000
const from = Math.max(first, Math.floor(count / 3))
/** Each kill has a stretch of the records, and lies in its first half: what is beside it may be in when the next one comes. */
const stretch = Math.floor((count - from) / kills)
if (kills > 1 && stretch < 2 * first) {
  console.error(`So many kills lie too close to each other: --lines ${24_000 * kills} or more, or fewer --kills.`)
  process.exit(1)
}
const installation = await openInstallation({
  apis: 0,
  settings: { currency },
  prepare: async ({ db, service }) => {
    await upsertStores(db, service, stores)
    await upsertProducts(db, service, productRows)
  },
})
const { db, service, databaseUrl, directory: home } = installation
const runs: Record<'import' | 'export', Ended[]> = { import: [], export: [] }
/** What contradicts the facts. */
const wrong = { resumed: [] as string[], missing: [] as string[], half: [] as string[], different: [] as string[] }
let wentOn = 0
let cut = 0

const begun = (...args: string[]) => begin(args, { home, databaseUrl })
const isBusy = async (what: string) =>
  (
    await db.rows(
      sql`select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend' and ${raw(what)}`,
    )
  ).length > 0

/** Holds a record that an import is about to write, and kills it once it waits for that one. */
async function killedAt({ kind, table, row }: List, place: number, importing: ReturnType<typeof begun>) {
  const holder = await db.pool.connect()
  const { columns, values } = row(place)
  await holder.query('begin')
  await holder.query('set local idle_in_transaction_session_timeout = 0')
  await holder.query(`insert into ${table} (service_id, ${columns}) values (${service.id}, ${values})`)
  // Not of any lock: two batches that grow a table at the same time wait for each other too.
  while (importing.isRunning() && !(await isBusy(`wait_event = 'transactionid'`))) await delay(20)
  if (!importing.isRunning()) wrong.resumed.push(`${kind}: the import ended before record ${place}`)
  importing.kill()
  holder.release(true)
  const ended = await importing.ended
  // What it had sent to the database may still be carried out.
  while (await isBusy(`state <> 'idle'`)) await delay(20)
  return ended
}

/** Imports a file, killed at some places and gone on with. */
async function takeIn(list: List, file: string) {
  const places = Array.from({ length: kills }, (_, i) => from + Math.floor(i * stretch) + random.whole(0, stretch / 2))
  for (let life = 0; life <= kills; life++) {
    const importing = begun('import', list.kind, file, ...(life ? ['--resume'] : []))
    const place = places[life]
    const ended = await (place === undefined ? importing.ended : killedAt(list, place, importing))
    runs.import.push(ended)
    if (life && /This one goes on from there\./.test(ended.err)) wentOn++
    else if (life) wrong.resumed.push(`${list.kind}: ${ended.err}`)
    if (place === undefined && ended.code !== 0) wrong.missing.push(`${list.kind}: code ${ended.code}: ${ended.err}`)
  }
  const found = await db.row<{ count: number }>(
    sql`select count(*)::float8 as count from ${raw(list.table)} where service_id = ${service.id}`,
  )
  if (found?.count !== count) wrong.missing.push(`${found?.count} ${list.kind}`)
}

/** Exports a list, killed once in the middle and begun anew. */
async function takeOut({ kind }: List, file: string) {
  const out = join(home, file)
  // One that has ended before the kill came is killed sooner.
  for (let from = random.fraction() / 2, isCut = false; !isCut; from = 0) {
    const exporting = begun('export', kind, '--out', file)
    const draft = join(home, `.${file}.${hostname()}.${exporting.pid}.part`)
    const size = from * statSync(join(home, `${kind}.ndjson`)).size
    while (exporting.isRunning() && !((statSync(draft, { throwIfNoEntry: false })?.size ?? -1) >= size)) await delay(2)
    exporting.kill()
    isCut = (await exporting.ended).code === null
    if (isCut && existsSync(out)) wrong.half.push(kind)
    rmSync(out, { force: true })
  }
  cut++
  const ended = await begun('export', kind, '--out', file).ended
  runs.export.push(ended)
  if (ended.code !== 0) wrong.half.push(`${kind}: ${ended.err}`)
}

/** Whether two files have the same lines, to the byte. Both are sorted where they are. */
async function areAlike(...files: [string, string]) {
  for (const file of files)
    await program('sort', ['--buffer-size=256M', `--temporary-directory=${home}`, '-o', file, file], home)
  return (await program('cmp', files, home)) === 0
}

const say = (what: string) => console.log(`${new Date().toISOString().slice(11, 19)}  ${what}`)
const seconds = (ended: readonly Ended[]) => ended.reduce((sum, one) => sum + one.seconds, 0)
const rate = (ended: readonly Ended[]) => Math.round((2 * count) / seconds(ended)).toLocaleString('en')
const peak = (ended: readonly Ended[]) => Math.round(Math.max(...ended.map(one => one.peak)))

try {
  let bytes = 0
  for (const list of lists) {
    const { kind } = list
    const [made, out] = [`${kind}.ndjson`, `${kind}-out.ndjson`]
    say(`${count.toLocaleString('en')} ${kind} are made`)
    await writeRecords(list, count, join(home, made))
    bytes += statSync(join(home, made)).size
    say('  and go in')
    await takeIn(list, made)
    say('  and out')
    await takeOut(list, out)
    say('  and are compared')
    if (!(await areAlike(made, out))) wrong.different.push(kind)
    for (const file of [made, out]) rmSync(join(home, file))
  }
  const size = await db.row<{ bytes: number }>(sql`select pg_database_size(current_database())::float8 as bytes`)
  const gigabytes = (of = 0) => (of / 1e9).toFixed(2)
  const peaks = { import: peak(runs.import), export: peak(runs.export) }
  const over = Object.entries(peaks).filter(([, most]) => !(most <= mostMegabytes))
  tell('millions', {
    keep: keep === true,
    figures: [
      ['lines, half customers and half transactions', (2 * count).toLocaleString('en')],
      ['files, GB', gigabytes(bytes)],
      ['the database, GB', gigabytes(size?.bytes)],
      ['imports: seconds, with what was done again after kills', seconds(runs.import).toFixed(1)],
      ['imports: lines a second', rate(runs.import)],
      ['imports: killed', 2 * kills],
      ['exports: seconds', seconds(runs.export).toFixed(1)],
      ['exports: lines a second', rate(runs.export)],
      ['most memory of an import, MB', peaks.import],
      ['most memory of an export, MB', peaks.export],
    ],
    verdicts: [
      verdict('an import that is killed is gone on with behind what it has put in', wrong.resumed, wentOn),
      verdict('every line is in, and none is refused', wrong.missing, 2 * count),
      verdict('an export that is killed leaves nothing under its name, and the next one is whole', wrong.half, cut),
      verdict('what comes out is what went in, to the byte, once both are sorted', wrong.different, 2 * count),
      verdict(
        `no import and no export needs more than ${mostMegabytes} MB`,
        over.map(([what, most]) => `${what}: ${most} MB`),
        runs.import.length + runs.export.length,
      ),
    ],
  })
} finally {
  await installation.close()
}
