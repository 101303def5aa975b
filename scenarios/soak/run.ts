import { randomInt } from 'node:crypto'
import { chmodSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Presets, SingleBar } from 'cli-progress'
import { Command, InvalidArgumentError, Option } from 'commander'
import { openDatabase } from '../../src/database/db.ts'
import { migrate } from '../../src/database/migrate.ts'
import { startPostgres } from '../../src/postgres/postgres.ts'
import type { BackOfficeName } from '../support/borders.ts'
import { commit } from '../support/commit.ts'
import { type Progress, type Soaked, soak } from './soak.ts'

const number = (form: RegExp, what: string) => (text: string) => {
  if (!form.test(text) || Number(text) <= 0) throw new InvalidArgumentError(`It is ${what}.`)
  return Number(text)
}
const whole = number(/^\d{1,9}$/, 'a whole number, at least 1')

const { seed, minutes, shoppers, release, backOffice } = new Command('npm run soak --')
  .description(
    'Has the simulator of Apparel21 change customers, stock, products and vouchers at random, and fail at random, while shoppers\nwrite through the API, each repeating what was left open with the same Idempotency-Key, and some never coming back; and kills\nAPI processes and workers (kill -9), at any moment and at the borders between two effects. Then every list is compared with the\nsimulator record by record, and every write with its ledger.',
  )
  .option('--seed <number>', 'what chooses changes, faults and purchases', whole, randomInt(1, 1_000_000))
  .option('--minutes <number>', 'how long it goes on', number(/^\d{1,4}(\.\d+)?$/, 'a number of minutes'), 5)
  .option('--shoppers <number>', 'how many shoppers there are', whole, 6)
  .addOption(
    new Option('--back-office <driver>', 'what stands behind the service')
      .choices(['embedded', 'apparel21'])
      .default('apparel21'),
  )
  .option('--release <release>', 'the release of the Retail API', '2025.1')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run soak -- --seed 7\n  npm run soak -- --seed 7 --minutes 0.5 --shoppers 2\n  npm run soak -- --release 2022.1 --minutes 30\n  npm run soak -- --back-office embedded\n\nExit code: 0 when every fact holds, 1 when one does not.\n',
  )
  .parse()
  .opts<{ seed: number; minutes: number; shoppers: number; release: string; backOffice: BackOfficeName }>()

const say = (line: string) => process.stderr.write(`${line}\n`)
say(`Seed ${seed}, ${minutes} minutes, ${shoppers} shoppers, ${backOffice} (release ${release}), commit ${commit()}.`)
if (backOffice === 'embedded')
  say(
    'Nobody stands behind: no head office, no outages, no feeds, and no lists to compare with. What is left are kills and writes.',
  )

const directory = mkdtempSync(join(tmpdir(), 'tillbridge-soak-'))
chmodSync(directory, 0o711)
const postgres = await startPostgres(join(directory, 'postgres'))
const { host, port, user, database } = postgres.connection
let soaked: Soaked | undefined
try {
  const db = openDatabase(postgres.connection)
  await migrate(db)
  await db.close()
  const seconds = minutes * 60
  const progress = progressOf(seconds)
  soaked = await soak({
    seed,
    seconds,
    shoppers,
    release,
    directory,
    backOffice,
    databaseUrl: `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`,
    onProgress: progress.show,
    sizes: { stores: 6, styles: 30, persons: 120, vouchers: 20 },
  }).finally(progress.end)
  say(`${soaked.deeds.length} writes were settled. Judging …`)
  const verdicts = await soaked.judge()
  for (const { fact, holds, found } of verdicts)
    console.log(`${holds ? 'ok    ' : 'FAILED'} ${fact}${found ? ` (${found})` : ''}`)
  console.log(`Killed: ${soaked.killed}.`)
  console.log(`Faults: ${listed(soaked.faults)}.`)
  console.log(`Changes: ${listed(soaked.changes)}.`)
  console.log(`What clients did not take for an answer: ${listed(soaked.troubles)}.`)
  console.log(`Answers: ${listed(answers(soaked))}.`)
  if (verdicts.some(({ holds }) => !holds)) {
    console.log(
      `To repeat it: npm run soak -- --seed ${seed} --minutes ${minutes} --shoppers ${shoppers} --release ${release} --back-office ${backOffice}`,
    )
    process.exitCode = 1
  }
} finally {
  await soaked?.close()
  await postgres.stop()
  await rm(directory, { recursive: true, force: true })
}
process.exit()

function progressOf(seconds: number) {
  const format = '{bar} {value}/{total} s, {writes} writes, {changes} changes, {refusals} refused or unanswered'
  const bar = process.stderr.isTTY ? new SingleBar({ format, hideCursor: true }, Presets.shades_classic) : undefined
  bar?.start(Math.round(seconds), 0, { writes: 0, changes: 0, refusals: 0 })
  let told = 0
  return {
    show({ seconds: passed, ...counts }: Progress) {
      bar?.update(Math.min(Math.round(passed), Math.round(seconds)), counts)
      if (bar || passed - told < 15) return
      told = passed
      const { writes, changes, refusals } = counts
      say(
        `${Math.round(passed)} of ${seconds} s: ${writes} writes, ${changes} changes, ${refusals} refused or unanswered`,
      )
    },
    end: () => bar?.stop(),
  }
}

function answers({ deeds }: Soaked) {
  const kinds = Map.groupBy(
    deeds,
    ({ kind, answer: { status, json } }) => `${kind} ${status}${json.code ? ` ${json.code}` : ''}`,
  )
  return new Map([...kinds].map(([kind, all]) => [kind, all.length]))
}

function listed(counts: ReadonlyMap<string, number>) {
  const most = [...counts].sort(([, a], [, b]) => b - a)
  return most.map(([what, times]) => `${what} ${times}`).join(', ') || 'none'
}
