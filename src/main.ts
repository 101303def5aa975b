import cluster from 'node:cluster'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { type Offices, openOffices } from './backoffice/offices.ts'
import { backOfficeOf, type Config } from './config.ts'
import { armFailpoint } from './failpoints.ts'
import { merged, type Sample } from './http/metrics.ts'
import { type Access, prepareAccess } from './running/access.ts'
import { type Installation, joinInstallation, openInstallation } from './running/installation.ts'
import { type Listening, listen } from './running/listen.ts'
import { databaseSamples, listenMetrics, processSamples } from './running/metrics.ts'
import type { Worker } from './worker.ts'

/** Standard error takes the log, so that standard output stays readable. */
const logger = (config: Config) =>
  pino({ level: config.logLevel, base: { pid: process.pid } }, pino.destination({ dest: 2, sync: true }))

interface Starting {
  /** Makes the demo service where there is no service yet. */
  demo: boolean
  /** Told, in a line each, what is going on. */
  say: (line: string) => void
  /** Told once requests are served. */
  onReady: (facts: { baseUrl: string; caFile: string | undefined; access: Access | undefined; workers: number }) => void
}

/** Runs the service until SIGTERM or Ctrl-C. In a worker process of its own it only serves. */
export async function start(config: Config, starting: Starting): Promise<void> {
  const log = logger(config)
  if (cluster.isWorker) return serveAsWorker(config, log)

  const installation = await openInstallation(config, { onNotice: notice => log.warn(notice) })
  let offices: Offices | undefined
  let serving: Serving | undefined
  let metrics: Server | undefined
  try {
    if (installation.migrated.length) starting.say(`Migrated the database: ${installation.migrated.join(', ')}.`)
    offices = await officesOf(config, installation, log)
    const access = await prepareAccess(config, installation, offices, starting)
    serving =
      config.workers > 1 ? await serveByWorkers(config, log) : await serveHere(config, installation, offices, log)
    if (config.metricsPort !== undefined)
      metrics = await listenMetrics(config.metricsPort, figures(installation, offices, config, serving))
    await access?.save(serving)
    starting.onReady({ ...serving, access: access?.facts, workers: config.workers })
  } catch (error) {
    metrics?.close()
    await serving?.close(0)
    offices?.close()
    await installation.close()
    throw error
  }
  void installation.postgres?.ended.then(fault => {
    if (!fault) return
    log.fatal({ err: fault }, 'The bundled PostgreSQL cannot be kept running.')
    process.exit(1)
  })
  const stop = askedToStop()
  // Not before: whoever starts the service waits for its first answer.
  const worker = config.jobs === 'on' ? beginJobs(config, installation, offices, log) : undefined
  if (!worker)
    await askForJobs(installation, offices).catch(error => log.warn({ err: error }, 'No jobs were asked for.'))
  await stop
  const graceMs = config.drainSeconds * 1_000
  metrics?.close()
  await Promise.all([serving.close(graceMs), worker?.then(begun => begun.stop(graceMs))])
  offices.close()
  await installation.close()
  process.exit(0)
}

/** Does jobs until SIGTERM or Ctrl-C, beside the processes that serve. */
export async function work(config: Config, { onReady }: { onReady: () => void }): Promise<void> {
  const log = logger(config)
  const installation = await joinInstallation(config, { onNotice: notice => log.warn(notice) })
  if (installation.postgres) {
    await installation.close()
    throw new Error('Nothing serves on this bundled database: tillbridge start first, or set DATABASE_URL.')
  }
  const offices = await officesOf(config, installation, log)
  const worker = await beginJobs(config, installation, offices, log)
  onReady()
  await askedToStop()
  await worker.stop(config.drainSeconds * 1_000)
  offices.close()
  await installation.close()
  process.exit(0)
}

const officesOf = (config: Config, { db, keys }: Installation, log: pino.Logger) =>
  openOffices({ db, keys, defaults: backOfficeOf(config), log })

async function beginJobs(
  config: Config,
  { db, keys }: Installation,
  offices: Offices,
  log: pino.Logger,
): Promise<Worker> {
  const [{ startWorker }, { jobs, officeJobs }, { postOf }] = await Promise.all([
    import('./worker.ts'),
    import('./jobs/jobs.ts'),
    import('./mail/post.ts'),
  ])
  armFailpoint(config.failpoint)
  return startWorker({ db, keys, log, post: postOf(config) }, { ...jobs, ...officeJobs(offices) })
}

