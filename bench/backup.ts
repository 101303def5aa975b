import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { createIdentity } from '../src/backup/encryption.ts'
import { defaultCpuShare } from '../src/backup/throttle.ts'
import { type Bench, measureRequest } from './rig/bench.ts'
import { runCommand } from './rig/command.ts'
import type { LoadedDatabase } from './rig/database.ts'
import { startService } from './rig/processes.ts'
import { formatTenths, formatWhole, getMedian, type Section } from './rig/report.ts'
import { buildScenarios } from './rig/scenarios.ts'

/** Pages per second that other clients request during the backup. */
const pagesPerSecond = 20
const maxMegabytes = 400
const copyName = 'bench_restored'

/** Measures a backup while pages are served, and its restore into an empty database. */
export async function measureBackup(bench: Bench, loaded: LoadedDatabase): Promise<Section> {
  const file = join(bench.directory, 'bench.tillbridge')
  const identity = join(bench.directory, 'identity')
  const { recipient, text } = await createIdentity()
  await writeFile(identity, text)
  const backUp = (...options: string[]) =>
    runCommand(bench, loaded, ['backup', ...options, file], { BACKUP_RECIPIENTS: recipient })
  const service = await startService(bench.directory, { DATABASE_URL: loaded.url })
  const page = (await buildScenarios(loaded)).find(({ name }) => name === 'customers, deepest page')
  if (!page) throw new Error('the scenario "customers, deepest page" is missing')
  const measurePages = (durationSeconds: number) =>
    measureRequest(bench, service, page, { connections: 4, rate: pagesPerSecond, seconds: durationSeconds })
  bench.say('  backup with --cpu-percent 100')
  const fastest = await backUp('--cpu-percent', '100')
  bench.say('  backup')
  const quiet = await backUp()
  // Half of the duration of a backup, so that a measurement ends before the backup that runs at the same time.
  const seconds = Math.max(2, Math.floor(quiet.seconds / 2))
  const tails: number[] = []
  const samples = [quiet]
  for (let round = 0; round < bench.rounds; round++) {
    bench.say(`  round ${round + 1}`)
    const alone = await measurePages(seconds)
    const [backup, concurrent] = await Promise.all([backUp(), measurePages(seconds)])
    samples.push(backup)
    tails.push(concurrent.p99 / alone.p99)
    bench.say(`  p99 of pages ${formatTenths(alone.p99)} ms alone, ${formatTenths(concurrent.p99)} ms during a backup`)
  }
  await service.stop()
  const { size } = await stat(file)
  bench.say('  restore')
  const restored = await withEmptyDatabase(loaded, target =>
    runCommand(bench, target, ['restore', '--keep-cursors', '--identity', identity, file]),
  )
  await rm(file)
  await rm(identity)

  const rows = Number(/([\d,]+) rows/.exec(quiet.out)?.[1]?.replaceAll(',', ''))
  const peak = Math.max(fastest.peak, ...samples.map(sample => sample.peak), restored.peak)
  const megabytes = Number(/([\d.,]+) MB/.exec(quiet.out)?.[1]?.replaceAll(',', ''))
  const buildRow = (label: string, elapsed: number, peakMegabytes: number) => [
    label,
    formatWhole(elapsed),
    formatWhole(rows / elapsed),
    formatTenths(megabytes / elapsed),
    formatTenths((1e7 / rows) * (elapsed / 60)),
    formatWhole(peakMegabytes),
  ]
  const tail = getMedian(tails)
  return {
    title: 'Backup and restore',
    about:
      `A complete installation of ${formatWhole(rows)} rows, which are ${formatWhole(megabytes)} MB in COPY format. \`tillbridge backup\` writes and verifies an encrypted file of ${formatWhole(size / 1e6)} MB, by default with ${formatWhole(defaultCpuShare * 100)} % of one core. \`tillbridge restore\` fills an empty database of the same server, with all indexes. ` +
      `At the same time clients read the deepest page of the customer list, ${pagesPerSecond} a second at even intervals. All processes share the cores.`,
    tables: [
      {
        caption: 'Duration',
        head: ['what', 'seconds', 'rows/s', 'MB/s', 'minutes for 10,000,000 rows', 'memory, at most MB'],
        rows: [
          buildRow('backup', quiet.seconds, quiet.peak),
          buildRow(
            'backup while pages are served',
            getMedian(samples.slice(1).map(sample => sample.seconds)),
            Math.max(...samples.map(sample => sample.peak)),
          ),
          buildRow('backup with --cpu-percent 100', fastest.seconds, fastest.peak),
          buildRow('restore', restored.seconds, restored.peak),
        ],
      },
    ],
    targets: [
      {
        label: 'p99 of pages during a backup',
        expected: '≤ 1.5 ×',
        actual: `${formatTenths(tail)} ×`,
        met: tail <= 1.5,
      },
      {
        label: 'memory, at most',
        expected: `≤ ${maxMegabytes} MB`,
        actual: `${formatWhole(peak)} MB`,
        met: peak <= maxMegabytes,
      },
    ],
  }
}

/** Runs `work` with an empty database, and drops it afterwards. */
async function withEmptyDatabase<T>(loaded: LoadedDatabase, work: (target: LoadedDatabase) => Promise<T>): Promise<T> {
  const client = new pg.Client(loaded.connection)
  await client.connect()
  try {
    await client.query(`drop database if exists ${copyName}`)
    await client.query(`create database ${copyName}`)
    return await work({ ...loaded, url: loaded.url.replace(/[^/]+$/, copyName) })
  } finally {
    await client.query(`drop database if exists ${copyName} with (force)`)
    await client.end()
  }
}
