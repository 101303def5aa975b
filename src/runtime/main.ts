import cluster from 'node:cluster'
import type { Server } from 'node:http'
import { pino } from 'pino'
import { type BackOffices, openBackOffices } from '../backoffice/back-offices.ts'
import { backOfficeSettings, type Config } from '../config/config.ts'
import { logLines } from '../telemetry/log-lines.ts'
import { merged } from '../telemetry/samples.ts'
import { armFailpoint } from '../testing/failpoints.ts'
import { type Serving, serveAsWorker, serveByWorkers } from './cluster.ts'
import { linkFor } from './installation/console-link.ts'
import { prepareAccess, type ToldAccess, usernameOf } from './installation/first-access.ts'
import { type Installation, joinInstallation, openInstallation } from './installation/installation.ts'
import { orphanedServices } from './installation/orphaned-services.ts'
import { addJobs, startJobs } from './job-worker.ts'
import { listen } from './listener.ts'
import { databaseSamples, diskSamples, listenMetrics, processSamples, shardSamples } from './metrics.ts'
import { createShards, type Shards } from './shards/shards.ts'
import { waitForShutdownSignal } from './signals.ts'
import { startTracing } from './traces.ts'

/** Standard error takes the log, so that standard output stays readable. */
const logger = (config: Config) =>
  pino({ level: config.logLevel, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime }, logLines())

interface Starting {
  /** Makes the demo service where there is no service yet. */
  demo: boolean
  /** Whether somebody is there who may follow a link that signs in. */
  isWatched: boolean
  /** Told, in a line each, what is going on. */
  say: (line: string) => void
  /** Told once requests are served. */
  onReady: (facts: {
    baseUrl: string
    caFile: string | undefined
    access: ToldAccess | undefined
    /** Signs in to the console, once: of the account that `access` is told of. Only where somebody watches, or where this start shows the account's password anyway. */
    consoleLink: string | undefined
    workers: number
  }) => void
}

/** Runs the service until it is asked to stop (`running/signals.ts`). In a worker process of its own it only serves. */
export async function start(config: Config, starting: Starting): Promise<void> {
  armFailpoint(config.failpoint)
  const log = logger(config)
  if (cluster.isWorker) return serveAsWorker(config, log)

  const endTraces = await startTracing(config, log)
  const installation = await openInstallation(config, { onNotice: notice => log.warn(notice), replicas: true })
  const databases = createShards(config, installation, log)
  let offices: BackOffices | undefined
  let serving: Serving | undefined
  let metrics: Server | undefined
  try {
    if (installation.migrated.length) starting.say(`Migrated the database: ${installation.migrated.join(', ')}.`)
    offices = await officesOf(config, installation, log)
    // The ports are taken before anything is made: a start that cannot serve leaves nothing that nobody has seen.
    serving =
      config.webConcurrency > 1
        ? await serveByWorkers(config, log)
        : await serveHere(config, installation, offices, databases, log)
    if (config.metricsPort !== undefined)
      metrics = await listenMetrics(config.metricsPort, figures(installation, offices, databases, config, serving))
    const access = await prepareAccess(config, installation, offices, { ...starting, ...serving })
    // A log that is kept is read by others.
    const mayFollow = access && (starting.isWatched || 'made' in access)
    const consoleLink = mayFollow ? await linkFor(installation, usernameOf(access), serving.baseUrl) : undefined
    serving.becomeReady()
    starting.onReady({ ...serving, access, consoleLink, workers: config.webConcurrency })
  } catch (error) {
    metrics?.close()
    await serving?.close(0)
    offices?.close()
    await databases.close()
    await installation.close()
    throw error
  }
  void installation.postgres?.ended.then(fault => {
    if (!fault) return
    log.fatal({ err: fault }, 'The bundled PostgreSQL cannot be kept running.')
    process.exit(1)
  })
  const stop = waitForShutdownSignal(log)
  // Not before: whoever starts the service waits for its first answer.
  const doing = { installation, offices, databases, log }
  const worker = config.runJobs ? startJobs(config, doing) : undefined
  if (!worker) await addJobs(config, doing).catch(error => log.warn({ err: error }, 'No jobs were asked for.'))
  await stop
  const graceMs = config.drainSeconds * 1_000
  metrics?.close()
  await Promise.all([serving.close(graceMs), worker?.then(begun => begun.stop(graceMs))])
  offices.close()
  await databases.close()
  await Promise.all([installation.close(), endTraces()])
  process.exit(0)
}

/** Does jobs until it is asked to stop, beside the processes that serve. */
export async function work(config: Config, { onReady }: { onReady: () => void }): Promise<void> {
  armFailpoint(config.failpoint)
  const log = logger(config)
  const endTraces = await startTracing(config, log)
  const installation = await joinInstallation(config, { onNotice: notice => log.warn(notice), replicas: true })
  if (installation.postgres) {
    await installation.close()
    throw new Error('Nothing serves on this bundled database: tillbridge start first, or set DATABASE_URL.')
  }
  const offices = await officesOf(config, installation, log)
  const databases = createShards(config, installation, log)
  const worker = await startJobs(config, { installation, offices, databases, log })
  onReady()
  await waitForShutdownSignal(log)
  await worker.stop(config.drainSeconds * 1_000)
  offices.close()
  await databases.close()
  await Promise.all([installation.close(), endTraces()])
  process.exit(0)
}

async function officesOf(config: Config, { db, keys }: Installation, log: pino.Logger) {
  for (const sentence of await orphanedServices(config, db)) log.warn(sentence)
  return openBackOffices({ db, keys, defaults: backOfficeSettings(config), log })
}

/** What is told of the whole installation: of each process that serves, of this one where it does not, and of the databases. */
function figures(
  { db, pools = {}, replicas }: Installation,
  offices: BackOffices,
  databases: Shards,
  { webConcurrency, dataDir }: Config,
  serving: Serving,
) {
  const ofDatabase = databaseSamples(db)
  const ofDataDatabases = shardSamples(databases)
  const own = () => (webConcurrency > 1 ? processSamples([{ pools, offices, replicas }, ...databases.opened()]) : [])
  return async () => [
    ...merged([own(), ...(await serving.processes()), await ofDatabase(), await ofDataDatabases()]),
    ...(await diskSamples(dataDir)),
  ]
}

async function serveHere(
  config: Config,
  installation: Installation,
  offices: BackOffices,
  databases: Shards,
  log: pino.Logger,
): Promise<Serving> {
  let isReady = false
  const listening = await listen(config, installation, log, { offices, databases, isReady: () => isReady })
  return {
    ...listening,
    becomeReady() {
      isReady = true
    },
    processes: async () => [listening.samples()],
  }
}
