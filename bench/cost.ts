import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { sql } from '../src/database/db.ts'
import { addAccount } from '../src/store/accounts/accounts.ts'
import type { BareInsert } from './rig/bare-insert.ts'
import { type Bench, measureRequest } from './rig/bench.ts'
import { startChild } from './rig/child.ts'
import type { LoadedDatabase, Size } from './rig/database.ts'
import { startService } from './rig/processes.ts'
import { repeatResponse } from './rig/repeat-response.ts'
import { formatTenths, formatWhole, getMedian, type Section, type Target } from './rig/report.ts'
import { buildScenarios } from './rig/scenarios.ts'
import { createClient } from './writes/client.ts'
import { createKinds } from './writes/kinds.ts'
import { openShop } from './writes/shop.ts'
import { measureWrite } from './writes/writes.ts'

const connections = 16
/** The share by which a ratio can grow before the comparison fails. */
const maxIncrease = 0.2
/** Minimum seconds of a write's measurement. */
const minWriteSeconds = 3

const lookUp = 'one customer'
const reads = [
  lookUp,
  'customers, first page',
  'customers, middle page',
  'customers, updated_after the last hour',
  'customers, poll without changes',
  'inventory by SKU',
  'transactions, first page',
]
const newCustomer = 'new customer'
const writes = [newCustomer, 'lock of a voucher', 'voucher issued', 'order of three lines', 'return']

/** A request's cost: microseconds of CPU of the service and PostgreSQL, and their ratio to the bare server in the same round. */
interface Cost {
  cpu: number
  ratio: number
}

/** The published costs, `bench/results/cost.json`. */
interface Published {
  size: Size
  costs: Record<string, Cost>
}

const file = new URL('results/cost.json', import.meta.url)

/** Maximum ratios of one request's cost to that of another. */
const goals: { label: string; request: string; reference: string; maxRatio: number }[] = [
  { label: 'a poll without changes', request: 'customers, poll without changes', reference: lookUp, maxRatio: 1.3 },
  { label: 'a first page', request: 'customers, first page', reference: 'customers, middle page', maxRatio: 1.1 },
  { label: 'a new customer', request: newCustomer, reference: 'bare durable insert', maxRatio: 4 },
]
/** Maximum milliseconds of CPU of a request. */
const maxMilliseconds: Record<string, number> = { 'order of three lines': 2.2, 'lock of a voucher': 0.8 }

/**
 * Measures the CPU of twelve requests and of two bare servers in the same rounds: `node:http` over TLS with a fixed response, and a durable
 * insert through Fastify and `pg`. With `compare`, compares the ratios with the published ones instead of publishing them, and sets the
 * exit code to 1 if one has grown by more than 20 %.
 */
