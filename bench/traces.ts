import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Bench, measureRequest, type Sample } from './rig/bench.ts'
import type { LoadedDatabase } from './rig/database.ts'
import { startService } from './rig/processes.ts'
import { formatTenths, formatWhole, getMedian, type Section } from './rig/report.ts'
import { buildScenarios, type Scenario } from './rig/scenarios.ts'

const measuredNames = /^customers, first|^one customer/
const warmUpPairs = 4
/** Enough pairs that two rounds differ by less than the limit. */
const pairsPerRound = 4
/** Maximum share by which the CPU per response can grow. */
const maxIncrease = 0.03

/** The header of a caller that requests no trace. */
const untracedHeader = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00'
/** The traced requests and their headers. The last header has the same length but is invalid, so it has no effect. */
const ways = [
  { way: 'all', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', isTarget: false },
  {
    way: 'by default',
    traceparent: 'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00',
    isTarget: true,
  },
] as const

const withTraceparent = (traceparent: string, { request, ...scenario }: Scenario): Scenario => ({
  ...scenario,
  request: request.replace('\r\n\r\n', `\r\ntraceparent: ${traceparent}\r\n\r\n`),
})

/**
 * Measures the cost of traces: requests without and with a trace, in turn, on one process. Two processes with the same
 * load differ by more, because their code is compiled differently.
 */
export async function measureTraces(bench: Bench, loaded: LoadedDatabase): Promise<Section> {
  const collector = createServer((request, response) => {
    request.resume().on('end', () => response.end('{}'))
  })
  await new Promise<void>(resolve => collector.listen(0, '127.0.0.1', resolve))
  const service = await startService(bench.directory, {
    DATABASE_URL: loaded.url,
    RUN_JOBS: 'false',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
  })
  const rows: string[][] = []
  const increases: { name: string; by: number; isTarget: boolean }[] = []
  for (const scenario of (await buildScenarios(loaded)).filter(({ name }) => measuredNames.test(name))) {
    bench.say(`  ${scenario.name}`)
    for (const { way, traceparent, isTarget } of ways) {
      const untraced: Sample[] = []
      const traced: Sample[] = []
      const pairs = bench.rounds * (isTarget ? pairsPerRound : 1)
      for (let pair = -warmUpPairs; pair < pairs; pair++) {
        const variants: [string, Sample[]][] = [
          [untracedHeader, untraced],
          [traceparent, traced],
        ]
        // The order alternates, because the spans of the first group are sent while the second one runs.
        for (const [header, samples] of pair % 2 ? variants.reverse() : variants) {
          const sample = await measureRequest(bench, service, withTraceparent(header, scenario), { connections: 32 })
          // Warm-up pairs don't count, because the code is compiled while they run.
          if (pair >= 0) samples.push(sample)
        }
      }
      const by = getMedian(traced.map(({ cpu }, i) => cpu.service / (untraced[i]?.cpu.service ?? Number.NaN) - 1))
      increases.push({ name: `${scenario.name}, traced ${way}`, by, isTarget })
      for (const [label, samples, more] of [
        ['none', untraced, ''],
        [way, traced, formatIncrease(by)],
      ] as const) {
        const getMedianMetric = (value: (sample: Sample) => number) => getMedian(samples.map(value))
        rows.push([
          ...[
            scenario.name,
            label,
            formatWhole(getMedianMetric(sample => sample.responsesPerSecond)),
            formatTenths(getMedianMetric(sample => sample.p99)),
          ],
          ...[formatWhole(getMedianMetric(sample => sample.cpu.service)), more],
        ])
      }
    }
  }
  await service.stop()
  collector.close()
  return {
    title: 'The cost of traces',
    about:
      'The same load on one process, in turn without traces and with a trace for every request. Then in turn without traces and with the default rate of about a hundred traces a second. The header `traceparent` selects the requests. 32 connections, each sending the next request as soon as it has a response. CPU is microseconds of the service per response, including the export to a collector. The increase over the adjacent measurement without traces is the median of all pairs.',
    tables: [
      {
        caption: 'At full load',
        head: ['request', 'traced', 'requests/s', 'p99 ms', 'CPU service', 'increase'],
        rows,
      },
    ],
    targets: increases
      .filter(({ isTarget }) => isTarget)
      .map(({ name, by }) => ({
        label: `${name}: CPU`,
        expected: '≤ 3 % more',
        actual: formatIncrease(by),
        met: by <= maxIncrease,
      })),
  }
}

const formatIncrease = (by: number) => `${(by * 100).toFixed(1)} %`
