import { Command, Option } from 'commander'
import { type Progress, randomSeed, runScenario } from '../soak/engine.ts'
import { readCommit } from '../support/commit.ts'
import type { BackOfficeName } from '../support/crash-points.ts'
import { parseInteger } from '../support/options.ts'
import { formatCounts, printChecks, say, showProgress } from '../support/report.ts'

const { seed, kills, shoppers, backOffice } = new Command('npm run scenario -- chaos')
  .description(
    'Kills API processes, workers and PostgreSQL (kill -9) at random moments and at crash points, while shoppers order, return and pay with\nvouchers over HTTPS. Clients repeat each write without a response with the same Idempotency-Key. Checks that each write took effect exactly\nonce, and that every ledger adds up.',
  )
  .option('--seed <number>', 'chooses kills and purchases', parseInteger, randomSeed())
  .option('--kills <number>', 'number of kills', parseInteger, 200)
  .option('--shoppers <number>', 'number of shoppers', parseInteger, 6)
  .addOption(
    new Option('--back-office <driver>', 'the back office; apparel21 is slow, hangs and loses responses')
      .choices(['embedded', 'apparel21'])
      .default('embedded'),
  )
  .addHelpText(
    'after',
    '\nExamples:\n  npm run scenario -- chaos --seed 7\n  npm run scenario -- chaos --kills 20\n  npm run scenario -- chaos --back-office apparel21 --shoppers 100\n\nCrash points: contributing/testing.md.\n',
  )
  .parse()
  .opts<{ seed: number; kills: number; shoppers: number; backOffice: BackOfficeName }>()

say(`Seed ${seed}, ${kills} kills, ${shoppers} shoppers, back office ${backOffice}, commit ${readCommit()}.`)
const progress = showProgress<Progress>(
  kills,
  20,
  'kills',
  ({ writes, retries }) => `, ${writes} writes, ${retries} retries`,
)
const run = await runScenario({
  seed,
  shoppers,
  backOffice,
  isSpedUp: false,
  hasStaff: false,
  faults: 'slow',
  crashChance: 0.4,
  abandonChance: 0,
  kills: {
    pauseMs: [200, 1_200],
    shares: { api: 0.55, worker: 0.25 },
    spareChance: 0.8,
    keepsOneApi: false,
    maxKills: kills,
    expireChance: backOffice === 'apparel21' ? 0.4 : 0,
  },
  // PostgreSQL is killed too, so outages are logged as errors.
  isUnexpected: line => /internal_error|unhandled/i.test(line),
  isFinished: done => done.kills >= kills,
  onProgress: done => progress.update(done.kills, done),
}).finally(progress.end)
try {
  say(`${run.history.operations.length} writes have a final outcome. Checking …`)
  const hold = printChecks(await run.check())
  console.log(`Killed: ${run.kills}.`)
  console.log(`Faults: ${formatCounts(run.faults)}.`)
  console.log(`Retries: ${formatCounts(run.history.retries)}.`)
  if (!hold)
    console.log(
      `To repeat: npm run scenario -- chaos --seed ${seed} --kills ${kills} --shoppers ${shoppers} --back-office ${backOffice}`,
    )
} finally {
  await run.close()
}
process.exit()
