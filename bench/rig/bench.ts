import { readCpuSeconds, readMemory, readTotalMemory } from '../../scenarios/support/usage.ts'
import type { Fixed, Ports } from './bare.ts'
import { type Child, startChild } from './child.ts'
import type { Loaded } from './database.ts'
import type { Load, Measured } from './generator.ts'
import type { Running } from './processes.ts'
import type { Scenario } from './scenarios.ts'
import type { Ran, Statement } from './sql.ts'

/** The processes that measure, and the PostgreSQL that is measured. */
export interface Bench {
  directory: string
  generator: Child<Load, Measured>
  bare: Child<Fixed, Ports>
  sql: Child<Statement, Ran>
  postgresPid: number
  seconds: number
  rounds: number
  say(line: string): void
  end(): void
}

export function startBench(options: Pick<Bench, 'directory' | 'postgresPid' | 'seconds' | 'rounds' | 'say'>): Bench {
  const children = {
    generator: startChild<Load, Measured>('./generator.ts'),
    bare: startChild<Fixed, Ports>('./bare.ts'),
    sql: startChild<Statement, Ran>('./sql.ts'),
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
export interface Sample extends Measured {
  /** Microseconds of CPU per response. */
  cpu: { service: number; postgres: number; generator: number }
  /** Megabytes: the service's processes, and all of PostgreSQL. */
  memory: { service: number; peak: number; postgres: number }
}

interface LoadOptions {
  connections: number
  rate?: number
  seconds?: number
}

/** Loads the service with one request. */
export async function ask(
  bench: Bench,
  service: Pick<Running, 'pid' | 'port' | 'ca'>,
  { request }: Pick<Scenario, 'request'>,
  options: LoadOptions,
): Promise<Sample> {
  const { generator, postgresPid, seconds } = bench
  const used = () => [service.pid, postgresPid, generator.pid].map(readCpuSeconds)
  let before: number[] = []
  const load = { port: service.port, ca: service.ca, request, seconds, ...options }
  const measured = await generator.send(load, () => {
    before = used()
  })
  const responses = measured.answersPerSecond * load.seconds
  const [serviceCpu = 0, postgres = 0, generatorCpu = 0] = used().map(
    (count, i) => ((count - (before[i] ?? 0)) / responses) * 1e6,
  )
  const { now, peak } = readMemory(service.pid)
  return {
    ...measured,
    cpu: { service: serviceCpu, postgres, generator: generatorCpu },
    memory: { service: now, peak, postgres: readTotalMemory(postgresPid) },
  }
}

/** Loads a bare server with one request. */
export const askBare = (bench: Bench, port: number, request: string, options: LoadOptions & { ca?: string }) =>
  bench.generator.send({ port, request, seconds: bench.seconds, ...options })

/** Runs a request's statement alone. */
export const askSql = async (bench: Bench, { connection }: Loaded, { query }: Scenario, connections: number) =>
  (await bench.sql.send({ connection, query, connections, seconds: bench.seconds })).statementsPerSecond
