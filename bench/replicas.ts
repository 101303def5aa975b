import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { get } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { buildDatabaseUrl, startStandby } from '../scenarios/support/standby.ts'
import { readCpuSeconds } from '../scenarios/support/usage.ts'
import type { Postgres } from '../src/postgres/postgres.ts'
import { type Bench, measureRequest } from './rig/bench.ts'
import { type Cluster, type LoadedDatabase, serviceName } from './rig/database.ts'
import { type RunningService, startService } from './rig/processes.ts'
import { formatTenths, formatWhole, getMedianBy, type Section } from './rig/report.ts'
import { buildRequest, buildScenarios } from './rig/scenarios.ts'

const connections = 32

/** Measures pages of one process that reads from no replica, from one, and from two. */
export async function measureReplicas(bench: Bench, cluster: Cluster, loaded: LoadedDatabase): Promise<Section> {
  const home = await mkdtemp(join(bench.directory, 'replicas-'))
  await chmod(home, 0o711)
  const primary = { directory: join(bench.directory, 'postgres'), postgres: cluster.postgres }
  const replicas: Postgres[] = []
  const rows: string[][] = []
  try {
    for (const count of [0, 1, 2]) {
      bench.say(`  ${count} replicas`)
      if (count) replicas.push(await startStandby(join(home, String(count)), primary, { max_connections: '300' }))
      const reading = count ? { DATABASE_READ_URL: buildDatabaseUrl(replicas, loaded.connection.database ?? '') } : {}
      const service = await startService(bench.directory, { DATABASE_URL: loaded.url, ...reading })
      for (const scenario of [await findFirstPage(loaded), await buildNextPage(loaded, service)]) {
        const samples = []
        for (let round = 0; round < bench.rounds; round++) {
          const readUsage = () => replicas.reduce((sum, { pid }) => sum + readCpuSeconds(pid), 0)
          const before = readUsage()
          const sample = await measureRequest(bench, service, scenario, { connections })
          const responses = sample.responsesPerSecond * bench.seconds
          samples.push({ ...sample, replicas: ((readUsage() - before) / responses) * 1e6 })
        }
        const {
          responsesPerSecond,
          p50,
          p99,
          cpu,
          replicas: replicaCpu,
        } = getMedianBy(samples, sample => sample.responsesPerSecond)
        const figures = [responsesPerSecond, cpu.service, cpu.postgres, replicaCpu].map(formatWhole)
        rows.push([
          scenario.name,
          String(count),
          figures[0] ?? '',
          formatTenths(p50),
          formatTenths(p99),
          ...figures.slice(1),
        ])
      }
      await service.stop()
    }
  } finally {
    for (const replica of replicas) await replica.stop()
    await rm(home, { recursive: true, force: true })
  }
  return {
    title: 'Replicas',
    about:
      `Pages of customers by one process with 0, 1 and 2 replicas in \`DATABASE_READ_URL\`, ${connections} connections, each sending the next request as soon as it has a response. ` +
      'Generator, service, primary and replicas share the cores of one machine, so the rate cannot grow. The table shows which process uses the CPU of a page. If replicas have their own machines, next pages cost the primary nothing. A first page reads the WAL position of the primary.',
    tables: [
      {
        caption: 'At full load; CPU in microseconds per response',
        head: ['request', 'replicas', 'requests/s', 'p50 ms', 'p99 ms', 'CPU service', 'CPU primary', 'CPU replicas'],
        rows,
      },
    ],
    targets: [],
  }
}

async function findFirstPage(loaded: LoadedDatabase) {
  const [first] = await buildScenarios(loaded)
  if (!first) throw new Error('there are no scenarios')
  return first
}

/** Returns the request for the second page. Its cursor contains the LSN that a replica must have replayed. */
async function buildNextPage(loaded: LoadedDatabase, { port, ca }: RunningService) {
  const { path, ...scenario } = await findFirstPage(loaded)
  const response = await new Promise<string>((resolve, reject) => {
    const options = { host: 'localhost', port, ca, path, auth: `${serviceName}:${loaded.password}` }
    get({ ...options, headers: { 'x-service-name': serviceName } }, incoming => resolve(text(incoming))).on(
      'error',
      reject,
    )
  })
  const next = `${path}?after_cursor=${JSON.parse(response).meta.endCursor}`
  return {
    ...scenario,
    name: 'customers, next page',
    path: next,
    request: buildRequest({ name: serviceName, password: loaded.password }, next),
  }
}
