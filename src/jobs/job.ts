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
  /** The URL of the console, for links in emails. */
  consoleUrl?: string | undefined
}

/** One attempt at a job. */
export interface JobRun extends JobContext {
  /** Undefined for a job of the installation. */
  service: Service | undefined
  subject: string
  /** From 1. */
  attempt: number
  /** No wait is left: this attempt decides. */
  last: boolean
  /** Aborted if the worker stops or lost its lease. */
  signal: AbortSignal
  /** Renews the lease. Resolves with false if another worker has taken over. Call it right before an effect that can't be undone. */
  renewLease(): Promise<boolean>
  /** Once this attempt has ended well, the job is done again in so many seconds, whatever its set times are. */
  reschedule(seconds: number): void
}

/** One attempt at a job of a service. */
export interface ServiceJobRun extends JobRun {
  service: Service
}

/** Wraps the work of a job that belongs to a service. It does nothing for the installation. */
export const ofService =
  (run: (work: ServiceJobRun) => Promise<void>): Job['run'] =>
  async work => {
    if (isOfService(work)) await run(work)
  }

const isOfService = (work: JobRun): work is ServiceJobRun => work.service !== undefined

/** A kind of job: a function that throws when it is to be tried again. */
export interface Job {
  run(work: JobRun): Promise<void>
  /** Waits before each further attempt; the last one is repeated where the job does not end itself. */
  retryDelaysSeconds: readonly number[]
  /** For scheduled jobs: the seconds between the end of one run and the next. Other jobs are queued by `addJob`. */
  intervalSeconds?: number
  /** How many run at a time in one worker. */
  concurrency: number
  /** How many of one service run at a time, in all workers; absent: any number. */
  concurrencyPerService?: number
  /** The share by which a wait may be longer, so that what failed together is not tried again together. */
  jitter?: number
}

/** Throws the errors of a job's parts: nothing if there are none, a single error as it is, several as an `AggregateError`. */
export function throwErrors(errors: readonly unknown[], message: string): void {
  if (errors.length > 1) throw new AggregateError(errors, message)
  if (errors.length) throw errors[0]
}
