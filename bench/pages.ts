import { ask, askBare, askSql, type Bench, type Sample } from './rig/bench.ts'
import type { Loaded } from './rig/database.ts'
import { type Running, startService } from './rig/processes.ts'
import { repeating } from './rig/repeating.ts'
import { median, medianBy, percent, type Section, type Target, tenths, whole } from './rig/report.ts'
import { type Scenario, scenariosOf } from './rig/scenarios.ts'

const connections = 32

/** Results of all rounds of one scenario. */
interface PageResult {
  scenario: Scenario
  bytes: number
  plain: number
  tls: number
  sql: number
  full: Sample
  half: Sample
  /** p99 / p50 of the bare HTTPS server at the rate of `half`: what the machine itself makes of even intervals. */
  bareTail: number
  /** The service's rate as a share of each limit's in the same round. */
  share: { plain: number; tls: number; sql: number }
}

/** Measures every request at full and at half load and, in the same rounds, its limiting factor. */
export async function measurePages(bench: Bench, loaded: Loaded): Promise<Section> {
  const service = await startService(bench.directory, { DATABASE_URL: loaded.url })
  const results: PageResult[] = []
  for (const scenario of await scenariosOf(loaded)) {
    bench.say(`  ${scenario.name}`)
    results.push(await measureScenario(bench, loaded, service, scenario))
  }
  await service.stop()
  return {
    title: 'Pages',
    about:
      `Full load: ${connections} connections, each sending the next request as soon as it has a response. Half load: requests at even intervals, half as many as at full load, ` +
      'each timed from the moment it was due. TLS as in production. CPU is microseconds for each answer, PostgreSQL and the generator included, because all share the machine.',
    tables: [
      {
        caption: 'The service, one process',
        head: [
          'request',
          'requests/s',
          'records/s',
          'half load p50 ms',
          'p99 ms',
          'p99/p50',
          'full load p50 ms',
          'p99 ms',
          'CPU service',
          'CPU PostgreSQL',
          'CPU generator',
          'RSS MB',
          'PostgreSQL MB',
        ],
        rows: results.map(({ scenario, full, half }) => [
          scenario.name,
          whole(full.answersPerSecond),
          whole(full.answersPerSecond * scenario.records),
          tenths(half.p50),
          tenths(half.p99),
          tenths(tailOf(half)),
          tenths(full.p50),
          tenths(full.p99),
          whole(full.cpu.service),
          whole(full.cpu.postgres),
          whole(full.cpu.generator),
          whole(full.memory.service),
          whole(full.memory.postgres),
        ]),
      },
      {
        caption: 'Compared with its limits',
        head: [
          'request',
          'bytes',
          'bare HTTP/s',
          'bare HTTPS/s',
          'SQL alone/s',
          'service/s',
          'share of SQL alone',
          'share of bare HTTPS',
          'bare HTTPS p99/p50',
        ],
        rows: results.map(({ scenario, bytes, plain, tls, sql, full, share, bareTail }) => [
          scenario.name,
          whole(bytes),
          whole(plain),
          whole(tls),
          whole(sql),
          whole(full.answersPerSecond),
          percent(share.sql),
          percent(share.tls),
          tenths(bareTail),
        ]),
      },
    ],
    targets: results[0] ? targetsOf(results[0]) : [],
  }
}

async function measureScenario(
  bench: Bench,
  loaded: Loaded,
  service: Running,
  scenario: Scenario,
): Promise<PageResult> {
  const { ports, bytes } = await repeating(bench, service, scenario)
  const rounds: Omit<PageResult, 'scenario' | 'bytes' | 'share'>[] = []
  for (let round = 0; round < bench.rounds; round++) {
    const { answersPerSecond: plain } = await askBare(bench, ports.plain, scenario.request, { connections })
    const secure = { connections, ca: service.ca }
    const { answersPerSecond: tls } = await askBare(bench, ports.tls, scenario.request, secure)
    const sql = await askSql(bench, loaded, scenario, connections)
    const full = await ask(bench, service, scenario, { connections })
    const rate = full.answersPerSecond / 2
    const half = await ask(bench, service, scenario, { connections, rate })
    const bareHalf = await askBare(bench, ports.tls, scenario.request, { ...secure, rate })
    rounds.push({ plain, tls, sql, full, half, bareTail: tailOf(bareHalf) })
  }
  const shareOf = (limit: 'plain' | 'tls' | 'sql') =>
    median(rounds.map(round => round.full.answersPerSecond / round[limit]))
  return {
    scenario,
    bytes,
    share: { plain: shareOf('plain'), tls: shareOf('tls'), sql: shareOf('sql') },
    plain: median(rounds.map(round => round.plain)),
    tls: median(rounds.map(round => round.tls)),
    sql: median(rounds.map(round => round.sql)),
    full: medianBy(
      rounds.map(round => round.full),
      sample => sample.answersPerSecond,
    ),
    half: medianBy(
      rounds.map(round => round.half),
      tailOf,
    ),
    bareTail: median(rounds.map(round => round.bareTail)),
  }
}

const tailOf = ({ p50, p99 }: { p50: number; p99: number }) => p99 / p50

const expectedPages = 3_500
const expectedBarePages = 50_000

function targetsOf({ scenario: { name }, plain, full, half, share, bareTail }: PageResult): Target[] {
  const tail = tailOf(half)
  return [
    { label: `${name}: of SQL alone`, expected: '≥ 60 %', actual: percent(share.sql), met: share.sql >= 0.6 },
    {
      label: `${name}: pages/s`,
      expected: `≥ ${whole(expectedPages)} where the bare HTTP server makes ${whole(expectedBarePages)}: ≥ ${percent(expectedPages / expectedBarePages)} of it`,
      actual: `${whole(full.answersPerSecond)} of ${whole(plain)}: ${tenths(share.plain * 100)} %`,
      met: share.plain >= expectedPages / expectedBarePages,
    },
    {
      label: `${name}: p99 at half load`,
      expected: '≤ 3 × p50',
      actual: `${tenths(tail)} ×, the bare server ${tenths(bareTail)} ×`,
      met: tail <= 3,
    },
  ]
}
