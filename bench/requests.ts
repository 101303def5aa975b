import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../src/db.ts'
import { ask, type Bench, type Sample } from './rig/bench.ts'
import type { Loaded } from './rig/database.ts'
import { startService } from './rig/processes.ts'
import { median, type Section, tenths, whole } from './rig/report.ts'
import { scenariosOf } from './rig/scenarios.ts'

const measured = /^customers, first|^one customer/
/** What CPU for each answer, of the service and of PostgreSQL, may grow by. */
const most = 0.03
/** Milliseconds after which a setting is in force everywhere. */
const inForceMs = 6_000
const warmSeconds = 3

/** What the log of requests costs: the same load with and without it, on one process. */
export async function measureRequestLog(bench: Bench, loaded: Loaded): Promise<Section> {
  const { db, service: of } = loaded
  const keep = async (days: number) => {
    await db.run(sql`
      update service set settings = settings || jsonb_build_object('requestsKeptDays', ${days}::integer) where service_id = ${of.id}`)
    await delay(inForceMs)
  }
  const served = await startService(bench.directory, { DATABASE_URL: loaded.url, JOBS: 'off' })
  const scenarios = (await scenariosOf(loaded)).filter(({ name }) => measured.test(name))
  const found = scenarios.map(({ name }) => ({ name, without: [] as Sample[], logged: [] as Sample[] }))
  // Before anything counts, it has compiled what it runs, with the log and without.
  for (const days of [0, 7]) {
    await keep(days)
    for (const scenario of scenarios) await ask(bench, served, scenario, { connections: 32, seconds: warmSeconds })
  }
  for (let round = 0; round < bench.rounds; round++)
    // Each time in the other order: what comes first has another machine than what comes second.
    for (const days of round % 2 ? [0, 7] : [7, 0]) {
      await keep(days)
      for (const [i, scenario] of scenarios.entries()) {
        bench.say(`  ${scenario.name}, ${days ? 'logged' : 'not logged'}`)
        found[i]?.[days ? 'logged' : 'without'].push(await ask(bench, served, scenario, { connections: 32 }))
      }
    }
  await keep(7)
  await served.stop()
  const cpuOf = ({ cpu }: Sample) => cpu.service + cpu.postgres
  const grown = found.map(({ name, without, logged }) => ({
    name,
    by: median(logged.map((sample, round) => cpuOf(sample) / cpuOf(without[round] as Sample) - 1)),
  }))
  const shown = (by: number) => `${(by * 100).toFixed(1)} %`
  return {
    title: 'What the log of requests costs',
    about:
      'The same load on a service that logs requests in its database and on one that does not, in rounds that begin with the one and the other in turn; 32 connections, each asking again as soon as it is answered. CPU is microseconds for each answer, of the service and of PostgreSQL together, and how much more it is than without the log in the same round.',
    tables: [
      {
        caption: 'At full load',
        head: ['request', 'log', 'requests/s', 'p99 ms', 'CPU service', 'CPU PostgreSQL', 'more than without'],
        rows: found.flatMap(({ name, without, logged }, i) =>
          [without, logged].map((samples, on) => {
            const middle = (value: (sample: Sample) => number) => median(samples.map(value))
            return [
              ...[name, on ? 'on' : 'off', whole(middle(sample => sample.answersPerSecond))],
              tenths(middle(sample => sample.p99)),
              whole(middle(sample => sample.cpu.service)),
              whole(middle(sample => sample.cpu.postgres)),
              on ? shown(grown[i]?.by ?? Number.NaN) : '',
            ]
          }),
        ),
      },
    ],
    targets: grown.map(({ name, by }) => ({
      what: `${name}: CPU with the log`,
      wanted: '≤ 3 % more',
      found: shown(by),
      met: by <= most,
    })),
  }
}
