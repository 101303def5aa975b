import { existsSync, rmSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { randomFor } from '../../seed/random.ts'
import { raw, sql } from '../../src/database/db.ts'
import { upsertProducts } from '../../src/store/catalog/products.ts'
import { upsertStores } from '../../src/store/catalog/stores.ts'
import { check } from '../support/expectations/check.ts'
import { openInstallation } from '../support/installation.ts'
import { parseInteger } from '../support/options.ts'
import { currency, productRows, stores } from '../support/records.ts'
import { report } from '../support/report.ts'
import { type ProcessResult, runProgram, startCommand } from './command.ts'
import { type GeneratedList, lists, writeRecords } from './lists.ts'

const { lines, kills, seed, keep } = new Command('npm run scenario -- millions')
  .description(
    'Generates NDJSON files of customers and transactions, half of the lines each. Imports them with kills and resumes, and exports them with kills and\n' +
      'restarts. Checks that the sorted exports equal the sorted imports byte by byte. Ten million lines need 25 GB of disk under TMPDIR.',
  )
  .option('--lines <number>', 'number of lines', parseInteger, 500_000)
  .option('--kills <number>', 'kills of each import', parseInteger, 3)
  .option('--seed <number>', 'chooses the records at which imports are killed', parseInteger, 1)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run scenario -- millions\n  npm run scenario -- millions --lines 10000000 --keep\n',
  )
  .parse()
  .opts<{ lines: number; kills: number; seed: number; keep?: boolean }>()

/** Memory limit of a process in MB, whatever the number of lines. */
const maxMegabytes = 400
const count = Math.floor(lines / 2)
const random = randomFor(`millions ${seed}`)
/** Records in two batches, which can be in flight together: the third begins after the first has its checkpoint. */
const twoBatches = 4_000
const firstKillAt = Math.max(twoBatches, Math.floor(count / 3))
/** Records per kill. A kill is in the first half of its section, so that the next import finds records of the section stored. */
const sectionLength = Math.floor((count - firstKillAt) / kills)
if (kills > 1 && sectionLength < 2 * twoBatches) {
  console.error(`The kills are too close to each other. Use --lines ${24_000 * kills} or more, or fewer --kills.`)
  process.exit(1)
}
const installation = await openInstallation({
  apis: 0,
  settings: { currency },
  prepare: async ({ db: database, service: prepared }) => {
    await upsertStores(database, prepared, stores)
    await upsertProducts(database, prepared, productRows)
  },
})
const { db, service, databaseUrl, directory: home } = installation
const runs: Record<'import' | 'export', ProcessResult[]> = { import: [], export: [] }
/** Contradictions, by check. */
const contradictions = {
  resumed: [] as string[],
  missing: [] as string[],
  partial: [] as string[],
  different: [] as string[],
}
let resumed = 0
let interruptedExports = 0

const startCommandInHome = (...args: string[]) => startCommand(args, { home, databaseUrl })
const hasSession = async (condition: string) =>
  (
    await db.rows(
      sql`select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend' and ${raw(condition)}`,
    )
  ).length > 0

/** Locks a record that an import is about to write, and kills the import when it waits for the lock. */
async function killAtRecord(
  { kind, table, row }: GeneratedList,
  position: number,
  importing: ReturnType<typeof startCommandInHome>,
) {
  const blocker = await db.pool.connect()
  const { columns, values } = row(position)
  await blocker.query('begin')
  await blocker.query('set local idle_in_transaction_session_timeout = 0')
  await blocker.query(`insert into ${table} (service_id, ${columns}) values (${service.id}, ${values})`)
  // Other locks don't count: two batches that grow a table at the same time wait for each other too.
  while (importing.isRunning() && !(await hasSession(`wait_event = 'transactionid'`))) await delay(20)
  if (!importing.isRunning()) contradictions.resumed.push(`${kind}: the import ended before record ${position}`)
  importing.kill()
  blocker.release(true)
  const result = await importing.ended
  // PostgreSQL can still execute the last statements.
  while (await hasSession(`state <> 'idle'`)) await delay(20)
  return result
}

/** Imports a file with kills, resuming after each. */
async function importWithKills(list: GeneratedList, file: string) {
  const positions = Array.from(
    { length: kills },
    (_, i) => firstKillAt + i * sectionLength + random.integer(0, Math.floor(sectionLength / 2)),
  )
  for (let run = 0; run <= kills; run++) {
    const importing = startCommandInHome('import', list.kind, file, ...(run ? ['--resume'] : []))
    const position = positions[run]
    const result = await (position === undefined ? importing.ended : killAtRecord(list, position, importing))
    runs.import.push(result)
    if (run && /Resuming after that line\./.test(result.err)) resumed++
    else if (run) contradictions.resumed.push(`${list.kind}: ${result.err}`)
    if (position === undefined && result.code !== 0)
      contradictions.missing.push(`${list.kind}: code ${result.code}: ${result.err}`)
  }
  const stored = await db.row<{ count: number }>(
    sql`select count(*)::float8 as count from ${raw(list.table)} where service_id = ${service.id}`,
  )
  if (stored?.count !== count) contradictions.missing.push(`${stored?.count} ${list.kind}`)
}

