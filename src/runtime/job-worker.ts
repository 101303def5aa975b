import type { BackOffices } from '../backoffice/back-offices.ts'
import { finishesWithin, sleep } from '../concurrency/backoff.ts'
import type { Db } from '../database/db.ts'
import type { Worker } from '../jobs/worker.ts'
import { tickClock } from '../store/alerts/database-clock.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import type { App } from './app.ts'
import type { Shard } from './shards/shards.ts'

/** Milliseconds between two checks for added, moved or removed shards. */
const pollIntervalMs = 2_000

/** Milliseconds between two heartbeats of a database's clock. They are no job: a clock that was set back delays jobs. */
const clockIntervalMs = 5_000

/** Watches the clock of a database until the signal. */
async function watchClock(db: Db, signal: AbortSignal) {
  let last = performance.now() - clockIntervalMs
  while (!signal.aborted) {
    const now = performance.now()
    await ignoreError(tickClock(db, now - last), 'clock is checked again')
    last = now
    await sleep(clockIntervalMs, { signal })
  }
}

/** Runs the jobs of the control database and of each shard. Each has its own loop, so an unreachable shard doesn't delay the others. */
export async function startJobs(app: App): Promise<Worker> {
  const { config, installation, backOffices, shards, log } = app
  const [{ startWorker }, { watchReservations }, mail, buildJobs] = await Promise.all([
    import('../jobs/worker.ts'),
    import('../jobs/end-reservations.ts'),
    app.mail(),
    loadJobs(app),
  ])
  const { keys } = installation
  const context = { db: installation.db, keys, log, mailTransport: mail, publicUrl: config.publicUrl }
  /** Starts a worker, and watches the clock and the reservations of its database while it runs. */
  const start = (...[ownContext, jobs]: Parameters<typeof startWorker>): Worker => {
    const stopped = new AbortController()
    void watchClock(ownContext.db, stopped.signal)
    void watchReservations(ownContext.db, stopped.signal)
    const worker = startWorker(ownContext, jobs)
    return {
      stop(graceMs) {
        stopped.abort()
        return worker.stop(graceMs)
      },
    }
  }
  const control = start(context, buildJobs(backOffices, undefined))
  const workers = new Map<string, { shard: Shard; worker: Worker }>()
  const shutdown = new AbortController()

  async function startOn(name: string) {
    const shard = await shards.open(name)
    const current = workers.get(name)
    if (current?.shard === shard || shutdown.signal.aborted) return
    const shardContext = { ...context, db: shard.db, log: log.child({ database: name }) }
    workers.set(name, { shard, worker: start(shardContext, buildJobs(shard.backOffices, name)) })
    await current?.worker.stop(0)
  }

  async function poll() {
    while (!shutdown.signal.aborted) {
      const names = await ignoreError(shards.names(), 'shard is polled again')
      // An unreachable shard is tried again with the next poll.
      await Promise.all(names?.map(name => ignoreError(startOn(name), 'shard is polled again')) ?? [])
      for (const [name, { worker }] of workers)
        if (names && !names.includes(name)) {
          workers.delete(name)
          await worker.stop(0)
        }
      await sleep(pollIntervalMs, { signal: shutdown.signal })
    }
  }
  const polling = poll()
  return {
    async stop(graceMs) {
      shutdown.abort()
      await finishesWithin(polling, 1_000)
      await Promise.all(
        [control, ...[...workers.values()].map(({ worker }) => worker)].map(worker => worker.stop(graceMs)),
      )
    },
  }
}

/** Adds the scheduled jobs without running them: if no worker runs, their age shows it. */
export async function addMissingJobs(app: App): Promise<void> {
  const { installation, backOffices, shards } = app
  const [{ addScheduledJobs }, buildJobs] = await Promise.all([import('../jobs/worker.ts'), loadJobs(app)])
  await addScheduledJobs(installation.db, buildJobs(backOffices, undefined))
  const additions = (await shards.names()).map(async name => {
    const shard = await shards.open(name)
    await addScheduledJobs(shard.db, buildJobs(shard.backOffices, name))
  })
  await Promise.all(additions)
}

/** Loads the jobs on first use, because a process that only serves needs none of them. */
async function loadJobs({ config, shards, webhookSender }: App) {
  const [
    { jobs, buildBackOfficeJobs, buildRecoveryJobs, buildWebhookJobs, buildShardJobs },
    { buildBackupJobs },
    { routes },
  ] = await Promise.all([
    import('../jobs/jobs.ts'),
    import('../jobs/take-backup.ts'),
    import('../resources/resources.ts'),
  ])
  return (backOffices: BackOffices, shard: string | undefined) => ({
    ...jobs,
    ...buildBackOfficeJobs(backOffices),
    ...buildRecoveryJobs(backOffices, routes, webhookSender),
    ...buildWebhookJobs(webhookSender),
    ...(shard === undefined && buildShardJobs(shards.open)),
    ...buildBackupJobs(config.backupIntervalHours, shard),
  })
}
