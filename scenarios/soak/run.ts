import { Command, Option } from 'commander'
import { readCommit } from '../support/commit.ts'
import type { BackOfficeName } from '../support/crash-points.ts'
import { parseInteger, parsePositiveNumber } from '../support/options.ts'
import { formatCounts, printChecks, say, showProgress } from '../support/report.ts'
import { type Progress, randomSeed } from './engine.ts'
import { runSoak } from './soak.ts'

const { seed, minutes, shoppers, release, backOffice } = new Command('npm run scenario -- soak')
  .description(
    'Simulates an Apparel21 that changes customers, stock, products and vouchers at random and has faults at random, while shoppers write\nthrough the API. Clients repeat writes with the same Idempotency-Key, and some stop retrying. API processes and workers are killed (kill -9) at\nrandom moments and at crash points. Checks every list record by record, and every write against the ledger of the back office.',
  )
  .option('--seed <number>', 'chooses changes, faults and purchases', parseInteger, randomSeed())
  .option('--minutes <number>', 'duration', parsePositiveNumber, 5)
  .option('--shoppers <number>', 'number of shoppers', parseInteger, 6)
  .addOption(
    new Option(
      '--back-office <driver>',
      'the back office; embedded has no staff, outages or syncs, only kills and writes',
    )
      .choices(['embedded', 'apparel21'])
      .default('apparel21'),
  )
  .option('--release <release>', 'the release of the Retail API', '2025.1')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run scenario -- soak --seed 7\n  npm run scenario -- soak --seed 7 --minutes 0.5 --shoppers 2\n  npm run scenario -- soak --release 2022.1 --minutes 30\n  npm run scenario -- soak --back-office embedded\n\nExit code: 0 if every check passes, otherwise 1.\n',
  )
  .parse()
  .opts<{ seed: number; minutes: number; shoppers: number; release: string; backOffice: BackOfficeName }>()

say(
  `Seed ${seed}, ${minutes} minutes, ${shoppers} shoppers, ${backOffice} (release ${release}), commit ${readCommit()}.`,
)
const progress = showProgress<Progress>(
  minutes * 60,
  15,
  's',
  ({ writes, changes, retries }) => `, ${writes} writes, ${changes} changes, ${retries} retries`,
)
const run = await runSoak({
  seed,
  seconds: minutes * 60,
  shoppers,
  release,
  backOffice,
  sizes: { stores: 6, styles: 30, persons: 120, vouchers: 20 },
  onProgress: done => progress.update(done.seconds, done),
}).finally(progress.end)
try {
  const { operations, retries } = run.history
  say(`${operations.length} writes have a final outcome. Checking …`)
  const hold = printChecks(await run.check())
  const outcomes = Map.groupBy(
    operations,
    ({ type, outcome: { status, code } }) => `${type} ${status}${code ? ` ${code}` : ''}`,
  )
  console.log(`Killed: ${run.kills}.`)
  console.log(`Faults: ${formatCounts(run.faults)}.`)
  console.log(`Changes: ${formatCounts(run.changes)}.`)
  console.log(`Retries: ${formatCounts(retries)}.`)
  console.log(`Outcomes: ${formatCounts(new Map([...outcomes].map(([outcome, { length }]) => [outcome, length])))}.`)
  if (!hold)
    console.log(
      `To repeat: npm run scenario -- soak --seed ${seed} --minutes ${minutes} --shoppers ${shoppers} --release ${release} --back-office ${backOffice}`,
    )
} finally {
  await run.close()
}
process.exit()
