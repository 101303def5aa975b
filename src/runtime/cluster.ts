import cluster from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { backoff } from '../concurrency/backoff.ts'
import type { Config } from '../config/config.ts'
import type { Sample } from '../telemetry/samples.ts'
import { openApp } from './app.ts'
import { type Listening, listen } from './listener.ts'
import { waitForShutdownSignal } from './signals.ts'
import { closeApp, getWorkerLimitMs, stopProcess, stopRequests } from './stop.ts'
import { startTelemetryExport } from './telemetry-export.ts'

/** The HTTPS server of an installation, in one process or several. */
export interface Serving extends Pick<Listening, 'baseUrl' | 'caFile' | 'close'> {
  /** Makes `/health/ready` return 200, so that load balancers send requests. */
  becomeReady(): void
  /** Returns the metric samples of each process. */
  processes(): Promise<Sample[][]>
}

/** The message of a worker process to its parent: its address, or the reason why it can't serve. */
type Report = Pick<Serving, 'baseUrl' | 'caFile'> | { error: string }

/** Milliseconds within which a worker process must send its metrics. A process that ends first sends none. */
const metricsTimeoutMs = 2_000

async function collectWorkerSamples(): Promise<Sample[][]> {
  const workers = Object.values(cluster.workers ?? {}).filter(worker => worker?.isConnected() === true)
  const collected = workers.map(async worker => {
    if (!worker) return []
    const signal = AbortSignal.timeout(metricsTimeoutMs)
    const response = once(worker, 'message', { signal })
    worker.send('metrics')
    const [samples] = (await response.catch(() => [[]])) as [Sample[]]
    return Array.isArray(samples) ? samples : []
  })
  return Promise.all(collected)
}

/** Starts the worker processes. Each opens its own connections. A worker that ends is replaced. */
export async function serveByWorkers(config: Config, log: Logger): Promise<Serving> {
  let stopping = false
  let isReady = false
  // Each worker accepts connections on the port itself. If this process passed them on, connections on the way to a dead or
  // suspended worker would hang forever.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  const begin = async () => {
    const worker = cluster.fork()
    const [report] = (await Promise.race([
      once(worker, 'message'),
      once(worker, 'exit').then(([code]) => [{ error: `A worker process ended with code ${code} before it served.` }]),
    ])) as [Report]
    if ('error' in report) throw new Error(report.error)
    if (isReady) worker.send('ready')
    worker.once('exit', code => stopping || replace({ code, worker: worker.process.pid }))
    return report
  }
  const replace = async (dead: { code: number; worker: number | undefined }) => {
    log.error(dead, 'worker process ended unexpectedly, starting another one')
    for (const delays = backoff({ initialMs: 250, maxMs: 10_000 }); !stopping; ) {
      try {
        return await begin()
      } catch (error) {
        if (!stopping) log.error({ err: error }, 'worker process start failed, will retry')
        await delay(delays.next(), undefined, { ref: false })
      }
    }
  }
  const close = async () => {
    stopping = true
    const workers = Object.values(cluster.workers ?? {}).filter(worker => worker !== undefined)
    await Promise.all(
      workers.map(worker => {
        const kill = setTimeout(() => worker.process.kill('SIGKILL'), getWorkerLimitMs(config))
        const ended = once(worker, 'exit').finally(() => clearTimeout(kill))
        worker.process.kill('SIGTERM')
        return ended
      }),
    )
  }
  try {
    const [facts] = await Promise.all(Array.from({ length: config.webConcurrency }, begin))
    if (!facts) throw new Error('WEB_CONCURRENCY must be at least 1')
    const becomeReady = () => {
      isReady = true
      for (const worker of Object.values(cluster.workers ?? {})) if (worker?.isConnected()) worker.send('ready')
    }
    return { ...facts, becomeReady, close, processes: collectWorkerSamples }
  } catch (error) {
    await close()
    throw error
  }
}

/** Serves requests as a worker process, and reports its address or its error to the parent process. */
export async function serveAsWorker(config: Config, log: Logger) {
  const report = (facts: Report) => new Promise(resolve => process.send?.(facts, resolve))
  try {
    const endTelemetry = await startTelemetryExport(config, log)
    const app = await openApp(config, log)
    let isReady = false
    const serving = await listen(app, { isReady: () => isReady })
    // The parent process would have stopped this one.
    process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
    process.on('message', message => {
      if (message === 'ready') isReady = true
      if (message === 'metrics') process.send?.(serving.samples())
    })
    await report({ baseUrl: serving.baseUrl, caFile: serving.caFile })
    await waitForShutdownSignal(log)
    await stopProcess(log, [stopRequests(config, serving)], closeApp(app, endTelemetry))
  } catch (error) {
    await report({ error: (error as Error).message })
    process.exit(1)
  }
}
