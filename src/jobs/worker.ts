import { finishesWithin, sleep } from '../concurrency/backoff.ts'
import type { Db } from '../database/db.ts'
import { DatabaseUnavailable } from '../database/errors.ts'
import {
  addScheduled,
  advanceScheduled,
  deferJob,
  finishJob,
  type LeasedJob,
  leaseDueJobs,
  postponeJob,
  releaseJobs,
  renewalMs,
  renewLeases,
  type Slots,
} from '../store/jobs/jobs.ts'
import { readServiceOfJob } from '../store/tenancy/services.ts'
import { runWithContext } from '../telemetry/current-context.ts'
import { endSpan, getErrorCode, startRootSpan } from '../telemetry/spans.ts'
import { parseTraceparent, type SpanContext } from '../telemetry/trace-context.ts'
import type { Job, JobContext } from './job.ts'
import { jobs } from './jobs.ts'

/** Runs jobs until it is stopped. */
export interface Worker {
  /** Leases no more jobs and waits at most `graceMs` milliseconds for running ones. Then it aborts and releases the others. */
  stop(graceMs: number): Promise<void>
}

/** Seconds after which another worker takes over the jobs of a dead one. */
const leaseSeconds = 20
/** Intervals of polling for due jobs and of adding scheduled jobs. */
const pollIntervalMs = 1_000
const scheduleIntervalMs = 60_000

interface RunningJob {
  job: LeasedJob
  abort: AbortController
  done: Promise<void>
}

/**
 * Runs due jobs, several at a time, in any number of processes. Each process leases the jobs that it runs (`store/jobs/jobs.ts`). If the database
 * is unavailable, the worker waits: no error ends the process.
 */
export function startWorker(context: JobContext, table: Readonly<Record<string, Job>> = jobs): Worker {
  const { db } = context
  const running = new Map<string, RunningJob>()
  let stopping = false
  let pollNow = new AbortController()
  const wake = () => pollNow.abort()
  const outage = trackOutage(context)

  function countFreeSlots() {
    const slots: Record<string, Slots> = {}
    for (const [name, { concurrency, concurrencyPerService }] of Object.entries(table)) {
      const busy = [...running.values()].filter(({ job }) => job.name === name).length
      if (busy < concurrency) slots[name] = { free: concurrency - busy, concurrencyPerService }
    }
    return slots
  }

  async function poll() {
    let scheduledAt = Number.NEGATIVE_INFINITY
    while (!stopping) {
      pollNow = new AbortController()
      try {
        if (performance.now() - scheduledAt > scheduleIntervalMs) {
          await addScheduledJobs(db, table)
          scheduledAt = performance.now()
        }
        for (const job of await leaseDueJobs(db, countFreeSlots(), leaseSeconds)) begin(job)
        outage.end()
      } catch (error) {
        outage.record(error)
      }
      if (!stopping) await sleep(pollIntervalMs, { signal: pollNow.signal })
    }
  }

  function begin(job: LeasedJob) {
    const abort = new AbortController()
    const span = startJobSpan(job, table[job.name])
    const done = runWithContext({ timeline: undefined, spanContext: span }, () =>
      executeJob({ context, table, outage }, job, abort.signal, span),
    ).finally(() => {
      running.delete(job.lease)
      wake()
    })
    running.set(job.lease, { job, abort, done })
  }

  let renewedAt = performance.now()
  async function renew() {
    const leases = [...running.keys()]
    try {
      const renewed = await renewLeases(db, leases, leaseSeconds)
      for (const lease of leases)
        if (!renewed.has(lease)) running.get(lease)?.abort.abort(new Error('Another worker has taken over.'))
      renewedAt = performance.now()
    } catch {
      if (performance.now() - renewedAt < leaseSeconds * 1_000) return
      for (const { abort } of running.values()) abort.abort(new Error('The lease could not be renewed.'))
    }
  }
  const renewal = setInterval(() => {
    if (running.size) void renew()
    else renewedAt = performance.now()
  }, renewalMs)

  const polling = poll()
  return {
    async stop(graceMs) {
      stopping = true
      wake()
      const ended = async () => {
        await polling
        await Promise.all([...running.values()].map(({ done }) => done))
      }
      await finishesWithin(ended(), graceMs)
      clearInterval(renewal)
      // A poll in progress may still lease jobs.
      await finishesWithin(polling, 1_000)
      if (!running.size) return
      const unfinished = [...running.values()]
      for (const { abort } of unfinished) abort.abort(new Error('The worker stops.'))
      await finishesWithin(Promise.all(unfinished.map(({ done }) => done)), 1_000)
      const leases = unfinished.map(({ job }) => job.lease)
      await finishesWithin(releaseJobs(db, leases).catch(outage.record), 1_000)
    },
  }
}

