import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { createIdentity } from '../src/backup/encryption.ts'
import { defaultCpuShare } from '../src/backup/throttle.ts'
import { ask, type Bench } from './rig/bench.ts'
import { runCommand } from './rig/command.ts'
import type { Loaded } from './rig/database.ts'
import { startService } from './rig/processes.ts'
import { median, type Section, tenths, whole } from './rig/report.ts'
import { scenariosOf } from './rig/scenarios.ts'

/** Pages per second that other clients request during the backup. */
const pagesPerSecond = 20
const maxMegabytes = 400
const copyName = 'bench_restored'

/** A backup while pages are served, and its restore into an empty database. */
export async function measureBackup(bench: Bench, loaded: Loaded): Promise<Section> {
  const file = join(bench.directory, 'bench.tillbridge')
  const identity = join(bench.directory, 'identity')
  const { recipient, text } = await createIdentity()
  await writeFile(identity, text)
  const backUp = (...options: string[]) =>
    runCommand(bench, loaded, ['backup', ...options, file], { BACKUP_RECIPIENTS: recipient })
  const service = await startService(bench.directory, { DATABASE_URL: loaded.url })
  const page = (await scenariosOf(loaded)).find(({ name }) => name === 'customers, deepest page')
  if (!page) throw new Error('the bench has a deepest page')
  const pages = (durationSeconds: number) =>
    ask(bench, service, page, { connections: 4, rate: pagesPerSecond, seconds: durationSeconds })
  bench.say('  backup, as fast as it can')
  const fastest = await backUp('--cpu-percent', '100')
  bench.say('  backup')
  const quiet = await backUp()
  // Half of the duration of a backup, so that the measurement is certain to lie within one.
  const seconds = Math.max(2, Math.floor(quiet.seconds / 2))
  const tails: number[] = []
  const samples = [quiet]
  for (let round = 0; round < bench.rounds; round++) {
    bench.say(`  round ${round + 1}`)
    const alone = await pages(seconds)
    const [backup, concurrent] = await Promise.all([backUp(), pages(seconds)])
    samples.push(backup)
    tails.push(concurrent.p99 / alone.p99)
    bench.say(`  p99 of pages ${tenths(alone.p99)} ms alone, ${tenths(concurrent.p99)} ms during a backup`)
  }
  await service.stop()
  const { size } = await stat(file)
  bench.say('  restore')
  const restored = await intoEmpty(loaded, target =>
    runCommand(bench, target, ['restore', '--keep-cursors', '--identity', identity, file]),
  )
  await rm(file)
  await rm(identity)

  const rows = Number(/([\d,]+) rows/.exec(quiet.out)?.[1]?.replaceAll(',', ''))
  const peak = Math.max(fastest.peak, ...samples.map(sample => sample.peak), restored.peak)
  const megabytes = Number(/([\d.,]+) MB/.exec(quiet.out)?.[1]?.replaceAll(',', ''))
  const line = (label: string, elapsed: number, peakMegabytes: number) => [
    label,
    whole(elapsed),
    whole(rows / elapsed),
    tenths(megabytes / elapsed),
    tenths((1e7 / rows) * (elapsed / 60)),
    whole(peakMegabytes),
  ]
  const tail = median(tails)
  return {
    title: 'Backup and restore',
    about:
      `A complete installation of ${whole(rows)} rows, which are ${whole(megabytes)} MB in COPY format. \`tillbridge backup\` writes and verifies an encrypted file of ${whole(size / 1e6)} MB, by default with ${whole(defaultCpuShare * 100)} % of one core. \`tillbridge restore\` fills an empty database of the same server, with all indexes. ` +
      `At the same time clients read the deepest page of the customer list, ${pagesPerSecond} a second at even intervals. All processes share the cores.`,
    tables: [
      {
        caption: 'How long',
        head: ['what', 'seconds', 'rows/s', 'MB/s', 'minutes for 10,000,000 rows', 'memory, at most MB'],
        rows: [
          line('backup', quiet.seconds, quiet.peak),
          line(
            'backup while pages are served',
            median(samples.slice(1).map(sample => sample.seconds)),
            Math.max(...samples.map(sample => sample.peak)),
          ),
          line('backup with --cpu-percent 100', fastest.seconds, fastest.peak),
          line('restore', restored.seconds, restored.peak),
        ],
      },
    ],
    targets: [
      { label: 'p99 of pages during a backup', expected: '≤ 1.5 ×', actual: `${tenths(tail)} ×`, met: tail <= 1.5 },
      {
        label: 'memory, at most',
        expected: `≤ ${maxMegabytes} MB`,
        actual: `${whole(peak)} MB`,
        met: peak <= maxMegabytes,
      },
    ],
  }
}

/** Runs `work` with an empty database, and drops it afterwards. */
async function intoEmpty<T>(loaded: Loaded, work: (target: Loaded) => Promise<T>): Promise<T> {
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
