import type { Keys } from '../crypto/keys.ts'
import type { Database, Db } from '../database/db.ts'
import type { Writer } from '../domain/audit.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { ApiError } from '../errors/api-error.ts'
import type { Reservation } from '../store/writes/intents.ts'

/** The origin of a request: failed attempts are counted by its members. */
export interface Origin {
  /** The address of the shopper if a trusted account reports it. The address of the caller otherwise. */
  address: string
  /** The account that sent the request. */
  account?: string | undefined
  /** The account, if it reported the address of the shopper. */
  reportedBy?: string
  /** The program that acts for the account, by its own statement (`X-Agent`). */
  agent?: string
  /** The name of the API key of the request. */
  apiKey?: string
}

/** Transactions of an operation that calls another system in between. */
export interface Stages {
  /**
   * Runs work in a short transaction of its own and commits it. The work can run again after contention. Waits for names that another
   * write has reserved. Throws `concurrent_update` if that takes too long.
   */
  stage<T>(work: (tx: Db) => Promise<T>, reservation?: Reservation): Promise<T>
  /** Reads our tables without a transaction. In a write, call it after the first stage, which claims the write. */
  read<T>(query: (db: Database) => Promise<T>): Promise<T>
  /** Stores a fact that the back office returned. It is true whatever the outcome of the write, so a dry run keeps it too. */
  recordFact<T>(work: (tx: Db) => Promise<T>): Promise<T>
}

/** The effect of a write on the back office, as far as this attempt can know. */
export type Effect = 'pending' | 'applied' | 'not_applied'

/** A write in progress: its request, and the stages in which it is executed. */
export interface Write extends Stages {
  service: Service
  keys: Keys
  username: string
  requestId: string
  origin: Origin
  /** 32 hexadecimal digits; the numbers of records in the back office derive from it. A repeat with the same Idempotency-Key has the same. */
  reference: string
  /** True if the write has an Idempotency-Key. Only then can it repeat an attempt whose outcome is unknown. */
  isKeyed: boolean
  /** True if the caller has gone and only the outcome must be found. Nothing new is executed (`NotApplied`). */
  isRecovering: boolean
  /** True if an earlier attempt may have been applied. The first stage finds out. Always true during recovery. */
  previouslyInDoubt(): boolean
  /** True for a dry run: the back office can be queried but must not be changed. */
  isDryRun: boolean
  /**
   * Records that a change of the back office is about to be sent, was applied, or was not applied. Before a change, throws `NotApplied`
   * during recovery, and `back_office_unavailable` if the claim expires soon.
   */
  recordEffect(effect: Effect): void
  /** Throws if `If-Match` doesn't match this record, or is missing although the service requires it. */
  requireMatch: (record: string) => void
}

/** Returns who sent a write. */
export const getWriter = ({ username, origin: { apiKey } }: Pick<Write, 'username' | 'origin'>): Writer => ({
  username,
  apiKey,
})

/**
 * The last transaction of a write, which also stores audit entry and response. No other system is called in it. An `ApiError` that it
 * returns is committed together with counted failures. An error that it throws rolls everything back.
 */
export type CommitPhase<T> = (tx: Db) => Promise<T>

/** A write in its last transaction. */
export type WithTransaction<W = Write> = W & { tx: Db }

/** Applies a function to the result of a commit phase. */
export const mapCommitPhase =
  <A, B>(commit: CommitPhase<A>, map: (result: A) => B): CommitPhase<B> =>
  async tx =>
    map(await commit(tx))

/** Thrown during recovery if the back office does not have the write. */
export class NotApplied extends Error {
  constructor() {
    super('the back office does not have the write')
  }
}

/** True if an error is the final outcome of a write. `concurrent_update` is not: a repeat can succeed. */
export const isRejection = (error: unknown) =>
  error instanceof ApiError && error.status < 500 && error.code !== 'concurrent_update'
