import type { Keys } from '../crypto/keys.ts'
import type { Db } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { ApiError } from '../errors/api-error.ts'
import type { Holding } from '../store/writes/intents.ts'

/** Where a request comes from: what failed attempts are counted against. */
export interface Origin {
  /** That of the shopper, where the caller names one; else the caller's. */
  address: string
  /** The account that asks. */
  account?: string | undefined
  /** The account, where it has named the shopper. */
  namedBy?: string
}

/** Transactions of something that takes several, because somebody else is asked in between. */
export interface Steps {
  /**
   * Does work in a short transaction of its own, and commits it; work may be done anew where another transaction was in its way. Waits
   * for what it is to hold where somebody else has it; `concurrent_update` where that takes too long.
   */
  step<T>(work: (tx: Db) => Promise<T>, holding?: Holding): Promise<T>
  /** Reads what our tables have, with no transaction: after the first step of a write, which claims it. */
  read<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** A step for what a back office has told, which is true whatever becomes of the write, and kept in a trial too. */
  learn<T>(work: (tx: Db) => Promise<T>): Promise<T>
}

/** What a back office has done of a write, as far as this attempt at it knows. */
export type Effect = 'about to be' | 'done' | 'not done'

/** A write under way: who asked for it, and the steps in which it is carried out. */
export interface Write extends Steps {
  service: Service
  keys: Keys
  username: string
  requestId: string
  origin: Origin
  /** The same for a repeat with the same Idempotency-Key, else one of its own: what numbers upstream are derived from. */
  reference: string
  /** Whether it has an Idempotency-Key: only then may it be the repeat of an attempt whose outcome nobody knows. */
  isKeyed: boolean
  /** Whether its caller has gone: all that is wanted is what has become of it, and nothing is carried out any more (`NeverDone`). */
  isSettling: boolean
  /** Whether an attempt before was left open, and may have been carried out, as the first step finds; so it is of all that is settled. */
  wasOpen(): boolean
  /** Whether nothing of it is to be kept (contract 13): a back office may be asked, but not told. */
  isTrial: boolean
  /**
   * Says that a back office is about to be told, has been, or has not done what it was told. Throws `NeverDone`, or where the claim is about
   * to end.
   */
  note(effect: Effect): void
  /** Throws where `If-Match` names another state than this record, or is missing where the service wants it. */
  requireMatch: (record: string) => void
}

/**
 * What is left of a write: work for the transaction in which audit and answer are stored with it. Nobody is asked in it. An
 * `ApiError` that it returns is committed with what was counted; one that it throws undoes all of it.
 */
export type CommitPhase<T> = (tx: Db) => Promise<T>

/** A write in its last transaction. */
export type WithTransaction<W = Write> = W & { tx: Db }

/** What is left, and what is made of it. */
export const after =
  <A, B>(finish: CommitPhase<A>, then: (done: A) => B): CommitPhase<B> =>
  async tx =>
    then(await finish(tx))

/** A write that is settled was never carried out, as far as can be found out. */
export class NotApplied extends Error {
  constructor() {
    super('The back office knows nothing of it.')
  }
}

/** Whether an error says what there is to know of a write; not where something is in use. */
export const isRejection = (error: unknown) =>
  error instanceof ApiError && error.status < 500 && error.code !== 'concurrent_update'