/** Asks for the jobs of set times, and does none: that nobody does them is seen by their age. */
async function askForJobs({ db }: Installation, offices: Offices) {
  const [{ askForScheduled }, { jobs, officeJobs }] = await Promise.all([
    import('./worker.ts'),
    import('./jobs/jobs.ts'),
  ])
  await askForScheduled(db, { ...jobs, ...officeJobs(offices) })
}

/** What is told of the whole installation: of each process that serves, of this one where it does not, and of the database. */
function figures({ db, pools = {} }: Installation, offices: Offices, { workers }: Config, serving: Serving) {
  const ofDatabase = databaseSamples(db)
  const own = () => (workers > 1 ? processSamples(pools, offices) : [])
  return async () => [...merged([own(), ...(await serving.processes())]), ...(await ofDatabase())]
}

/** What serves, in one process or several. */
interface Serving extends Pick<Listening, 'baseUrl' | 'caFile' | 'close'> {
  /** What each process has to tell of itself. */
  processes(): Promise<Sample[][]>
}

async function serveHere(
  config: Config,
  installation: Installation,
  offices: Offices,
  log: pino.Logger,
): Promise<Serving> {
  const listening = await listen(config, installation, log, { offices })
  return { ...listening, processes: async () => [listening.samples()] }
}

/** The first signal asks; a further one no longer waits. Terminals, npm and our own parent may each deliver the first. */
function askedToStop() {
  let since: number | undefined
  return new Promise<void>(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        if (since === undefined) resolve()
        else if (performance.now() - since > 1_000) process.exit(1)
        since ??= performance.now()
      })
  })
}

/** What a worker process tells its parent: that it serves, or why it cannot. */
type Report = Pick<Serving, 'baseUrl' | 'caFile'> | { fault: string }

/** Milliseconds that a worker process has to tell its figures; one that ends meanwhile has none. */
const figuresMs = 2_000

async function askedOfWorkers(): Promise<Sample[][]> {
  const workers = Object.values(cluster.workers ?? {}).filter(worker => worker?.isConnected() === true)
  const told = workers.map(async worker => {
    if (!worker) return []
    const signal = AbortSignal.timeout(figuresMs)
    const answer = once(worker, 'message', { signal })
    worker.send('figures')
    const [samples] = (await answer.catch(() => [[]])) as [Sample[]]
    return Array.isArray(samples) ? samples : []
  })
  return Promise.all(told)
}

/** One process a worker; each opens its own connections. A worker that dies is replaced. */
async function serveByWorkers(config: Config, log: pino.Logger): Promise<Serving> {
  let stopping = false
  const begin = async () => {
    const worker = cluster.fork()
    const [report] = (await Promise.race([
      once(worker, 'message'),
      once(worker, 'exit').then(([code]) => [{ fault: `A worker process ended with code ${code} before it served.` }]),
    ])) as [Report]
    if ('fault' in report) throw new Error(report.fault)
    worker.once('exit', code => stopping || replace({ code, worker: worker.process.pid }))
    return report
  }
  const replace = async (dead: { code: number; worker: number | undefined }) => {
    log.error(dead, 'A worker process ended unexpectedly; another one takes its place.')
    for (let waitMs = 250; !stopping; waitMs = Math.min(2 * waitMs, 10_000)) {
      try {
        return await begin()
      } catch (error) {
        if (!stopping) log.error({ err: error }, 'The worker could not be replaced; it is tried again.')
        await delay(waitMs, undefined, { ref: false })
      }
    }
  }
  const close = async () => {
    stopping = true
    const workers = Object.values(cluster.workers ?? {}).filter(worker => worker !== undefined)
    await Promise.all(
      workers.map(worker => {
        const ended = once(worker, 'exit')
        worker.process.kill('SIGTERM')
        return ended
      }),
    )
  }
  try {
    const [facts] = await Promise.all(Array.from({ length: config.workers }, begin))
    if (!facts) throw new Error('WORKERS is at least 1')
    return { ...facts, close, processes: askedOfWorkers }
  } catch (error) {
    await close()
    throw error
  }
}

async function serveAsWorker(config: Config, log: pino.Logger) {
  const report = (facts: Report) => new Promise(resolve => process.send?.(facts, resolve))
  try {
    const installation = await joinInstallation(config, { onNotice: notice => log.warn(notice) })
    const serving = await listen(config, installation, log)
    // Without its parent nobody would end it.
    process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
    process.on('message', asked => asked === 'figures' && process.send?.(serving.samples()))
    await report({ baseUrl: serving.baseUrl, caFile: serving.caFile })
    await askedToStop()
    await serving.close(config.drainSeconds * 1_000)
    await installation.close()
    process.exit(0)
  } catch (error) {
    await report({ fault: (error as Error).message })
    process.exit(1)
  }
}
