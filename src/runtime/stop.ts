import cluster from 'node:cluster'
import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import { finishesWithin } from '../concurrency/backoff.ts'
import type { Config } from '../config/config.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import type { App } from './app.ts'

/** A part of a stop, such as closing the connections. */
interface StopStep {
  name: string
  /** Milliseconds after which the step is abandoned. */
  limitMs: number
  run: () => Promise<unknown>
}

/** Extra milliseconds of a step, next to its wait for requests, jobs or PostgreSQL. */
const reserveMs = 5_000

/** Milliseconds that the bundled PostgreSQL can take: fast shutdown, immediate shutdown, kill. */
const postgresStopMs = 31_000

const getDrainLimitMs = ({ shutdownDelaySeconds, drainSeconds }: Config) =>
  (shutdownDelaySeconds + drainSeconds) * 1_000 + reserveMs

/** Milliseconds within which a worker process ends after SIGTERM. It runs no jobs and no PostgreSQL. */
export const getWorkerLimitMs = (config: Config) => getDrainLimitMs(config) + reserveMs + killReserveMs

/** Finishes running requests, in this process or in its worker processes. */
export const stopRequests = (config: Config, serving: { close(graceMs: number): Promise<void> }): StopStep => ({
  name: 'requests',
  limitMs:
    cluster.isPrimary && config.webConcurrency > 1 ? getWorkerLimitMs(config) + reserveMs : getDrainLimitMs(config),
  run: () => serving.close(config.drainSeconds * 1_000),
})

/** Finishes running jobs. */
export const stopJobs = (
  { drainSeconds }: Config,
  worker: Promise<{ stop(graceMs: number): Promise<void> }> | undefined,
): StopStep => ({
  name: 'jobs',
  limitMs: drainSeconds * 1_000 + reserveMs,
  run: async () => (await worker)?.stop(drainSeconds * 1_000),
})

/** Pushes the last metrics and stops publishing them. Runs next to the drain, because a collector can hang. */
export const stopMetrics = (endMetrics: () => Promise<void>): StopStep => ({
  name: 'metrics',
  limitMs: reserveMs,
  run: endMetrics,
})

/** Closes everything else, if no request and no job uses it. */
export const closeApp = (app: App, endTelemetry: () => Promise<void>): StopStep[] => [
  {
    name: 'database connections',
    limitMs: reserveMs + (app.installation.postgres ? postgresStopMs : 0),
    run: () => app.close(),
  },
  { name: 'telemetry', limitMs: reserveMs, run: endTelemetry },
]

/** Milliseconds after the limits of all steps. */
const killReserveMs = 1_000

/**
 * Stops the process in stages, whose steps run concurrently. A step that hangs or fails is logged and abandoned, and the next stage begins.
 * The exit code is 1 then, otherwise 0. If a step blocks the event loop, a thread kills the process.
 */
export async function stopProcess(log: Logger, ...stages: StopStep[][]): Promise<never> {
  const thread = await ignoreError(startThread(), 'only a blocked event loop needs the thread')
  let isClean = true
  for (const steps of stages) {
    const limitMs = Math.max(...steps.map(step => step.limitMs)) + killReserveMs
    thread?.postMessage({ steps: steps.map(({ name }) => name), limitMs })
    const outcomes = await Promise.all(steps.map(step => runStep(log, step)))
    isClean &&= !outcomes.includes(false)
  }
  process.exit(isClean ? 0 : 1)
}

/** Runs a step for at most its limit. Returns false if it hangs or fails. */
async function runStep(log: Logger, { name, limitMs, run }: StopStep): Promise<boolean> {
  try {
    const result = run()
    const isDone = await finishesWithin(result, limitMs)
    if (isDone) await result
    else log.error({ step: name, limitMs }, 'stop step timed out, continuing without it')
    return isDone
  } catch (error) {
    log.error({ err: error, step: name }, 'stop step failed, continuing without it')
    return false
  }
}

async function startThread() {
  const thread = new Worker(new URL('./stop-thread.ts', import.meta.url))
  thread.unref()
  thread.on('error', () => {})
  return thread
}
