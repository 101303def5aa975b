import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import type { Order, OrderInput, Tillbridge } from '../../client/src/index.ts'
import { randomFor } from '../../seed/random.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { raw, sql } from '../../src/database/db.ts'
import { connectBackOffice } from '../support/back-office-connection.ts'
import { check } from '../support/expectations/check.ts'
import { openInstallation } from '../support/installation.ts'
import { type Outcome, openClient, toOutcome } from '../support/operations/client.ts'
import { address } from '../support/operations/payment.ts'
import { parseInteger } from '../support/options.ts'
import { report } from '../support/report.ts'
import { findProcess } from './process-resources.ts'

const {
  seconds,
  orders: count,
  keep,
} = new Command('npm run scenario -- halted-process')
  .description(
    'Halts an API process (SIGSTOP) after the back office applied its orders and before it responded. During the halt, another process receives the\nsame orders with the same keys; then the first process resumes. Checks that each order is stored once on both sides, and that all responses\nagree.',
  )
  .option('--seconds <number>', 'duration of the halt; a lease lasts 45', parseInteger, 120)
  .option('--orders <number>', 'number of orders in flight', parseInteger, 10)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run scenario -- halted-process\n  npm run scenario -- halted-process --seconds 60\n',
  )
  .parse()
  .opts<{ seconds: number; orders: number; keep?: boolean }>()

const simulator = await startSimulator({ sizes: { stores: 3, styles: 3, persons: 40, vouchers: 3 } })
const installation = await openInstallation({
  apis: 2,
  settings: { currency: 'AUD', timeZone: 'Australia/Melbourne' },
  prepare: ({ db: database, keys, service: prepared }) =>
    connectBackOffice(database, keys, prepared, { url: simulator.url, gateways: ['visa'] }),
})
const { db, service, credentials, apis } = installation
const [halted, running] = apis
if (!halted || !running) throw new Error('two API processes were started')
const openClientTo = (target: typeof halted, timeoutMs: number) =>
  openClient([target], credentials, randomFor('halted-process'), { timeoutMs })

const sku = [...simulator.state.skus.values()].find(({ colour, price }) => !colour.style.special && price > 0)
const shoppers = [...simulator.state.persons.values()].filter(({ email }) => email !== '')
const orders = Array.from({ length: count }, (_, i) => ({
  key: `halted-${i}`,
  body: {
    customerId: String(shoppers[i % shoppers.length]?.id),
    billingAddress: address,
    deliveryAddress: address,
    lines: [{ sku: String(sku?.id), quantity: 1 }],
    payments: [{ gateway: 'visa', amount: sku?.price.toFixed(2) ?? '' }],
  } satisfies OrderInput,
}))
const placeOrder = (api: Tillbridge, { key, body }: (typeof orders)[number]): Promise<Outcome<Order>> =>
  toOutcome(api.orders.place(body, { idempotencyKey: key }))
const countEffects = () => simulator.ledger.findEffects('order created').length
const countRows = (table: string) => db.run(sql`select from ${raw(table)} where service_id = ${service.id}`)
const unlessEqual = (actual: number, expected: number) => (actual === expected ? [] : [`${actual}`])

try {
  const { pid } = await findProcess(halted.dataDirectory)
  // The back office applies each order immediately and responds 3 s later.
  simulator.faults.add({
    kind: 'latency',
    method: 'POST',
    path: '/Persons/*/Orders',
    seconds: 3,
    applied: true,
    times: count,
  })
  const haltedApi = openClientTo(halted, (seconds + 60) * 1_000)
  const firstResponses = Promise.all(orders.map(order => placeOrder(haltedApi, order)))
  for (const startedAt = performance.now(); countEffects() < count; await delay(20))
    if (performance.now() - startedAt > 60_000) throw new Error('the back office received too few orders within 60 s')
  process.kill(pid, 'SIGSTOP')
  const startedAt = performance.now()
  const elapsedSeconds = () => (performance.now() - startedAt) / 1_000
  const finished = new Map<string, Outcome<Order>>()
  let lastFinishedSeconds = 0
  try {
    const runningApi = openClientTo(running, 20_000)
    while (elapsedSeconds() < seconds) {
      for (const order of orders) {
        const response = await placeOrder(runningApi, order)
        if (response.status !== 201) continue
        if (!finished.has(order.key)) lastFinishedSeconds = elapsedSeconds()
        finished.set(order.key, response)
      }
      await delay(1_000)
    }
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  const firstOutcomes = await firstResponses
  const repeatedOutcomes = await Promise.all(orders.map(order => placeOrder(openClientTo(halted, 20_000), order)))
  const responses = orders.map(({ key }, i) => ({
    finished: finished.get(key),
    first: firstOutcomes[i],
    repeated: repeatedOutcomes[i],
  }))
  const toId = (response: Outcome<Order> | undefined) => response?.data?.id
  report('halted-process', {
    keep,
    measurements: [
      ['orders in flight', count],
      ['duration of the halt, s', seconds],
      ['orders that another process finished during the halt', finished.size],
      ['time until the last of them, s', lastFinishedSeconds.toFixed(1)],
      ['responses of the halted process after the halt', firstOutcomes.map(({ status }) => status || 'none').join(' ')],
    ],
    checks: [
      check('each order is at the back office once', unlessEqual(countEffects(), count), count),
      check('each order is in our tables once', unlessEqual(await countRows('sales_order'), count)),
      check('each order has one audit entry', unlessEqual(await countRows('audit'), count)),
      check('another process finishes the orders when their leases expire', unlessEqual(finished.size, count)),
      check(
        'the halted process returns the same orders as the other process',
        responses
          .filter(response => response.first?.status === 201 && toId(response.first) !== toId(response.finished))
          .map(response => `${toId(response.first)}`),
        count,
      ),
      check(
        'a repeat at the halted process returns the same order',
        responses
          .filter(response => toId(response.repeated) !== toId(response.finished))
          .map(response => `${response.repeated?.status}`),
        count,
      ),
      check(
        'no write is open, and no lock is left',
        unlessEqual((await countRows('intent')) + (await countRows('reservation')), 0),
      ),
    ],
  })
} finally {
  await installation.close()
  await simulator.close()
}