/** Exports a list: kills the first attempt in the middle and starts again. */
async function exportWithKill({ kind }: GeneratedList, file: string) {
  const out = join(home, file)
  // If an export ends before the kill, the next one is killed earlier.
  for (let share = random.fraction() / 2, isKilled = false; !isKilled; share = 0) {
    const exporting = startCommandInHome('export', kind, '--out', file)
    const draft = join(home, `.${file}.${hostname()}.${exporting.pid}.part`)
    const size = share * statSync(join(home, `${kind}.ndjson`)).size
    while (exporting.isRunning() && !((statSync(draft, { throwIfNoEntry: false })?.size ?? -1) >= size)) await delay(2)
    exporting.kill()
    isKilled = (await exporting.ended).code === null
    if (isKilled && existsSync(out)) contradictions.partial.push(kind)
    rmSync(out, { force: true })
  }
  interruptedExports++
  const result = await startCommandInHome('export', kind, '--out', file).ended
  runs.export.push(result)
  if (result.code !== 0) contradictions.partial.push(`${kind}: ${result.err}`)
}

/** True if two files have the same lines. Sorts both in place. */
async function haveSameLines(...files: [string, string]) {
  for (const file of files)
    await runProgram('sort', ['--buffer-size=256M', `--temporary-directory=${home}`, '-o', file, file], home)
  return (await runProgram('cmp', files, home)) === 0
}

const log = (text: string) => console.log(`${new Date().toISOString().slice(11, 19)}  ${text}`)
const sumSeconds = (results: readonly ProcessResult[]) => results.reduce((sum, result) => sum + result.seconds, 0)
const formatRate = (results: readonly ProcessResult[]) =>
  Math.round((2 * count) / sumSeconds(results)).toLocaleString('en')
const findPeak = (results: readonly ProcessResult[]) => Math.round(Math.max(...results.map(result => result.peak)))

try {
  let bytes = 0
  for (const list of lists) {
    const { kind } = list
    const [input, output] = [`${kind}.ndjson`, `${kind}-out.ndjson`]
    log(`generating ${count.toLocaleString('en')} ${kind}`)
    await writeRecords(list, count, join(home, input))
    bytes += statSync(join(home, input)).size
    log('  importing')
    await importWithKills(list, input)
    log('  exporting')
    await exportWithKill(list, output)
    log('  comparing')
    if (!(await haveSameLines(input, output))) contradictions.different.push(kind)
    for (const file of [input, output]) rmSync(join(home, file))
  }
  const size = await db.row<{ bytes: number }>(sql`select pg_database_size(current_database())::float8 as bytes`)
  const formatGigabytes = (byteCount = 0) => (byteCount / 1e9).toFixed(2)
  const peaks = { import: findPeak(runs.import), export: findPeak(runs.export) }
  const tooHigh = Object.entries(peaks).filter(([, megabytes]) => !(megabytes <= maxMegabytes))
  report('millions', {
    keep,
    measurements: [
      ['lines, half customers and half transactions', (2 * count).toLocaleString('en')],
      ['files, GB', formatGigabytes(bytes)],
      ['the database, GB', formatGigabytes(size?.bytes)],
      ['imports: seconds, including work repeated after kills', sumSeconds(runs.import).toFixed(1)],
      ['imports: lines a second', formatRate(runs.import)],
      ['imports: kills', 2 * kills],
      ['exports: seconds', sumSeconds(runs.export).toFixed(1)],
      ['exports: lines a second', formatRate(runs.export)],
      ['peak memory of an import, MB', peaks.import],
      ['peak memory of an export, MB', peaks.export],
    ],
    checks: [
      check('a killed import resumes after the records that it stored', contradictions.resumed, resumed),
      check('every line is stored, and none is rejected', contradictions.missing, 2 * count),
      check(
        'a killed export leaves no output file, and the next one is complete',
        contradictions.partial,
        interruptedExports,
      ),
      check('the sorted exports equal the sorted imports byte by byte', contradictions.different, 2 * count),
      check(
        `no import and no export needs more than ${maxMegabytes} MB`,
        tooHigh.map(([name, megabytes]) => `${name}: ${megabytes} MB`),
        runs.import.length + runs.export.length,
      ),
    ],
  })
} finally {
  await installation.close()
}