export async function measureCost(bench: Bench, loaded: LoadedDatabase, compare: boolean): Promise<Section> {
  const published = compare ? await readPublished(loaded.size) : undefined
  const name = `cost-${randomUUID()}`
  const service = await openShop(loaded, name)
  const password = (await addAccount(loaded.db, loaded.keys, name, service, 'maintainer')) ?? ''
  const running = await startService(bench.directory, { DATABASE_URL: loaded.url, RUN_JOBS: 'false' })
  const insert = startChild<BareInsert, { port: number }>('./bare-insert.ts')
  const client = createClient(running, name, password)
  const measured = new Map<string, Cost[]>()
  const record = (request: string, cpu: number, bare: number) => {
    const costs = measured.get(request) ?? []
    measured.set(request, costs)
    costs.push({ cpu, ratio: cpu / bare })
  }
  try {
    const scenarios = (await buildScenarios(loaded)).filter(scenario => reads.includes(scenario.name))
    const first = scenarios.find(scenario => scenario.name === lookUp)
    if (!first) throw new Error(`the scenario "${lookUp}" is missing`)
    const { ports } = await repeatResponse(bench, running, first)
    const kinds = (await createKinds(client)).filter(kind => writes.includes(kind.name))
    const { port } = await insert.send({ connection: loaded.connection, certificate: running.certificate })
    const bareClient = createClient({ ...running, port }, name, password)
    const seconds = Math.max(bench.seconds, minWriteSeconds)
    // The first round is a warm-up: the code is compiled while it runs.
    for (let round = 0; round <= bench.rounds; round++) {
      bench.say(round ? `  round ${round} of ${bench.rounds}` : '  warm-up')
      if (round === 1) measured.clear()
      const bareServer = { ...running, pid: bench.bare.pid, port: ports.tls }
      const bare = (await measureRequest(bench, bareServer, first, { connections })).cpu.service
      record('bare server', bare, bare)
      for (const scenario of scenarios) {
        const { cpu } = await measureRequest(bench, running, scenario, { connections })
        record(scenario.name, cpu.service + cpu.postgres, bare)
      }
      for (const kind of kinds) {
        const { cpu } = await measureWrite(bench, running, { ...kind, clients: connections }, client, seconds)
        record(kind.name, (cpu.service + cpu.postgres) * 1_000, bare)
        if (kind.name !== newCustomer) continue
        const inserts = { ...running, pid: insert.pid }
        const { cpu: inserted } = await measureWrite(
          bench,
          inserts,
          { ...kind, clients: connections },
          bareClient,
          seconds,
        )
        record('bare durable insert', (inserted.service + inserted.postgres) * 1_000, bare)
      }
    }
    bareClient.end()
  } finally {
    client.end()
    insert.end()
    await running.stop()
    await loaded.db.run(sql`drop table if exists bench_insert`)
    await loaded.db.run(sql`delete from service where service_id = ${service.id}`)
    await loaded.db.run(sql`delete from account where username = ${name}`)
  }
  const costs = Object.fromEntries(
    [...measured].map(([request, rounds]) => [
      request,
      { cpu: Math.round(getMedian(rounds.map(({ cpu }) => cpu))), ratio: getMedian(rounds.map(({ ratio }) => ratio)) },
    ]),
  )
  const comparisons = published ? compareCosts(published, costs) : []
  if (comparisons.some(({ met }) => !met)) process.exitCode = 1
  if (!published) await writeFile(file, `${JSON.stringify({ size: loaded.size, costs }, undefined, 2)}\n`)
  return {
    title: 'The cost of a request',
    about: `${connections} connections that stay open, each sending the next request as soon as it has a response. CPU is that of the service and PostgreSQL per request. The ratio compares it with a bare \`node:http\` server over TLS that returns the response of *${lookUp}*, in the same round. A warm-up round isn't counted, and no jobs run. *bare durable insert* is Fastify with \`pg\` and one \`insert\` per request. \`npm run bench -- --only cost --compare\` compares the ratios with the published ones and fails if one has grown by more than ${maxIncrease * 100} %.`,
    tables: [
      {
        caption: 'CPU per request',
        head: ['request', 'CPU µs', 'ratio', ...(published ? ['published ratio'] : [])],
        rows: Object.entries(costs).map(([request, { cpu, ratio }]) => [
          request,
          formatWhole(cpu),
          formatTenths(ratio),
          ...(published ? [formatTenths(published.costs[request]?.ratio ?? Number.NaN)] : []),
        ]),
      },
    ],
    targets: published ? comparisons : buildTargets(costs),
  }
}

async function readPublished(size: Size): Promise<Published> {
  const text = await readFile(file, 'utf8').catch((cause: Error) => {
    throw new Error('There are no published costs. Run the same command without --compare first.', { cause })
  })
  const published: Published = JSON.parse(text)
  if (published.size.customers !== size.customers || published.size.transactions !== size.transactions)
    throw new Error(
      `The published costs were measured with ${published.size.customers} customers and ${published.size.transactions} transactions. Pass the same numbers to compare costs.`,
    )
  return published
}

const compareCosts = ({ costs: publishedCosts }: Published, costs: Record<string, Cost>): Target[] =>
  Object.entries(publishedCosts).map(([request, { ratio }]) => {
    const growth = (costs[request]?.ratio ?? Number.POSITIVE_INFINITY) / ratio - 1
    return {
      label: request,
      expected: `at most ${maxIncrease * 100} % more`,
      actual: `${(growth * 100).toFixed(0)} %`,
      met: growth <= maxIncrease,
    }
  })

const buildTargets = (costs: Record<string, Cost>): Target[] => [
  ...goals.map(({ label, request, reference, maxRatio }) => {
    const ratio = (costs[request]?.cpu ?? Number.NaN) / (costs[reference]?.cpu ?? Number.NaN)
    return {
      label,
      expected: `at most ${maxRatio} x ${reference}`,
      actual: `${ratio.toFixed(2)} x`,
      met: ratio <= maxRatio,
    }
  }),
  ...Object.entries(maxMilliseconds).map(([request, maxCpuMs]) => {
    const cpu = (costs[request]?.cpu ?? Number.NaN) / 1_000
    return {
      label: request,
      expected: `at most ${maxCpuMs} ms`,
      actual: `${formatTenths(cpu)} ms`,
      met: cpu <= maxCpuMs,
    }
  }),
]
