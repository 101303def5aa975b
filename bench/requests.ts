import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { customers } from '../scenarios/support/records.ts'
import { cpuSeconds } from '../scenarios/support/usage.ts'
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
const maximum = 0.03
/** Turns of a round; those before the first one count for nothing: what runs in them is compiled. */
const turnsOfRound = 6
const turnsToWarm = 4
const secondsOfTurn = 1.5
/** Milliseconds by which what a turn leaves to be written is written. */
const untilWrittenMs = 1_200
/** Customers of each of the two services. */
const copied = 1_000

/** `each`: microseconds of CPU for each answer, of the service and of PostgreSQL, until all of it was written. */
interface Turn extends Sample {
  each: number
}

/**
 * Measures the cost of the request log: the same requests, in turn, for two services of one process, one of which
 * keeps a log. Two processes that do the same differ by more, and so does one process a few seconds later.
 */
export async function measureRequestLog(bench: Bench, loaded: Loaded): Promise<Section> {
  const [logged, unlogged] = [await shopWith(loaded, 7), await shopWith(loaded, 0)]
  const served = await startService(bench.directory, { DATABASE_URL: loaded.url, RUN_JOBS: 'false' })
  const used = () => cpuSeconds(served.pid) + cpuSeconds(bench.postgresPid)
  /** Measures one turn, including the writes that follow it. */
  const turnOf = async (scenario: Scenario) => {
    const sample = await ask(bench, served, scenario, { connections: 32, seconds: secondsOfTurn })
    const before = used()
    await delay(untilWrittenMs)
    const rest = ((used() - before) * 1e6) / (sample.answersPerSecond * secondsOfTurn)
    return { ...sample, each: sample.cpu.service + sample.cpu.postgres + rest }
  }
  const matches: { name: string; without: Turn[]; with: Turn[] }[] = []
  try {
    for (const scenario of (await scenariosOf(loaded)).filter(({ name }) => measured.test(name))) {
      bench.say(`  ${scenario.name}`)
      const samples = { name: scenario.name, without: [] as Turn[], with: [] as Turn[] }
      for (let round = -turnsToWarm; round < bench.rounds * turnsOfRound; round++) {
        const both = [
          [unlogged, samples.without],
          [logged, samples.with],
        ] as const
        // Each time in the other order: what comes first has another machine than what comes second.
        for (const [shop, into] of round % 2 ? both : both.toReversed()) {
          const sample = await turnOf(shop.asking(scenario))
          if (round >= 0) into.push(sample)
        }
      }
      matches.push(samples)
    }
  } finally {
    await served.stop()
    for (const { id, name } of [logged, unlogged]) {
      await loaded.db.run(sql`delete from customer where service_id = ${id}`)
      await loaded.db.run(sql`delete from service where service_id = ${id}`)
      await loaded.db.run(sql`delete from account where username = ${name}`)
    }
  }
  const grown = matches.map(({ name, without, with: own }) => {
    const by = own.map((sample, round) => sample.each / (without[round]?.each ?? Number.NaN) - 1)
    return { name, by: median(by), error: standardError(by) }
  })
  const shown = (by: number) => `${(by * 100).toFixed(1)} %`
  return {
    title: 'The cost of the request log',
    about: `The same requests in turn for two services of one process. One service keeps a request log. Each service has ${whole(copied)} customers. There are ${bench.rounds * turnsOfRound} turns of ${secondsOfTurn} s each, in which 32 connections send the next request as soon as they have a response. CPU is microseconds per response, of the service and of PostgreSQL, until all writes of a turn are finished. The increase over the adjacent turn without the log is the median of all turns, with the standard error of the mean.`,
    tables: [
      {
        caption: 'At full load',
        head: ['request', 'log', 'requests/s', 'p99 ms', 'CPU', 'increase', 'standard error'],
        rows: matches.flatMap(({ name, without, with: own }, i) =>
          [without, own].map((samples, on) => {
            const middle = (value: (sample: Turn) => number) => median(samples.map(value))
            return [
              ...[name, on ? 'on' : 'off', whole(middle(sample => sample.answersPerSecond))],
              tenths(middle(sample => sample.p99)),
              tenths(middle(sample => sample.each)),
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
      met: by <= maximum,
    })),
  }
}

/** Standard error of the mean. */
const standardError = (values: readonly number[]) => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return Math.sqrt(squares / (values.length * (values.length - 1)))
}

/** A service that keeps requests for so many days, with customers like the bench's own. */
async function shopWith({ db, keys, service: of }: Loaded, requestLogRetentionDays: number) {
  const name = `requests-${randomUUID()}`
  const service = await addService(db, name, { currency: 'AUD', readsPerMinute: 'off', requestLogRetentionDays })
  if (!service) throw new Error('its name is new')
  const password = (await addAccount(db, keys, name, service, 'visitor')) ?? ''
  const others = customers.columns.filter(column => column !== 'service_id').join(', ')
  await db.run(sql`
    insert into customer (service_id, ${raw(others)})
    select ${service.id}, ${raw(others)} from customer where service_id = ${of.id} order by changed_at, id limit ${copied}`)
  const { record: one } = (await db.row<{ record: string }>(
    sql`select id as record from customer where service_id = ${service.id} order by id offset ${copied / 2} limit 1`,
  )) ?? { record: '' }
  return {
    id: service.id,
    name,
    /** Has a scenario ask this service. */
    asking: (scenario: Scenario): Scenario => {
      const path = scenario.path.replace(/^\/customers\/\d+$/, `/customers/${one}`)
      return { ...scenario, path, request: requestFor({ name, password }, path) }
    },
  }
}