/** The parts of a worker that executing a job needs. */
interface Execution {
  context: JobContext
  table: Readonly<Record<string, Job>>
  outage: ReturnType<typeof trackOutage>
}

/**
 * Makes one attempt at a leased job, then finishes the job, or postpones it after a failure. Defers the job if its service is moving or being
 * deleted. Never throws.
 */
async function executeJob(
  { context, table, outage }: Execution,
  job: LeasedJob,
  signal: AbortSignal,
  span: SpanContext | undefined,
) {
  const { db, log } = context
  const { serviceId, name, subject, attempt, unfinishedStarts, lease } = job
  const { run, retryDelaysSeconds, intervalSeconds } = table[name] as Job
  let serviceName: string | undefined
  try {
    try {
      const service = serviceId === null ? undefined : await readServiceOfJob(db, serviceId)
      // The service is moving or being deleted. The job stays in case this is cancelled.
      if (serviceId !== null && !service) {
        await deferJob(db, job, leaseSeconds)
        return endSpan(span)
      }
      serviceName = service?.name
      const isLastAttempt = attempt > retryDelaysSeconds.length
      const renewLease = async () => (await renewLeases(db, [lease], leaseSeconds)).has(lease)
      let nextRunSeconds = intervalSeconds
      const reschedule = (seconds: number) => {
        nextRunSeconds = seconds
      }
      await run({ ...context, service, subject, attempt, isLastAttempt, signal, renewLease, reschedule })
      await finishJob(db, job, nextRunSeconds)
      endSpan(span)
    } catch (error) {
      endSpan(span, getErrorCode(error))
      if (signal.aborted) return
      // An unavailable database doesn't count as a failed attempt.
      const isCounted = !isOutage(error)
      const failures = isCounted ? attempt : Math.max(attempt, unfinishedStarts)
      const seconds = computeRetrySeconds(table[name] as Job, failures)
      const fields = { job: name, service: serviceName, subject, attempt }
      log.warn({ ...fields, err: error, againInSeconds: seconds }, 'job failed, will retry')
      await postponeJob(db, job, seconds, isCounted)
    }
  } catch (error) {
    // The outcome could not be stored. The lease expires automatically.
    outage.record(error)
  }
}

/**
 * Returns the seconds until a job that has failed this many times runs again. After the last retry delay, the job waits for its interval. A job
 * without an interval repeats the last delay.
 */
function computeRetrySeconds({ retryDelaysSeconds, intervalSeconds, jitter = 0 }: Job, failures: number) {
  const seconds = retryDelaysSeconds[failures - 1] ?? intervalSeconds ?? retryDelaysSeconds.at(-1) ?? leaseSeconds
  return seconds * (1 + jitter * Math.random())
}

/** A job with a shorter interval only polls for work, so it starts no trace. */
const minTracedIntervalSeconds = 60

/** Returns a span in the trace of the request that added the job, or in a new trace. */
function startJobSpan({ name, traceparent, attempt, serviceId, subject }: LeasedJob, job: Job | undefined) {
  const parent = parseTraceparent(traceparent)
  if (!parent && (job?.intervalSeconds ?? minTracedIntervalSeconds) < minTracedIntervalSeconds) return
  const attributes = {
    'tillbridge.job': name,
    'tillbridge.attempt': attempt,
    'tillbridge.service_id': serviceId ?? undefined,
  }
  return startRootSpan(`job ${name}`, 'consumer', { ...attributes, 'tillbridge.subject': subject || undefined }, parent)
}

/** Adds missing scheduled jobs, and advances jobs that are due later than their interval permits. */
export async function addScheduledJobs(db: Db, table: Readonly<Record<string, Job>>) {
  const scheduled = Object.entries(table).flatMap(([name, { intervalSeconds, retryDelaysSeconds, jitter = 0 }]) =>
    intervalSeconds === undefined
      ? []
      : [{ name, maxSeconds: Math.max(intervalSeconds, ...retryDelaysSeconds) * (1 + jitter) }],
  )
  await addScheduled(
    db,
    scheduled.map(({ name }) => name),
  )
  await advanceScheduled(db, scheduled)
}

/** Logs the beginning and the end of an outage of the database. */
function trackOutage({ log }: JobContext) {
  let isUnavailable = false
  return {
    record(error: unknown) {
      if (!isUnavailable) log.warn({ err: error }, 'database unavailable, jobs are waiting')
      isUnavailable = true
    },
    end() {
      if (isUnavailable) log.info('database available, jobs resumed')
      isUnavailable = false
    },
  }
}

/** True if the job failed only because the database was unavailable. */
const isOutage = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable || (error instanceof AggregateError && error.errors.every(isOutage))
