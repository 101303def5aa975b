import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { askOnce } from '../support/asking.ts'
import { seeded } from '../support/random.ts'
import { waysTo } from '../support/reaching.ts'
import { verdict } from '../support/verdict.ts'
import { creating, madeUp } from './customers.ts'
import { openInstallation } from './installation.ts'
import { whole } from './options.ts'
import { quantile, tell } from './telling.ts'

const { from, to, seconds, keep } = new Command('npm run trial -- step')
  .description(
    'Clients that ask without a pause, one write in ten requests: few, then many at once, then few again. Judges that every answer is right or says when\nto come again, and that afterwards everything is as fast as before.',
  )
  .option('--from <number>', 'how many ask before and after', whole, 10)
  .option('--to <number>', 'how many ask meanwhile', whole, 500)
  .option('--seconds <number>', 'how long each of the three takes', whole, 60)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText('after', '\nExamples:\n  npm run trial -- step\n  npm run trial -- step --to 100 --seconds 10\n')
  .parse()
  .opts<{ from: number; to: number; seconds: number; keep?: boolean }>()

const installation = await openInstallation({
  prepare: async ({ db, service }) => {
    await upsertCustomers(db, service, madeUp(200))
  },
})
const { headers, apis, db } = installation
const random = seeded(1)
const ways = waysTo(apis, headers, random)
const way = () => ways.any() ?? Promise.reject(new Error('the process has ended'))
const acknowledged: string[] = []
let broken = 0
let made = 0

interface Phase {
  /** Milliseconds that answers took. */
  times: number[]
  statuses: Map<number, number>
}

async function phase(clients: number): Promise<Phase> {
  const [times, statuses] = [[] as number[], new Map<number, number>()]
  const end = performance.now() + seconds * 1_000
  const client = async () => {
    while (performance.now() < end) {
      const email = `new${made++}@example.com`
      const asked = random.chance(0.1)
        ? creating(email)
        : ({ method: 'GET', path: `/customers/c${random.whole(0, 199)}` } as const)
      const begun = performance.now()
      const answer = await askOnce(asked, await way(), 60_000).catch(() => undefined)
      times.push(performance.now() - begun)
      if (!answer) broken++
      const status = answer?.status ?? 0
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status === 201) acknowledged.push(email)
      if (status === 503 || status === 429) await delay(1_000 * Number(answer?.headers['retry-after'] ?? 1))
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return { times, statuses }
}

try {
  const phases = { before: await phase(from), meanwhile: await phase(to), after: await phase(from) }
  const odd = Object.values(phases).flatMap(({ statuses }) =>
    [...statuses.keys()].filter(status => ![200, 201, 429, 503].includes(status)),
  )
  const rows = await db.pool.query<{ email: string }>('select email from customer')
  const there = new Set(rows.rows.map(({ email }) => email))
  const [before, after] = [phases.before, phases.after].map(({ times }) => quantile(times, 0.5)) as [number, number]
  tell('step', {
    keep: keep === true,
    figures: Object.entries(phases).flatMap(([name, of]) => [
      [`${name}: answers`, [...of.statuses].map(([status, count]) => `${status} ${count}`).join(', ')] as const,
      [`${name}: a second`, Math.round(of.times.length / seconds)] as const,
      [
        `${name}: p50, p99, longest, ms`,
        [0.5, 0.99, 0.999_999].map(part => quantile(of.times, part).toFixed(0)).join(', '),
      ] as const,
    ]),
    verdicts: [
      verdict('every answer is 200, 201, 429 or 503', odd.map(String)),
      verdict('no connection broke', broken ? [`${broken}`] : []),
      verdict(
        'what was acknowledged is there',
        acknowledged.filter(email => !there.has(email)),
        acknowledged.length,
      ),
      verdict(
        'afterwards it is as fast as before',
        after > 3 * before + 20 ? [`${after} instead of ${before} ms`] : [],
      ),
    ],
  })
} finally {
  ways.close()
  await installation.close()
}
