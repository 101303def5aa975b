import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ask, type Bench, type Sample } from './rig/bench.ts'
import { startChild } from './rig/child.ts'
import type { Loaded } from './rig/database.ts'
import type { Load, Measured } from './rig/generator.ts'
import { type Running, startService } from './rig/processes.ts'
import { median, type Section, tenths, whole } from './rig/report.ts'
import { type Scenario, scenariosOf } from './rig/scenarios.ts'

const measured = /^customers, first|^one customer/
/** The shares of requests that are traced. The first two are nobody's, traces are off: what lies between them is what this cannot tell. */
const shares = ['off', 'off, another', '0.1', '1'] as const
/** Services of each share: two that do the same differ by some percent as long as they live, by what their compiler has made of them. */
const copies = 3
const connections = 8
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
  const groups: Running[][] = []
  for (let copy = 0; copy < copies; copy++) {
    const group: Running[] = []
    for (const share of shares) {
      const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: share }
      const own = share.startsWith('off') ? {} : traced
      group.push(await startService(bench.directory, { DATABASE_URL: loaded.url, JOBS: 'off', ...own }))
    }
    groups.push(group)
  }
  const generators = shares.map(() => startChild<Load, Measured>('./generator.ts'))
  // All of a group at once: what else the machine does, or has just done, falls on all alike.
  const askAll = (group: readonly Running[], scenario: Scenario) =>
    Promise.all(
      generators.map((generator, i) =>
        ask({ ...bench, generator }, group[i] as Running, scenario, { connections, seconds: 2 * bench.seconds }),
      ),
    )
  const rows: string[][] = []
  const grown: { name: string; share: string; by: number }[] = []
  for (const scenario of (await scenariosOf(loaded)).filter(({ name }) => measured.test(name))) {
    bench.say(`  ${scenario.name}`)
    // Before anything counts, each has compiled what it runs.
    for (let turn = 0; turn < turnsToWarm; turn++) for (const group of groups) await askAll(group, scenario)
    const rounds: Sample[][] = []
    for (let round = 0; round < bench.rounds; round++)
      for (const group of groups) rounds.push(await askAll(group, scenario))
    for (const [i, share] of shares.entries()) {
      const of = (value: (sample: Sample) => number) => median(rounds.map(samples => value(samples[i] as Sample)))
      const by = median(
        rounds.map(samples => (samples[i]?.cpu.service ?? Number.NaN) / (samples[0]?.cpu.service ?? Number.NaN) - 1),
      )
      if (!share.startsWith('off')) grown.push({ name: scenario.name, share, by })
      rows.push([
        ...[scenario.name, share, whole(of(sample => sample.answersPerSecond))],
        ...[tenths(of(sample => sample.p99)), whole(of(sample => sample.cpu.service)), i ? shown(by) : ''],
      ])
    }
  }
  for (const generator of generators) generator.end()
  for (const service of groups.flat()) await service.stop()
  collector.close()
  return {
    title: 'What traces cost',
    about: `The same load on services without traces, on one that traces a tenth of its requests, and on one that traces all of them, at the same time; ${connections} connections each, which ask again as soon as they are answered. CPU is microseconds of the service for each answer, and how much more it is than without traces meanwhile; the median of turns, each of which is had by another of ${copies} such groups. By how much another one without traces differs is what the measurement cannot tell. A collector takes everything.`,
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
