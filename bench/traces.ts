import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ask, type Bench, type Sample } from './rig/bench.ts'
import type { Loaded } from './rig/database.ts'
import { startService } from './rig/processes.ts'
import { median, type Section, tenths, whole } from './rig/report.ts'
import { scenariosOf } from './rig/scenarios.ts'

const measured = /^customers, first|^one customer/
/** The shares of requests that are traced; the first one is nobody's: traces are off. */
const shares = ['off', '0.1', '1'] as const
const turnsOfRound = 2
const turnsToWarm = 4
/** What CPU for each answer may grow by. */
const most = 0.03

/** What traces cost: the same load without them, with one request in ten traced, and with all. */
export async function measureTraces(bench: Bench, loaded: Loaded): Promise<Section> {
  const collector = createServer((request, response) => {
    request.resume().on('end', () => response.end('{}'))
  })
  await new Promise<void>(resolve => collector.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  const served = []
  for (const share of shares) {
    const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: share }
    const own = share === 'off' ? {} : traced
    served.push(await startService(bench.directory, { DATABASE_URL: loaded.url, JOBS: 'off', ...own }))
  }
  const rows: string[][] = []
  const grown: { name: string; share: string; by: number }[] = []
  for (const scenario of (await scenariosOf(loaded)).filter(({ name }) => measured.test(name))) {
    bench.say(`  ${scenario.name}`)
    const samples = served.map((): Sample[] => [])
    // Before anything counts, each has compiled what it runs.
    for (let turn = 0; turn < turnsToWarm; turn++)
      for (const service of served) await ask(bench, service, scenario, { connections: 32, seconds: 1 })
    // Many short turns, each time in another order: what else the machine does falls on all alike.
    for (let turn = 0; turn < turnsOfRound * bench.rounds; turn++)
      for (const [j] of served.entries()) {
        const i = (j + turn) % served.length
        const service = served[i]
        if (service)
          samples[i]?.push(
            await ask(bench, service, scenario, { connections: 32, seconds: bench.seconds / turnsOfRound }),
          )
      }
    // Each round against the one without traces of the same round: the machine is not the same from one to the next.
    const by = samples.map(some =>
      median(some.map(({ cpu }, round) => cpu.service / (samples[0]?.[round]?.cpu.service ?? Number.NaN) - 1)),
    )
    for (const [i, share] of shares.entries()) {
      const of = (value: (sample: Sample) => number) => median((samples[i] ?? []).map(value))
      const more = by[i] ?? Number.NaN
      if (share !== 'off') grown.push({ name: scenario.name, share, by: more })
      rows.push([
        ...[scenario.name, share, whole(of(sample => sample.answersPerSecond))],
        ...[tenths(of(sample => sample.p99)), whole(of(sample => sample.cpu.service)), shown(more)],
      ])
    }
  }
  for (const service of served) await service.stop()
  collector.close()
  return {
    title: 'What traces cost',
    about:
      'The same load on a service without traces, on one that traces a tenth of its requests, and on one that traces all of them, in turn; 32 connections, each asking again as soon as it is answered. CPU is microseconds of the service for each answer, and how much more it is than without traces in the same round. A collector takes everything.',
    tables: [
      {
        caption: 'At full load',
        head: ['request', 'share traced', 'requests/s', 'p99 ms', 'CPU service', 'more than without'],
        rows,
      },
    ],
    targets: grown.map(({ name, share, by }) => ({
      what: `${name}, ${share} traced: CPU of the service`,
      wanted: '≤ 3 % more',
      found: shown(by),
      met: by <= most,
    })),
  }
}

const shown = (by: number) => `${(by * 100).toFixed(1)} %`
