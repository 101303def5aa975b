import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { customers } from '../scenarios/support/records.ts'
import { readCpuSeconds } from '../scenarios/support/usage.ts'
import { raw, sql } from '../src/database/db.ts'
import { addAccount } from '../src/store/accounts/accounts.ts'
import { addService } from '../src/store/tenancy/services.ts'
import { ask, type Bench, type Sample } from './rig/bench.ts'
import type { Loaded } from './rig/database.ts'
import { startService } from './rig/processes.ts'
import { median, type Section, tenths, whole } from './rig/report.ts'
import { requestFor, type Scenario, scenariosOf } from './rig/scenarios.ts'

const measured = /^customers, first|^one customer/
/** Limit: the share by which the CPU per response may grow, for the service and for PostgreSQL. */
const maxIncrease = 0.03
/** Each pair measures both services. Warm-up pairs do not count, because the code is compiled while they run. */
const pairsPerRound = 6
const warmUpPairs = 4
const secondsPerMeasurement = 1.5
/** Milliseconds after which all writes that follow a measurement are finished. */
const untilWrittenMs = 1_200
/** Number of customers of each of the two services. */
const copied = 1_000

/** `cpuPerRequest`: microseconds of CPU of the service and of PostgreSQL per request, until all writes are finished. */
interface Measurement extends Sample {
  cpuPerRequest: number
}

/**
 * Measures the cost of the request log: the same requests, in turn, for two services of one process, one of which
 * keeps a log. Two processes that do the same differ by more, and so does one process a few seconds later.
 */
export async function measureRequestLog(bench: Bench, loaded: Loaded): Promise<Section> {
  const [logged, unlogged] = [await shopWith(loaded, 7), await shopWith(loaded, 0)]
  const served = await startService(bench.directory, { DATABASE_URL: loaded.url, RUN_JOBS: 'false' })
  const used = () => readCpuSeconds(served.pid) + readCpuSeconds(bench.postgresPid)
  /** Measures one service, including the writes that follow. */
  const measure = async (scenario: Scenario) => {
    const sample = await ask(bench, served, scenario, { connections: 32, seconds: secondsPerMeasurement })
    const before = used()
    await delay(untilWrittenMs)
    const overhead = ((used() - before) * 1e6) / (sample.answersPerSecond * secondsPerMeasurement)
    return { ...sample, cpuPerRequest: sample.cpu.service + sample.cpu.postgres + overhead }
  }
  const results: { name: string; without: Measurement[]; with: Measurement[] }[] = []
  try {
    for (const scenario of (await scenariosOf(loaded)).filter(({ name }) => measured.test(name))) {
      bench.say(`  ${scenario.name}`)
      const samples = { name: scenario.name, without: [] as Measurement[], with: [] as Measurement[] }
      for (let pair = -warmUpPairs; pair < bench.rounds * pairsPerRound; pair++) {
        const both = [
          [unlogged, samples.without],
          [logged, samples.with],
        ] as const
        // The order alternates, because the state of the machine changes between the two measurements.
        for (const [shop, measurements] of pair % 2 ? both : both.toReversed()) {
          const sample = await measure(shop.toScenario(scenario))
          if (pair >= 0) measurements.push(sample)
        }
      }
      results.push(samples)
    }
  } finally {
    await served.stop()
    for (const { id, name } of [logged, unlogged]) {
      await loaded.db.run(sql`delete from customer where service_id = ${id}`)
      await loaded.db.run(sql`delete from service where service_id = ${id}`)
      await loaded.db.run(sql`delete from account where username = ${name}`)
    }
  }
  const grown = results.map(({ name, without, with: own }) => {
    const by = own.map((sample, pair) => sample.cpuPerRequest / (without[pair]?.cpuPerRequest ?? Number.NaN) - 1)
    return { name, by: median(by), error: standardError(by) }
  })
  const shown = (by: number) => `${(by * 100).toFixed(1)} %`
  return {
    title: 'The cost of the request log',
    about: `The same requests in turn for two services of one process. One service keeps a request log. Each service has ${whole(copied)} customers. There are ${bench.rounds * pairsPerRound} measurements of ${secondsPerMeasurement} s for each service, in which 32 connections send the next request as soon as they have a response. CPU is microseconds per response, of the service and of PostgreSQL, until all writes of a measurement are finished. The increase over the adjacent measurement without the log is the median of all pairs, with the standard error of the mean.`,
    tables: [
      {
        caption: 'At full load',
        head: ['request', 'log', 'requests/s', 'p99 ms', 'CPU', 'increase', 'standard error'],
        rows: results.flatMap(({ name, without, with: own }, i) =>
          [without, own].map((samples, on) => {
            const middle = (value: (sample: Measurement) => number) => median(samples.map(value))
            return [
              ...[name, on ? 'on' : 'off', whole(middle(sample => sample.answersPerSecond))],
              tenths(middle(sample => sample.p99)),
              tenths(middle(sample => sample.cpuPerRequest)),
              ...(on ? [shown(grown[i]?.by ?? Number.NaN), shown(grown[i]?.error ?? Number.NaN)] : ['', '']),
            ]
          }),
        ),
      },
    ],
    targets: grown.map(({ name, by }) => ({
      label: `${name}: CPU with the log`,
      expected: '≤ 3 % more',
      actual: shown(by),
      met: by <= maxIncrease,
    })),
  }
}

/** Standard error of the mean. */
const standardError = (values: readonly number[]) => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return Math.sqrt(squares / (values.length * (values.length - 1)))
}

/** Creates a service that keeps requests for this many days, with copies of the bench's customers. */
async function shopWith({ db, keys, service: of }: Loaded, requestLogRetentionDays: number) {
  const name = `requests-${randomUUID()}`
  const service = await addService(db, name, { currency: 'AUD', readsPerMinute: 'off', requestLogRetentionDays })
  if (!service) throw new Error('its name is new')
  const password = (await addAccount(db, keys, name, service, 'visitor')) ?? ''
  const columns = customers.columns.filter(column => column !== 'service_id').join(', ')
  await db.run(sql`
    insert into customer (service_id, ${raw(columns)})
    select ${service.id}, ${raw(columns)} from customer where service_id = ${of.id} order by changed_at, id limit ${copied}`)
  const { record } = (await db.row<{ record: string }>(
    sql`select id as record from customer where service_id = ${service.id} order by id offset ${copied / 2} limit 1`,
  )) ?? { record: '' }
  return {
    id: service.id,
    name,
    /** Sends the request of a scenario to this service. */
    toScenario: (scenario: Scenario): Scenario => {
      const path = scenario.path.replace(/^\/customers\/\d+$/, `/customers/${record}`)
      return { ...scenario, path, request: requestFor({ name, password }, path) }
    },
  }
}
