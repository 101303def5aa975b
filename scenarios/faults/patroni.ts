import { mkdtempSync } from 'node:fs'
import { chmod, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Command, Option } from 'commander'
import { randomFor } from '../../seed/random.ts'
import { compareCustomers, startCustomerWriters, waitForNextCustomer } from '../support/actors/customer-writers.ts'
import { check } from '../support/expectations/check.ts'
import { openInstallation } from '../support/installation.ts'
import { openClient } from '../support/operations/client.ts'
import { parseInteger } from '../support/options.ts'
import { type PatroniCluster, type PatroniNode, patroniMissing, startPatroni } from '../support/patroni.ts'
import { report, say } from '../support/report.ts'

const faults = {
  kill: 'kill the primary',
  etcd: "kill etcd's leader",
  switchover: 'switchover',
  freeze: 'freeze the primary',
} as const
type Fault = keyof typeof faults

const {
  clients,
  seconds,
  pause,
  asynchronous,
  faults: chosen,
  maxAdded,
  keep,
} = new Command('npm run scenario -- patroni')
  .description(
    "Starts two PostgreSQL under Debian's Patroni with three members of etcd. Clients create customers through two processes, while the primary\nis killed, etcd's leader is killed, the roles are switched and the primary is frozen until the standby was promoted. Checks that nothing\nacknowledged is lost, and that writes resume at most 2 s after Patroni has a primary.",
  )
  .option('--clients <number>', 'number of clients that create customers', parseInteger, 16)
  .option('--seconds <number>', 'duration of the load before and after each fault', parseInteger, 5)
  .option('--pause <milliseconds>', 'pause of a client after each customer', parseInteger, 5)
  .option('--asynchronous', "the primary doesn't wait for its standby; reports how many writes are lost")
  .addOption(
    new Option('--faults <names...>', 'faults to cause, in this order')
      .choices(Object.keys(faults))
      .default(Object.keys(faults), 'all'),
  )
  .option('--max-added <seconds>', 'seconds that Tillbridge may add to the time that Patroni needs', parseInteger, 2)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run scenario -- patroni\n  npm run scenario -- patroni --clients 3 --seconds 1 --faults kill switchover\n  npm run scenario -- patroni --asynchronous\n',
  )
  .parse()
  .opts<{
    clients: number
    seconds: number
    pause: number
    asynchronous?: boolean
    faults: Fault[]
    maxAdded: number
    keep?: boolean
  }>()

if (patroniMissing) throw new Error(patroniMissing)
const home = mkdtempSync(join(tmpdir(), 'tillbridge-patroni-'))
await chmod(home, 0o711)
/** Run in reverse order at the end. */
const cleanups: (() => unknown)[] = [() => rm(home, { recursive: true, force: true })]
let isOver = false

/** Causes a fault. Resolves when it can be repaired, with a function that repairs it. */
const causeFault: Record<
  Fault,
  (
    cluster: PatroniCluster,
    nodes: { primary: PatroniNode; standby: PatroniNode },
    untilPromoted: Promise<number>,
  ) => Promise<() => void>
> = {
  async kill(_cluster, { primary }) {
    await primary.kill()
    return () => primary.start()
  },
  async etcd(cluster) {
    await cluster.killEtcdLeader()
    return () => {}
  },
  async switchover(cluster, { primary, standby }) {
    await cluster.switchover(primary, standby)
    return () => {}
  },
  async freeze(_cluster, { primary }, untilPromoted) {
    const thaw = primary.freeze()
    await untilPromoted
    // The former primary continues under load, and doesn't know yet that it was replaced.
    await delay(1_000)
    return thaw
  },
}

/** Resolves with the time when Patroni reports the node as the primary. */
async function waitForPromotion(node: PatroniNode) {
  for (const startedAt = performance.now(); ; await delay(100)) {
    if (await node.isPrimary().catch(() => false)) return performance.now()
    if (performance.now() - startedAt > 120_000) throw new Error(`${node.name} did not become the primary within 120 s`)
  }
}

