import { type Bench, measureBareServer, measureRequest, measureStatement, type Sample } from './rig/bench.ts'
import type { LoadedDatabase } from './rig/database.ts'
import { type RunningService, startService } from './rig/processes.ts'
import { repeatResponse } from './rig/repeat-response.ts'
import {
  formatPercent,
  formatTenths,
  formatWhole,
  getMedian,
  getMedianBy,
  type Section,
  type Target,
} from './rig/report.ts'
import { buildScenarios, type Scenario } from './rig/scenarios.ts'

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
  /** p99 / p50 of the bare HTTPS server at the rate of `half`: the jitter of the machine itself. */
  bareTail: number
  /** The service's rate as a share of the rate of each limit in the same round. */
  share: { plain: number; tls: number; sql: number }
}

/** Measures each request at full and at half load and, in the same rounds, its limits: bare HTTP, bare HTTPS and SQL alone. */
export async function measurePages(bench: Bench, loaded: LoadedDatabase): Promise<Section> {
  const service = await startService(bench.directory, { DATABASE_URL: loaded.url })
  const results: PageResult[] = []
  for (const scenario of await buildScenarios(loaded)) {
    bench.say(`  ${scenario.name}`)
    results.push(await measureScenario(bench, loaded, service, scenario))
  }
  await service.stop()
  return {
    title: 'Pages',
    about:
      `Full load: ${connections} connections, each sending the next request as soon as it has a response. Half load: requests at even intervals, half as many as at full load, ` +
      'each timed from when it was due. TLS as in production. CPU is microseconds per response, including PostgreSQL and the generator, because all share the machine.',
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
          formatWhole(full.responsesPerSecond),
          formatWhole(full.responsesPerSecond * scenario.records),
          formatTenths(half.p50),
          formatTenths(half.p99),
          formatTenths(getTailRatio(half)),
          formatTenths(full.p50),
          formatTenths(full.p99),
          formatWhole(full.cpu.service),
          formatWhole(full.cpu.postgres),
          formatWhole(full.cpu.generator),
          formatWhole(full.memory.service),
          formatWhole(full.memory.postgres),
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
          formatWhole(bytes),
          formatWhole(plain),
          formatWhole(tls),
          formatWhole(sql),
          formatWhole(full.responsesPerSecond),
          formatPercent(share.sql),
          formatPercent(share.tls),
          formatTenths(bareTail),
        ]),
      },
    ],
    targets: results[0] ? buildTargets(results[0]) : [],
  }
}

async function measureScenario(
  bench: Bench,
  loaded: LoadedDatabase,
  service: RunningService,
  scenario: Scenario,
): Promise<PageResult> {
  const { ports, bytes } = await repeatResponse(bench, service, scenario)
  const rounds: Omit<PageResult, 'scenario' | 'bytes' | 'share'>[] = []
  for (let round = 0; round < bench.rounds; round++) {
    const { responsesPerSecond: plain } = await measureBareServer(bench, ports.plain, scenario.request, { connections })
    const secure = { connections, ca: service.ca }
    const { responsesPerSecond: tls } = await measureBareServer(bench, ports.tls, scenario.request, secure)
    const sql = await measureStatement(bench, loaded, scenario, connections)
    const full = await measureRequest(bench, service, scenario, { connections })
    const rate = full.responsesPerSecond / 2
    const half = await measureRequest(bench, service, scenario, { connections, rate })
    const bareHalf = await measureBareServer(bench, ports.tls, scenario.request, { ...secure, rate })
    rounds.push({ plain, tls, sql, full, half, bareTail: getTailRatio(bareHalf) })
  }
  const getShare = (limit: 'plain' | 'tls' | 'sql') =>
    getMedian(rounds.map(round => round.full.responsesPerSecond / round[limit]))
  return {
    scenario,
    bytes,
    share: { plain: getShare('plain'), tls: getShare('tls'), sql: getShare('sql') },
    plain: getMedian(rounds.map(round => round.plain)),
    tls: getMedian(rounds.map(round => round.tls)),
    sql: getMedian(rounds.map(round => round.sql)),
    full: getMedianBy(
      rounds.map(round => round.full),
      sample => sample.responsesPerSecond,
    ),
    half: getMedianBy(
      rounds.map(round => round.half),
      getTailRatio,
    ),
    bareTail: getMedian(rounds.map(round => round.bareTail)),
  }
}

const getTailRatio = ({ p50, p99 }: { p50: number; p99: number }) => p99 / p50

const expectedPages = 3_500
const expectedBarePages = 50_000

function buildTargets({ scenario: { name }, plain, full, half, share, bareTail }: PageResult): Target[] {
  const tail = getTailRatio(half)
  return [
    { label: `${name}: of SQL alone`, expected: '≥ 60 %', actual: formatPercent(share.sql), met: share.sql >= 0.6 },
    {
      label: `${name}: pages/s`,
      expected: `≥ ${formatWhole(expectedPages)} if the bare HTTP server serves ${formatWhole(expectedBarePages)}: ≥ ${formatPercent(expectedPages / expectedBarePages)}`,
      actual: `${formatWhole(full.responsesPerSecond)} of ${formatWhole(plain)}: ${formatTenths(share.plain * 100)} %`,
      met: share.plain >= expectedPages / expectedBarePages,
    },
    {
      label: `${name}: p99 at half load`,
      expected: '≤ 3 × p50',
      actual: `${formatTenths(tail)} ×, the bare server ${formatTenths(bareTail)} ×`,
      met: tail <= 3,
    },
  ]
}
