import cluster from 'node:cluster'
import { pino } from 'pino'
import type { Config } from '../config/config.ts'
import type { Postgres } from '../postgres/postgres.ts'
import { listAllServices } from '../store/tenancy/services.ts'
import { createLogStream } from '../telemetry/log-lines.ts'
import { mergeSamples } from '../telemetry/samples.ts'
import { armFailpoint } from '../testing/failpoints.ts'
import { type App, openApp } from './app.ts'
import { type Serving, serveAsWorker, serveByWorkers } from './cluster.ts'
import { createConsoleLink } from './installation/console-link.ts'
import { getUsername, type PrintedAccess, prepareAccess } from './installation/first-access.ts'
import { findOrphanedServices } from './installation/orphaned-services.ts'
import { addMissingJobs, startJobs } from './job-worker.ts'
import { listen } from './listener.ts'
import {
  collectDiskSamples,
  collectProcessSamples,
  createControlCollector,
  createShardCollector,
  listenMetrics,
} from './metrics.ts'
import { waitForShutdownSignal } from './signals.ts'
import { closeApp, stopJobs, stopMetrics, stopProcess, stopRequests } from './stop.ts'
import { startMetricPush, startTelemetryExport } from './telemetry-export.ts'

/** Creates a logger on standard error, so that standard output stays readable. */
const createLogger = (config: Config) =>
  pino(
    {
      level: config.logLevel,
      base: { pid: process.pid, 'service.name': config.otelServiceName },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    createLogStream(),
  )

interface StartOptions {
  /** True to create the demo service if no service exists. */
  demo: boolean
  /** True if an operator watches the output and can follow a sign-in link. */
  isWatched: boolean
  /** Called with each line about the progress of the start. */
  say: (line: string) => void
  /** Called once requests are served. */
  onReady: (facts: {
    baseUrl: string
    caFile: string | undefined
    access: PrintedAccess | undefined
    /** True if the installation has at least one service. */
    hasServices: boolean
    /** Signs the account of `access` in to the console, once. Only if an operator watches, or if this start prints the password anyway. */
    consoleLink: string | undefined
    workers: number
    /** Absent if DATABASE_URL names the server. */
    postgres: Pick<Postgres, 'isBundled' | 'version'> | undefined
  }) => void
}

/** Serves until a shutdown signal (`signals.ts`). In a worker process, it only serves requests. */
export async function startServer(config: Config, starting: StartOptions): Promise<void> {
  armFailpoint(config.failpoint)
  const log = createLogger(config)
  if (cluster.isWorker) return serveAsWorker(config, log)

  const endTelemetry = await startTelemetryExport(config, log)
  const app = await openApp(config, log, { isOwner: true })
  const { installation, backOffices } = app
  let serving: Serving | undefined
  let endMetrics: (() => Promise<void>) | undefined
  let stop: Promise<void>
  try {
    if (installation.migrated.length) starting.say(`Migrated the database: ${installation.migrated.join(', ')}.`)
    await logOrphanedServices(app)
    // The ports are bound before anything is created, so a start that can't serve leaves no account that was never shown.
    serving = config.webConcurrency > 1 ? await serveByWorkers(config, log) : await serveInProcess(app)
    endMetrics = await publishMetrics(app, serving)
    const access = await prepareAccess(config, installation, backOffices, { ...starting, ...serving })
    // Other people can read a stored log.
    const showsLink = access && (starting.isWatched || 'created' in access)
    const consoleLink = showsLink
      ? await createConsoleLink(installation, getUsername(access), serving.baseUrl)
      : undefined
    // Before the start is reported: a reader of the report can send a signal at once, and without a handler that signal kills this process.
    stop = waitForShutdownSignal(log)
    serving.becomeReady()
    starting.onReady({
      ...serving,
      access,
      hasServices: (await listAllServices(installation.db)).length > 0,
      consoleLink,
      workers: config.webConcurrency,
      postgres: installation.postgres,
    })
  } catch (error) {
    await endMetrics?.()
    await serving?.close(0)
    await app.close()
    throw error
  }
  void installation.postgres?.ended.then(error => {
    if (!error) return
    log.fatal({ err: error }, 'bundled PostgreSQL ended and could not be restarted')
    process.exit(1)
  })
  // Jobs start last, so that they don't delay the first response.
  const worker = config.runJobs ? startJobs(app) : undefined
  if (!worker) await addMissingJobs(app).catch(error => log.warn({ err: error }, 'scheduled jobs could not be added'))
  await stop
  const steps = [stopRequests(config, serving), stopJobs(config, worker), stopMetrics(endMetrics)]
  await stopProcess(log, steps, closeApp(app, endTelemetry))
}

/** Runs jobs until it receives a shutdown signal, in addition to the processes that serve. */
export async function startJobProcess(config: Config, { onReady }: { onReady: () => void }): Promise<void> {
  armFailpoint(config.failpoint)
  const log = createLogger(config)
  const endTelemetry = await startTelemetryExport(config, log)
  const app = await openApp(config, log)
  if (app.installation.postgres) {
    await app.close()
    throw new Error('The bundled database is not running. Run "tillbridge start" first, or set DATABASE_URL.')
  }
  await logOrphanedServices(app)
  const endMetrics = await publishMetrics(app).catch(async error => {
    await app.close()
    throw error
  })
  const worker = startJobs(app)
  await worker
  const stop = waitForShutdownSignal(log)
  onReady()
  await stop
  await stopProcess(log, [stopJobs(config, worker), stopMetrics(endMetrics)], closeApp(app, endTelemetry))
}

async function logOrphanedServices({ config, installation, log }: App) {
  for (const sentence of await findOrphanedServices(config, installation.db)) log.warn(sentence)
}

/**
 * Publishes the metrics of each process that serves, of this process if it doesn't, and of the databases: at METRICS_PORT, and to the
 * collector of OTEL_METRICS_EXPORTER. Returns a function that ends both.
 */
async function publishMetrics({ config, installation, backOffices, shards, log }: App, serving?: Serving) {
  const { metricsPort, metricsHost, webConcurrency, dataDir, backupIntervalHours } = config
  const { db, pools = {}, replicas } = installation
  const collectControl = createControlCollector(db, backupIntervalHours)
  const collectShards = createShardCollector(shards, backupIntervalHours)
  const collectProcesses = async () => {
    const workers = (await serving?.processes()) ?? []
    const isOwnIncluded = serving && webConcurrency === 1
    return isOwnIncluded
      ? workers
      : [collectProcessSamples([{ pools, backOffices, replicas }, ...shards.opened()]), ...workers]
  }
  const collect = async () => {
    const [processes, control, shardSamples] = await Promise.all([
      collectProcesses(),
      collectControl(),
      collectShards(),
    ])
    return [...mergeSamples([...processes, control, shardSamples]), ...(await collectDiskSamples(dataDir))]
  }
  const server = metricsPort === undefined ? undefined : await listenMetrics(metricsPort, metricsHost, collect)
  const endPush = await startMetricPush(config, log, collect)
  return async () => {
    server?.close()
    await endPush?.()
  }
}

async function serveInProcess(app: App): Promise<Serving> {
  let isReady = false
  const listening = await listen(app, { isReady: () => isReady })
  return {
    ...listening,
    becomeReady() {
      isReady = true
    },
    processes: async () => [listening.samples()],
  }
}
