import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { customers } from '../scenarios/support/records.ts'
import { readCpuSeconds } from '../scenarios/support/usage.ts'
import { raw, sql } from '../src/database/db.ts'
import { addAccount } from '../src/store/accounts/accounts.ts'
import { addService } from '../src/store/tenancy/services.ts'
import { type Bench, measureRequest, type Sample } from './rig/bench.ts'
import type { LoadedDatabase } from './rig/database.ts'
import { startService } from './rig/processes.ts'
import { formatTenths, formatWhole, getMedian, type Section } from './rig/report.ts'
import { buildRequest, buildScenarios, type Scenario } from './rig/scenarios.ts'

const measuredNames = /^customers, first|^one customer/
/** Maximum share by which the CPU of the service and PostgreSQL per response can grow. */
const maxIncrease = 0.03
/** Each pair measures both services. Warm-up pairs don't count, because the code is compiled while they run. */
const pairsPerRound = 6
const warmUpPairs = 4
const secondsPerMeasurement = 1.5
/** Milliseconds after which all writes that follow a measurement are finished. */
const writeSettleMs = 1_200
/** Number of customers of each of the two services. */
const customersPerService = 1_000

/** `cpuPerRequest`: microseconds of CPU of the service and of PostgreSQL per request, until all writes are finished. */
interface Measurement extends Sample {
  cpuPerRequest: number
}

/**
 * Measures the cost of the request log: the same requests, in turn, for two services of one process, one of which
 * keeps a log. Two processes with the same load differ by more, and so does one process a few seconds later.
 */
export async function measureRequestLog(bench: Bench, loaded: LoadedDatabase): Promise<Section> {
  const [logged, unlogged] = [await createShop(loaded, 7), await createShop(loaded, 0)]
  const running = await startService(bench.directory, { DATABASE_URL: loaded.url, RUN_JOBS: 'false' })
  const readUsage = () => readCpuSeconds(running.pid) + readCpuSeconds(bench.postgresPid)
  /** Measures one service, including the writes that follow. */
  const measure = async (scenario: Scenario) => {
    const sample = await measureRequest(bench, running, scenario, { connections: 32, seconds: secondsPerMeasurement })
    const before = readUsage()
    await delay(writeSettleMs)
    const overhead = ((readUsage() - before) * 1e6) / (sample.responsesPerSecond * secondsPerMeasurement)
    return { ...sample, cpuPerRequest: sample.cpu.service + sample.cpu.postgres + overhead }
  }
  const results: { name: string; without: Measurement[]; with: Measurement[] }[] = []
  try {
    for (const scenario of (await buildScenarios(loaded)).filter(({ name }) => measuredNames.test(name))) {
      bench.say(`  ${scenario.name}`)
      const samples = { name: scenario.name, without: [] as Measurement[], with: [] as Measurement[] }
      for (let pair = -warmUpPairs; pair < bench.rounds * pairsPerRound; pair++) {
        const shops = [
          [unlogged, samples.without],
          [logged, samples.with],
        ] as const
        // The order alternates, because the state of the machine changes between the two measurements.
        for (const [shop, measurements] of pair % 2 ? shops : shops.toReversed()) {
          const sample = await measure(shop.toScenario(scenario))
          if (pair >= 0) measurements.push(sample)
        }
      }
      results.push(samples)
    }
  } finally {
    await running.stop()
    for (const { id, name } of [logged, unlogged]) {
      await loaded.db.run(sql`delete from customer where service_id = ${id}`)
      await loaded.db.run(sql`delete from service where service_id = ${id}`)
      await loaded.db.run(sql`delete from account where username = ${name}`)
    }
  }
  const increases = results.map(({ name, without, with: own }) => {
    const by = own.map((sample, pair) => sample.cpuPerRequest / (without[pair]?.cpuPerRequest ?? Number.NaN) - 1)
    return { name, by: getMedian(by), error: getStandardError(by) }
  })
  const formatIncrease = (by: number) => `${(by * 100).toFixed(1)} %`
  return {
    title: 'The cost of the request log',
    about: `The same requests in turn for two services of one process. One service keeps a request log. Each service has ${formatWhole(customersPerService)} customers. There are ${bench.rounds * pairsPerRound} measurements of ${secondsPerMeasurement} s for each service, in which 32 connections send the next request as soon as they have a response. CPU is microseconds per response, of the service and of PostgreSQL, until all writes of a measurement are finished. The increase over the adjacent measurement without the log is the median of all pairs, with the standard error of the mean.`,
    tables: [
      {
        caption: 'At full load',
        head: ['request', 'log', 'requests/s', 'p99 ms', 'CPU', 'increase', 'standard error'],
        rows: results.flatMap(({ name, without, with: own }, i) =>
          [without, own].map((samples, on) => {
            const getMedianMetric = (value: (sample: Measurement) => number) => getMedian(samples.map(value))
            return [
              ...[name, on ? 'on' : 'off', formatWhole(getMedianMetric(sample => sample.responsesPerSecond))],
              formatTenths(getMedianMetric(sample => sample.p99)),
              formatTenths(getMedianMetric(sample => sample.cpuPerRequest)),
              ...(on
                ? [formatIncrease(increases[i]?.by ?? Number.NaN), formatIncrease(increases[i]?.error ?? Number.NaN)]
                : ['', '']),
            ]
          }),
        ),
      },
    ],
    targets: increases.map(({ name, by }) => ({
      label: `${name}: CPU with the log`,
      expected: '≤ 3 % more',
      actual: formatIncrease(by),
      met: by <= maxIncrease,
    })),
  }
}

/** Returns the standard error of the mean. */
const getStandardError = (values: readonly number[]) => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return Math.sqrt(squares / (values.length * (values.length - 1)))
}

/** Creates a service that keeps requests for this many days, with copies of the bench's customers. */
async function createShop({ db, keys, service: source }: LoadedDatabase, requestLogRetentionDays: number) {
  const name = `requests-${randomUUID()}`
  const service = await addService(db, name, { currency: 'AUD', readsPerMinute: 'off', requestLogRetentionDays })
  if (!service) throw new Error(`the service ${name} already exists`)
  const password = (await addAccount(db, keys, name, service, 'visitor')) ?? ''
  const columns = customers.columns.filter(column => column !== 'service_id').join(', ')
  await db.run(sql`
    insert into customer (service_id, ${raw(columns)})
    select ${service.id}, ${raw(columns)} from customer where service_id = ${source.id} order by changed_at, id limit ${customersPerService}`)
  const customer = await db.row<{ id: string }>(
    sql`select id from customer where service_id = ${service.id} order by id offset ${customersPerService / 2} limit 1`,
  )
  if (!customer) throw new Error(`the service ${name} has too few customers`)
  return {
    id: service.id,
    name,
    /** Returns the scenario for this service. */
    toScenario: (scenario: Scenario): Scenario => {
      const path = scenario.path.replace(/^\/customers\/\d+$/, `/customers/${customer.id}`)
      return { ...scenario, path, request: buildRequest({ name, password }, path) }
    },
  }
}
