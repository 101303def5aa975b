import { type Bench, measureRequest, type Sample } from './rig/bench.ts'
import type { LoadedDatabase } from './rig/database.ts'
import { startService } from './rig/processes.ts'
import { formatTenths, formatWhole, getMedianBy, type Section } from './rig/report.ts'
import { buildScenarios } from './rig/scenarios.ts'

const measuredNames = /^customers, (first|deepest)|^one customer/

/** Measures the same load on one process and on two. */
export async function measureWorkers(bench: Bench, loaded: LoadedDatabase): Promise<Section> {
  const services = []
  for (const workers of [1, 2])
    services.push({
      workers,
      service: await startService(bench.directory, { DATABASE_URL: loaded.url, WEB_CONCURRENCY: String(workers) }),
    })
  const rows: string[][] = []
  for (const scenario of (await buildScenarios(loaded)).filter(({ name }) => measuredNames.test(name))) {
    bench.say(`  ${scenario.name}`)
    const samples = services.map((): Sample[] => [])
    for (let round = 0; round < bench.rounds; round++)
      for (const [i, { service }] of services.entries())
        samples[i]?.push(await measureRequest(bench, service, scenario, { connections: 32 }))
    for (const [i, { workers }] of services.entries()) {
      const { responsesPerSecond, p50, p99, cpu } = getMedianBy(samples[i] ?? [], sample => sample.responsesPerSecond)
      rows.push([
        scenario.name,
        String(workers),
        formatWhole(responsesPerSecond),
        formatTenths(p50),
        formatTenths(p99),
        formatWhole(cpu.service),
        formatWhole(cpu.postgres),
        formatWhole(cpu.generator),
      ])
    }
  }
  for (const { service } of services) await service.stop()
  return {
    title: 'Two processes',
    about:
      '`WEB_CONCURRENCY=1` and `WEB_CONCURRENCY=2` in turn, 32 connections, each sending the next request as soon as it has a response. CPU is microseconds per response.',
    tables: [
      {
        caption: 'At full load',
        head: [
          'request',
          'processes',
          'requests/s',
          'p50 ms',
          'p99 ms',
          'CPU service',
          'CPU PostgreSQL',
          'CPU generator',
        ],
        rows,
      },
    ],
    targets: [],
  }
}
