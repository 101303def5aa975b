import { ask, type Bench, type Sample } from './rig/bench.ts'
import type { Loaded } from './rig/database.ts'
import { startService } from './rig/processes.ts'
import { medianBy, type Section, tenths, whole } from './rig/report.ts'
import { scenariosOf } from './rig/scenarios.ts'

const measured = /^customers, (first|deepest)|^one customer/

/** Measures the same load on one process and on two. */
export async function measureWorkers(bench: Bench, loaded: Loaded): Promise<Section> {
  const served = []
  for (const workers of [1, 2])
    served.push({
      workers,
      service: await startService(bench.directory, { DATABASE_URL: loaded.url, WEB_CONCURRENCY: String(workers) }),
    })
  const rows: string[][] = []
  for (const scenario of (await scenariosOf(loaded)).filter(({ name }) => measured.test(name))) {
    bench.say(`  ${scenario.name}`)
    const samples = served.map((): Sample[] => [])
    for (let round = 0; round < bench.rounds; round++)
      for (const [i, { service }] of served.entries())
        samples[i]?.push(await ask(bench, service, scenario, { connections: 32 }))
    for (const [i, { workers }] of served.entries()) {
      const { answersPerSecond, p50, p99, cpu } = medianBy(samples[i] ?? [], sample => sample.answersPerSecond)
      rows.push([
        scenario.name,
        String(workers),
        whole(answersPerSecond),
        tenths(p50),
        tenths(p99),
        whole(cpu.service),
        whole(cpu.postgres),
        whole(cpu.generator),
      ])
    }
  }
  for (const { service } of served) await service.stop()
  return {
    title: 'Two processes',
    about:
      '`WEB_CONCURRENCY=1` and `WEB_CONCURRENCY=2` in turn, 32 connections, each sending the next request as soon as it has a response. CPU is microseconds for each answer.',
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
