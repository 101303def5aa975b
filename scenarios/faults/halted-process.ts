import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { startSimulator } from '../../simulator/simulator.ts'
import { raw, sql } from '../../src/database/db.ts'
import { type Answered, type Asked, askOnce } from '../support/asking.ts'
import { putBehind } from '../support/behind.ts'
import { address } from '../support/paying.ts'
import type { Kept } from '../support/processes.ts'
import { seeded } from '../support/random.ts'
import { waysTo } from '../support/reaching.ts'
import { verdict } from '../support/verdict.ts'
import { processOf } from './held.ts'
import { openInstallation } from './installation.ts'
import { whole } from './options.ts'
import { tell } from './telling.ts'

const { seconds, orders, keep } = new Command('npm run trial -- halted-process')
  .description(
    'Halts an API process (SIGSTOP) when the back office has carried out orders whose answers are still to come. Meanwhile another process is sent the\nsame orders with the same keys; then the first one goes on. Judges that each order is there once, here and there, and answered so.',
  )
  .option('--seconds <number>', 'how long it is halted; a claim lasts 45', whole, 120)
  .option('--orders <number>', 'how many orders are under way', whole, 10)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run trial -- halted-process\n  npm run trial -- halted-process --seconds 60\n',
  )
  .parse()
  .opts<{ seconds: number; orders: number; keep?: boolean }>()

const simulator = await startSimulator({ sizes: { stores: 3, styles: 3, persons: 40, vouchers: 3 } })
const installation = await openInstallation({
  apis: 2,
  settings: { currency: 'AUD', timeZone: 'Australia/Melbourne' },
  prepare: ({ db, keys, service }) => putBehind(db, keys, service, { url: simulator.url, gateways: ['visa'] }),
})
const { db, service, headers, apis } = installation
const [halted, steady] = apis.map(api => ({ api, ways: waysTo([api], headers, seeded(1)) })) as [Target, Target]
interface Target {
  api: Kept
  ways: ReturnType<typeof waysTo>
}
type Placed = Answered<{ id: string; orderNumber: string }> | undefined

const sku = [...simulator.state.skus.values()].find(({ colour, price }) => !colour.style.special && price > 0)
const shoppers = [...simulator.state.persons.values()].filter(({ email }) => email !== '')
const asked = Array.from(
  { length: orders },
  (_, i): Asked => ({
    method: 'POST',
    path: '/orders',
    key: `halted-${i}`,
    body: {
      customerId: String(shoppers[i % shoppers.length]?.id),
      billingAddress: address,
      deliveryAddress: address,
      lines: [{ sku: String(sku?.id), quantity: 1 }],
      payments: [{ gateway: 'visa', amount: sku?.price.toFixed(2) }],
    },
  }),
)
const ask = async (order: Asked, { ways }: Target, waitMs?: number): Promise<Placed> => {
  const way = ways.any()
  if (!way) throw new Error('the process has ended')
  return askOnce<{ id: string; orderNumber: string }>(order, way, waitMs).catch(() => undefined)
}
const effects = () => simulator.ledger.effectsOf('order created').length
const count = (table: string) => db.run(sql`select from ${raw(table)} where service_id = ${service.id}`)

try {
  const { pid } = await processOf(halted.api.home)
  // The effect is there, and its answer on the way.
  simulator.faults.add({
    kind: 'latency',
    method: 'POST',
    path: '/Persons/*/Orders',
    seconds: 3,
    applied: true,
    times: orders,
  })
  const late = Promise.all(asked.map(order => ask(order, halted, (seconds + 60) * 1_000)))
  for (const begun = performance.now(); effects() < orders; await delay(20))
    if (performance.now() - begun > 60_000) throw new Error('the back office was told of no orders')
  process.kill(pid, 'SIGSTOP')
  const begun = performance.now()
  const since = () => (performance.now() - begun) / 1_000
  const answers = new Map<string, Placed>()
  let takenOver = 0
  try {
    while (since() < seconds) {
      for (const order of asked) {
        const answer = await ask(order, steady)
        if (answer?.status === 201 && !answers.has(order.key ?? '')) takenOver = since()
        if (answer?.status === 201) answers.set(order.key ?? '', answer)
      }
      await delay(1_000)
    }
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  const first = await late
  const again = await Promise.all(asked.map(order => ask(order, halted)))
  const told = first.map((answer, i) => ({ answer, now: answers.get(asked[i]?.key ?? ''), again: again[i] }))
  const idOf = (answer: Placed) => answer?.body.data?.id
  const open = (await count('intent')) + (await count('reservation'))
  tell('halted-process', {
    keep: keep === true,
    figures: [
      ['orders under way', orders],
      ['the process is halted, seconds', seconds],
      ['orders that another process has finished meanwhile', answers.size],
      ['the last of them after, seconds', takenOver.toFixed(1)],
      ['answers of the halted process, once it goes on', first.map(answer => answer?.status ?? 'none').join(' ')],
    ],
    verdicts: [
      verdict('each order is at the back office once', effects() === orders ? [] : [`${effects()}`], orders),
      verdict(
        'each order is here once',
        (await count('sales_order')) === orders ? [] : [`${await count('sales_order')}`],
      ),
      verdict('each has one line in the audit', (await count('audit')) === orders ? [] : [`${await count('audit')}`]),
      verdict(
        'another process finishes them when their claims are over',
        answers.size === orders ? [] : [`${answers.size}`],
      ),
      verdict(
        'the halted process tells nothing else than was told',
        told
          .filter(({ answer, now }) => answer?.status === 201 && idOf(answer) !== idOf(now))
          .map(({ answer }) => `${idOf(answer)}`),
        orders,
      ),
      verdict(
        'a repeat at the halted process is the same order',
        told.filter(each => idOf(each.again) !== idOf(each.now)).map(each => `${each.again?.status}`),
        orders,
      ),
      verdict('nothing is claimed or held any more', open ? [`${open}`] : []),
    ],
  })
} finally {
  for (const { ways } of [halted, steady]) ways.close()
  await installation.close()
  await simulator.close()
}
