import type { Logger } from 'pino'
import type { Keys } from '../crypto/keys.ts'
import type { Database } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import type { MailTransport } from '../mail/transport.ts'

/** The dependencies of every job. */
export interface JobContext {
  db: Database
  keys: Keys
  log: Logger
  mailTransport: MailTransport
  /** The URL of the installation, for links in emails. Absent if it isn't configured. */
  publicUrl?: string | undefined
}

/** One attempt at a job. */
export interface JobRun extends JobContext {
  /** Undefined for a job of the installation. */
  service: Service | undefined
  subject: string
  /** From 1. */
  attempt: number
  /** True if no retry follows a failure. */
  isLastAttempt: boolean
  /** Aborted if the worker stops or lost its lease. */
  signal: AbortSignal
  /** Renews the lease. Resolves with false if another worker has taken over. Call it right before an effect that can't be undone. */
  renewLease(): Promise<boolean>
  /** Runs the job again this many seconds after the attempt succeeds, instead of after `intervalSeconds`. */
  reschedule(seconds: number): void
}

/** One attempt at a job of a service. */
export interface ServiceJobRun extends JobRun {
  service: Service
}

/** Wraps the work of a job that belongs to a service. The job does nothing if it has no service. */
export const forService =
  (run: (work: ServiceJobRun) => Promise<void>): Job['run'] =>
  async work => {
    if (hasService(work)) await run(work)
  }

const hasService = (work: JobRun): work is ServiceJobRun => work.service !== undefined

export interface Job {
  /** Throws if the attempt must be retried. */
  run(work: JobRun): Promise<void>
  /** Delays before each further attempt. The last one is used again for later attempts. */
  retryDelaysSeconds: readonly number[]
  /** For scheduled jobs: the seconds between the end of one run and the next. Other jobs are queued by `addJob`. */
  intervalSeconds?: number
  /** Maximum number that run at a time in one worker. */
  concurrency: number
  /** Maximum number of one service that run at a time in all workers. Default: no limit. */
  concurrencyPerService?: number
  /** The share by which a retry delay may be longer, so that jobs that failed together are not retried together. */
  jitter?: number
}

/** Throws the errors of a job's parts: nothing if there are none, a single error as it is, several as an `AggregateError`. */
export function throwErrors(errors: readonly unknown[], message: string): void {
  if (errors.length > 1) throw new AggregateError(errors, message)
  if (errors.length) throw errors[0]
}
