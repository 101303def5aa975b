import { readCpuSeconds, readMemory, readTotalMemory } from '../../scenarios/support/usage.ts'
import type { FixedResponse, Ports } from './bare.ts'
import { type Child, startChild } from './child.ts'
import type { LoadedDatabase } from './database.ts'
import type { Load, LoadResult } from './generator.ts'
import type { RunningService } from './processes.ts'
import type { Scenario } from './scenarios.ts'
import type { Statement, StatementResult } from './sql.ts'

/** The processes that measure, and the PostgreSQL that is measured. */
export interface Bench {
  directory: string
  generator: Child<Load, LoadResult>
  bare: Child<FixedResponse, Ports>
  sql: Child<Statement, StatementResult>
  postgresPid: number
  seconds: number
  rounds: number
  say(line: string): void
  end(): void
}

export function startBench(options: Pick<Bench, 'directory' | 'postgresPid' | 'seconds' | 'rounds' | 'say'>): Bench {
  const children = {
    generator: startChild<Load, LoadResult>('./generator.ts'),
    bare: startChild<FixedResponse, Ports>('./bare.ts'),
    sql: startChild<Statement, StatementResult>('./sql.ts'),
  }
  return {
    ...options,
    ...children,
    end() {
      for (const child of Object.values(children)) child.end()
    },
  }
}

/** Result of one measurement of the service. */
export interface Sample extends LoadResult {
  /** Microseconds of CPU per response. */
  cpu: { service: number; postgres: number; generator: number }
  /** Megabytes of the service's process, and of all processes of PostgreSQL. */
  memory: { service: number; peak: number; postgres: number }
}

interface LoadOptions {
  connections: number
  rate?: number
  seconds?: number
}

/** Measures the service while a generator repeats one request. */
export async function measureRequest(
  bench: Bench,
  service: Pick<RunningService, 'pid' | 'port' | 'ca'>,
  { request }: Pick<Scenario, 'request'>,
  options: LoadOptions,
): Promise<Sample> {
  const { generator, postgresPid, seconds } = bench
  const readUsage = () => [service.pid, postgresPid, generator.pid].map(readCpuSeconds)
  let before: number[] = []
  const load = { port: service.port, ca: service.ca, request, seconds, ...options }
  const measured = await generator.send(load, () => {
    before = readUsage()
  })
  const responses = measured.responsesPerSecond * load.seconds
  const [serviceCpu = 0, postgres = 0, generatorCpu = 0] = readUsage().map(
    (count, i) => ((count - (before[i] ?? 0)) / responses) * 1e6,
  )
  const { now, peak } = readMemory(service.pid)
  return {
    ...measured,
    cpu: { service: serviceCpu, postgres, generator: generatorCpu },
    memory: { service: now, peak, postgres: readTotalMemory(postgresPid) },
  }
}

/** Measures a bare server while a generator repeats one request. */
export const measureBareServer = (
  bench: Bench,
  port: number,
  request: string,
  options: LoadOptions & { ca?: string },
) => bench.generator.send({ port, request, seconds: bench.seconds, ...options })

/** Measures the statement of a request without HTTP. Returns the statements per second. */
export const measureStatement = async (
  bench: Bench,
  { connection }: LoadedDatabase,
  { query }: Scenario,
  connections: number,
) => (await bench.sql.send({ connection, query, connections, seconds: bench.seconds })).statementsPerSecond
