import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { randomFor } from '../../seed/random.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { compareCustomers, createCustomer } from '../support/actors/customer-writers.ts'
import { check } from '../support/expectations/check.ts'
import { openInstallation } from '../support/installation.ts'
import { openClient, toOutcome } from '../support/operations/client.ts'
import { parseInteger } from '../support/options.ts'
import { quantile, report } from '../support/report.ts'
import { generateCustomers } from './generated-customers.ts'

const { from, to, seconds, keep } = new Command('npm run scenario -- step')
  .description(
    'Clients send requests without a pause, one write in ten: first few clients, then many at once, then few again. Checks that every request\nsucceeds or is rejected with a delay to retry after, and that the last phase is as fast as the first.',
  )
  .option('--from <number>', 'number of clients before and after', parseInteger, 10)
  .option('--to <number>', 'number of clients at the peak', parseInteger, 500)
  .option('--seconds <number>', 'duration of each of the three phases', parseInteger, 60)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText('after', '\nExamples:\n  npm run scenario -- step\n  npm run scenario -- step --to 100 --seconds 10\n')
  .parse()
  .opts<{ from: number; to: number; seconds: number; keep?: boolean }>()

const installation = await openInstallation({
  prepare: ({ db: database, service }) => upsertCustomers(database, service, generateCustomers(200)),
})
const { credentials, apis, db } = installation
const random = randomFor('step')
const api = openClient(apis, credentials, random, { timeoutMs: 60_000 })
const acknowledged: string[] = []
let brokenConnections = 0
let created = 0

interface Phase {
  /** Response times in milliseconds. */
  times: number[]
  statuses: Map<number, number>
}

async function runPhase(clients: number): Promise<Phase> {
  const [times, statuses] = [[] as number[], new Map<number, number>()]
  const end = performance.now() + seconds * 1_000
  const runClient = async () => {
    while (performance.now() < end) {
      const email = `new${created++}@example.com`
      const startedAt = performance.now()
      const { status, retryAfter } = random.chance(0.1)
        ? await createCustomer(api, email)
        : await toOutcome(api.customers.get(`c${random.integer(0, 199)}`))
      times.push(performance.now() - startedAt)
      if (!status) brokenConnections++
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status === 201) acknowledged.push(email)
      if (status === 503 || status === 429) await delay(1_000 * (retryAfter ?? 1))
    }
  }
  await Promise.all(Array.from({ length: clients }, runClient))
  return { times, statuses }
}

try {
  const phases = { before: await runPhase(from), peak: await runPhase(to), after: await runPhase(from) }
  const unexpected = Object.values(phases).flatMap(({ statuses }) =>
    [...statuses.keys()].filter(status => ![200, 201, 429, 503].includes(status)),
  )
  const { lost } = await compareCustomers(db, acknowledged)
  const [medianBefore, medianAfter] = [phases.before, phases.after].map(({ times }) => quantile(times, 0.5)) as [
    number,
    number,
  ]
  report('step', {
    keep,
    measurements: Object.entries(phases).flatMap(([name, { times, statuses }]) => [
      [`${name}: responses`, [...statuses].map(([status, count]) => `${status} ${count}`).join(', ')] as const,
      [`${name}: responses a second`, Math.round(times.length / seconds)] as const,
      [
        `${name}: p50, p99, longest, ms`,
        [0.5, 0.99, 0.999_999].map(share => quantile(times, share).toFixed(0)).join(', '),
      ] as const,
    ]),
    checks: [
      check('every response is 200, 201, 429 or 503', unexpected.map(String)),
      check('no connection broke', brokenConnections ? [`${brokenConnections}`] : []),
      check('every acknowledged customer is stored', lost, acknowledged.length),
      check(
        'the last phase is as fast as the first',
        medianAfter > 3 * medianBefore + 20 ? [`${medianAfter} instead of ${medianBefore} ms`] : [],
      ),
    ],
  })
} finally {
  await installation.close()
}