try {
  const cluster = await startPatroni({ home: join(home, 'cluster'), isSynchronous: !asynchronous })
  cleanups.push(() => cluster.close())
  // The servers are stopped by the cleanups.
  const installation = await openInstallation({ apis: 2, database: { url: cluster.url, stop: async () => {} } })
  cleanups.push(() => installation.close())
  const { db, credentials, apis } = installation
  const api = openClient(apis, credentials, randomFor('patroni'), { timeoutMs: 40_000 })
  const acknowledged: string[] = []
  /** When each write was acknowledged. */
  const times: number[] = []
  const { statuses, ended } = startCustomerWriters(api, acknowledged, {
    clients,
    pauseMs: pause,
    isOver: () => isOver,
    onAttempt({ status }) {
      if (status === 201) times.push(performance.now())
    },
  })
  await waitForNextCustomer(acknowledged, 90_000)

  const measurements: (readonly [string, string])[] = []
  const lateResumptions: string[] = []
  for (const fault of chosen) {
    const nodes = await cluster.waitUntilHealthy()
    await delay(seconds * 1_000)
    say(faults[fault])
    const startedAt = performance.now()
    // Patroni keeps the roles while etcd elects another leader.
    const promoted = fault === 'etcd' ? Promise.resolve(startedAt) : waitForPromotion(nodes.standby)
    const repair = await causeFault[fault](cluster, nodes, promoted)
    const promotedAt = await promoted
    await waitForNextCustomer(acknowledged, 90_000)
    repair()
    await cluster.waitUntilHealthy()
    await delay(seconds * 1_000)
    const instants = [startedAt, ...times.filter(time => time > startedAt)]
    const gap = Math.max(...instants.slice(1).map((time, i) => time - (instants[i] ?? time)))
    const resumedAt = times.find(time => time > promotedAt) ?? performance.now()
    const addedSeconds = Math.max(0, resumedAt - promotedAt) / 1_000
    measurements.push([`${faults[fault]}: no write acknowledged for, s`, (gap / 1_000).toFixed(1)])
    if (fault !== 'etcd') {
      measurements.push([`${faults[fault]}: Patroni needs, s`, ((promotedAt - startedAt) / 1_000).toFixed(1)])
      measurements.push([`${faults[fault]}: Tillbridge adds, s`, addedSeconds.toFixed(1)])
      if (addedSeconds > maxAdded) lateResumptions.push(`${faults[fault]}: ${addedSeconds.toFixed(1)} s`)
    }
  }
  isOver = true
  await ended
  const { lost, duplicates, unexpected } = await compareCustomers(db, acknowledged)
  report(asynchronous ? 'patroni-asynchronous' : 'patroni', {
    keep,
    command: asynchronous ? 'patroni --asynchronous' : 'patroni',
    measurements: [
      ['clients', clients],
      ['customers created', acknowledged.length],
      ...[...statuses].sort().map(([status, count]) => [`responses ${status}`, count] as const),
      ...measurements,
      ['acknowledged and lost', lost.length],
    ],
    checks: [
      // An asynchronous standby can lack the last writes.
      ...(asynchronous
        ? []
        : [
            check('every acknowledged customer is stored', lost, acknowledged.length),
            check('no customer is stored without acknowledgement', unexpected),
          ]),
      check('no customer is stored twice', duplicates ? [`${duplicates}`] : []),
      check(
        'every response is 201, 409, 503 or 504',
        [...statuses.keys()].filter(status => !['201', '409', '503', '504'].includes(status)),
        statuses.size,
      ),
      check(`writes resume at most ${maxAdded} s after Patroni has a primary`, lateResumptions),
    ],
  })
} finally {
  isOver = true
  for (const cleanup of cleanups.toReversed()) await cleanup()
}
