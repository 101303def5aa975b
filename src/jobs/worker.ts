import { setTimeout as delay } from 'node:timers/promises'
import { sleep } from '../concurrency/backoff.ts'
import type { Db } from '../database/db.ts'
import { DatabaseUnavailable } from '../database/errors.ts'
import {
  addScheduled,
  deferJob,
  finishJob,
  giveBack,
  hastenScheduled,
  type LeasedJob,
  leaseDueJobs,
  postponeJob,
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

interface Running {
  taken: LeasedJob
  abort: AbortController
  done: Promise<void>
}

/**
 * Runs due jobs, several at a time, in any number of processes. Each process leases the jobs that it runs (`store/jobs/jobs.ts`). If the database
 * is unavailable, the worker waits: no error ends the process.
 */
export function startWorker(tools: JobContext, table: Readonly<Record<string, Job>> = jobs): Worker {
  const { db, log } = tools
  const running = new Map<string, Running>()
  let stopping = false
  let pollNow = new AbortController()
  const wake = () => pollNow.abort()
  const outage = trackOutage(tools)

  function freeSlots() {
    const slots: Record<string, Slots> = {}
    for (const [name, { concurrency, concurrencyPerService }] of Object.entries(table)) {
      const busy = [...running.values()].filter(({ taken }) => taken.name === name).length
      if (busy < concurrency) slots[name] = { free: concurrency - busy, ofService: concurrencyPerService }
    }
    return slots
  }

  async function look() {
    let plannedAt = Number.NEGATIVE_INFINITY
    while (!stopping) {
      pollNow = new AbortController()
      try {
        if (performance.now() - plannedAt > scheduleIntervalMs) {
          await addScheduledJobs(db, table)
          plannedAt = performance.now()
        }
        for (const taken of await leaseDueJobs(db, freeSlots(), leaseSeconds)) begin(taken)
        outage.over()
      } catch (error) {
        outage.seen(error)
      }
      if (!stopping) await sleep(pollIntervalMs, { signal: pollNow.signal })
    }
  }

  function begin(taken: LeasedJob) {
    const abort = new AbortController()
    const place = placeOf(taken, table[taken.name])
    const done = runWithContext({ timeline: undefined, place }, () => work(taken, abort.signal, place)).finally(() => {
      running.delete(taken.lease)
      wake()
    })
    running.set(taken.lease, { taken, abort, done })
  }

  async function work(taken: LeasedJob, signal: AbortSignal, place: SpanContext | undefined) {
    const { serviceId, name, subject, attempt, begun, lease } = taken
    const { run, retryDelaysSeconds, intervalSeconds, jitter = 0 } = table[name] as Job
    const about = { job: name, service: serviceId, subject, attempt }
    try {
      try {
        const service = serviceId === null ? undefined : await readServiceOfJob(db, serviceId)
        // The service is moving or being deleted. The job stays in case this is cancelled.
        if (serviceId !== null && !service) {
          await deferJob(db, taken, leaseSeconds)
          return endSpan(place)
        }
        const last = attempt > retryDelaysSeconds.length
        const renewLease = async () => (await renewLeases(db, [lease], leaseSeconds)).has(lease)
        let again = intervalSeconds
        const reschedule = (seconds: number) => {
          again = seconds
        }
        await run({ ...tools, service, subject, attempt, last, signal, renewLease, reschedule })
        await finishJob(db, taken, again)
        endSpan(place)
      } catch (error) {
        endSpan(place, getErrorCode(error))
        if (signal.aborted) return
        // A database that is away is no fault of the job's.
        const isItsOwn = !isOutage(error)
        const tries = isItsOwn ? attempt : Math.max(attempt, begun)
        const wait = retryDelaysSeconds[tries - 1] ?? intervalSeconds ?? retryDelaysSeconds.at(-1) ?? leaseSeconds
        const seconds = wait * (1 + jitter * Math.random())
        log.warn({ ...about, err: error, againInSeconds: seconds }, 'job failed, will retry')
        await postponeJob(db, taken, seconds, isItsOwn)
      }
    } catch (error) {
      // The outcome could not be stored. The lease expires automatically.
      outage.seen(error)
    }
  }

  let renewedAt = performance.now()
  async function renew() {
    const leases = [...running.keys()]
    try {
      const held = await renewLeases(db, leases, leaseSeconds)
      for (const lease of leases)
        if (!held.has(lease)) running.get(lease)?.abort.abort(new Error('Another worker has taken over.'))
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

  const looking = look()
  return {
    async stop(graceMs) {
      stopping = true
      wake()
      const ended = async () => {
        await looking
        await Promise.all([...running.values()].map(({ done }) => done))
      }
      const force = new AbortController()
      await Promise.race([ended(), sleep(graceMs, { signal: force.signal })])
      force.abort()
      clearInterval(renewal)
      // A look that is under way may take something yet.
      await Promise.race([looking, delay(1_000, undefined, { ref: false })])
      if (!running.size) return
      const left = [...running.values()]
      for (const { abort } of left) abort.abort(new Error('The worker stops.'))
      await Promise.race([Promise.all(left.map(({ done }) => done)), delay(1_000, undefined, { ref: false })])
      const leases = left.map(({ taken }) => taken.lease)
      await Promise.race([giveBack(db, leases).catch(outage.seen), delay(1_000, undefined, { ref: false })])
    },
  }
}

/** A job with a shorter interval only polls for work, so it starts no trace. */
const minTracedIntervalSeconds = 60

/** Returns a span in the trace of the request that added the job, or in a new trace. */
function placeOf({ name, traceparent, attempt, serviceId, subject }: LeasedJob, job: Job | undefined) {
  const asked = parseTraceparent(traceparent)
  if (!asked && (job?.intervalSeconds ?? minTracedIntervalSeconds) < minTracedIntervalSeconds) return
  const about = {
    'tillbridge.job': name,
    'tillbridge.attempt': attempt,
    'tillbridge.service_id': serviceId ?? undefined,
  }
  return startRootSpan(`job ${name}`, 'consumer', { ...about, 'tillbridge.subject': subject || undefined }, asked)
}

/** Asks for the jobs of set times that are missing, or are due later than they ever are. */
export async function addScheduledJobs(db: Db, table: Readonly<Record<string, Job>>) {
  const scheduled = Object.entries(table).flatMap(([name, { intervalSeconds, retryDelaysSeconds, jitter = 0 }]) =>
    intervalSeconds === undefined
      ? []
      : [{ name, mostSeconds: Math.max(intervalSeconds, ...retryDelaysSeconds) * (1 + jitter) }],
  )
  await addScheduled(
    db,
    scheduled.map(({ name }) => name),
  )
  await hastenScheduled(db, scheduled)
}

/** One line when the database goes, one when it comes back. */
function trackOutage({ log }: JobContext) {
  let away = false
  return {
    seen(error: unknown) {
      if (!away) log.warn({ err: error }, 'database unavailable, jobs are waiting')
      away = true
    },
    over() {
      if (away) log.info('database available, jobs resumed')
      away = false
    },
  }
}

/** True if the database was unavailable, for each part of the job that failed. */
const isOutage = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable || (error instanceof AggregateError && error.errors.every(isOutage))
