/**
 * Executes each write exactly once.
 * Pattern: idempotency keys, plus a write-ahead intent if a back office is involved. A claim is one attempt's lease on the intent.
 * Guarantees: effect, audit entry, stored response and key commit together. A crash leaves all of them or none.
 * Reasons: contributing/decisions/0012-no-locks-during-back-office-calls.md.
 */
import { awaitAtCommit, type Db } from '../database/db.ts'
import { CommitUnknown } from '../database/errors.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { ApiError } from '../errors/api-error.ts'
import { type AuditedWrite, addAuditEntry } from '../store/audit/audit.ts'
import { requireWritable } from '../store/lists/change-timestamp.ts'
import { isKeyUsed, type KeyedWrite, lockKey, type StoredResponse, storeResponse } from '../store/writes/idempotency.ts'
import type { Reservation, WriteRequest } from '../store/writes/intents.ts'
import { failpoint } from '../testing/failpoints.ts'
import { type Claim, createClaim, outcomeUnknown } from './claim.ts'
import { type TransactionContext, transact } from './commit.ts'
import { findKeyConflict, type Identity, inProgress, isInProgress } from './idempotency.ts'
import { createReservations, LeaseLost, type Reservations } from './reservations.ts'
import { type CommitPhase, isRejection, type Write } from './write.ts'

/** The members of a write that its execution provides. `Write` documents them. */
export type WriteRuntime = Pick<
  Write,
  | 'stage'
  | 'read'
  | 'recordFact'
  | 'recordEffect'
  | 'reference'
  | 'isKeyed'
  | 'isRecovering'
  | 'previouslyInDoubt'
  | 'isDryRun'
>

/** The result of a write. */
export interface WriteResult {
  response: StoredResponse
  /** The audit entry. Absent for an operation that only reads. */
  audited?: AuditedWrite | undefined
}

/** The result of a last transaction. An `ApiError` is committed too, with the failures that it counted, but not stored as a response. */
type Outcome = StoredResponse | ApiError

/** A write in progress: its key, its claim and its reservations. */
interface WriteExecution {
  context: TransactionContext
  service: Service
  keyed: KeyedWrite | undefined
  claim: Claim
  reservations: Reservations
  /** True if a stage has begun, which checks the key. */
  hasBegun: boolean
  /** True if an earlier attempt at the last transaction may have been committed, because its connection broke. */
  isCommitUnknown?: boolean
}

/**
 * Executes a write once and returns its response. A write without a back office is one transaction: key, effect, audit entry and
 * response. With a back office, the first stage stores the intent and claims it. The last transaction deletes the intent, and stores
 * nothing if another attempt has claimed it. `recoveredClaim` is the claim of a write that is being recovered.
 */
export async function executeWrite(
  context: TransactionContext,
  service: Service,
  identity: Identity,
  request: WriteRequest,
  work: (runtime: WriteRuntime) => Promise<CommitPhase<WriteResult | ApiError>>,
  recoveredClaim?: { token: string },
): Promise<StoredResponse> {
  const { id, keyed } = identity
  const claim = createClaim(context.keys, service, identity, request, recoveredClaim)
  const reservations = createReservations(context.keys, service, id)
  const execution: WriteExecution = { context, service, keyed, claim, reservations, hasBegun: false }
  let outcome: Outcome
  try {
    const commit = await beginWork(execution, work, {
      stage: (inTransaction, reservation) => runStage(execution, inTransaction, reservation),
      read: query => query(context.db),
      // A stage like any other. Only a dry run treats facts differently: it commits them.
      recordFact: inTransaction => runStage(execution, inTransaction),
      recordEffect: claim.recordEffect,
      reference: id.replaceAll('-', ''),
      isKeyed: keyed !== undefined,
      isRecovering: claim.isRecovering,
      previouslyInDoubt: () => claim.previouslyInDoubt || claim.isRecovering,
      isDryRun: false,
    })
    outcome = await commitWrite(execution, commit)
  } catch (error) {
    throw await handleFailure(execution, error)
  } finally {
    reservations.release()
  }
  if (outcome instanceof ApiError) throw outcome
  return outcome
}

/** Runs the work before the last transaction. A write that it rejects before any transaction may be the repeat of one that was executed. */
async function beginWork<T>(
  execution: WriteExecution,
  work: (runtime: WriteRuntime) => Promise<CommitPhase<T>>,
  runtime: WriteRuntime,
): Promise<CommitPhase<T>> {
  try {
    return await work(runtime)
  } catch (error) {
    const { context, service, keyed, hasBegun } = execution
    if (keyed && !hasBegun && isRejection(error)) await lockKey(context.db, service, keyed)
    throw error
  }
}

/** Runs one stage in a transaction of its own. The first stage claims the write. */
async function runStage<T>(
  execution: WriteExecution,
  work: (tx: Db) => Promise<T>,
  reservation?: Reservation,
): Promise<T> {
  const { context, service, claim, reservations } = execution
  execution.hasBegun = true
  const inTransaction = async (tx: Db) => {
    awaitAtCommit(requireWritable(tx, service))
    if (!claim.isStored) await claim.begin(tx)
    const [isClaimed, areReserved] = await Promise.all([claim.renew(tx), reservations.renew(tx)])
    if (!isClaimed || !areReserved) throw new LeaseLost()
    await reservations.reserve(tx, reservation)
    return work(tx)
  }
  const result = await transact(context, service, inTransaction, { isResumable: true })
  reservations.onCommitted(reservation)
  claim.onStageCommitted()
  return result
}

/** Runs the last transaction: ends the claim if there is one, runs the commit phase, and stores audit entry and response. */
async function commitWrite(execution: WriteExecution, commit: CommitPhase<WriteResult | ApiError>): Promise<Outcome> {
  const { context, service, keyed, claim, reservations } = execution
  /** The outcome of the previous attempt. */
  let lastOutcome: Outcome | undefined
  /** The outcome of an attempt whose commit is unknown. */
  let possiblyCommitted: Outcome | undefined
  const inTransaction = async (tx: Db, previousError: unknown) => {
    // After any other error, the previous attempt was rolled back. An attempt that found no claim has no outcome of its own.
    if (previousError instanceof CommitUnknown) {
      execution.isCommitUnknown = true
      possiblyCommitted = lastOutcome ?? possiblyCommitted
    }
    lastOutcome = undefined
    const [areReserved, isEnded] = await Promise.all([reservations.renew(tx), claim.isStored && claim.end(tx)])
    // Check the claim first: an attempt that was committed has ended the reservations too.
    if (claim.isStored && !isEnded) return findOutcomeWithoutClaim(tx, execution, possiblyCommitted)
    if (!areReserved) throw new LeaseLost()
    // Our claim was still there, so no earlier attempt was committed. Without a claim, `runWithKey` finds out.
    possiblyCommitted = undefined
    const result = await (keyed && !claim.isStored ? runWithKey(tx, service, keyed, commit) : commit(tx))
    lastOutcome = result instanceof ApiError ? result : storeResult(tx, execution, result)
    failpoint('before_commit')
    return lastOutcome
  }
  // By the key or the claim, a repeated attempt finds out whether an earlier one was committed.
  return transact(context, service, inTransaction, { isResumable: keyed !== undefined || claim.isStored })
}

/**
 * Returns the outcome of a write whose claim is gone: an earlier attempt of this execution was committed, or another execution has taken
 * over. If a response is stored for the key, throws `isKeyUsed`, and `handleFailure` replays the response. Otherwise returns
 * `possiblyCommitted` if committing it would have stored no response: an `ApiError`, or a write without a key. Throws `LeaseLost` if not.
 */
async function findOutcomeWithoutClaim(
  tx: Db,
  { service, keyed }: WriteExecution,
  possiblyCommitted: Outcome | undefined,
): Promise<Outcome> {
  if (keyed) await lockKey(tx, service, keyed)
  if (possiblyCommitted instanceof ApiError || (possiblyCommitted && !keyed)) return possiblyCommitted
  throw new LeaseLost()
}

/**
 * Pipelines the key lock with the work. If the key is already taken, the lock statement fails, PostgreSQL skips everything queued behind
 * it, and those errors can be ignored.
 */
async function runWithKey<T>(tx: Db, service: Service, keyed: KeyedWrite, work: CommitPhase<T>): Promise<T> {
  const [locked, result] = [lockKey(tx, service, keyed), work(tx)]
  await Promise.allSettled([locked, result])
  await locked
  return result
}

/** Stores audit entry and response. The statements are not awaited: they go out with the commit. */
function storeResult(tx: Db, { context, service, keyed }: WriteExecution, { response, audited }: WriteResult) {
  awaitAtCommit(audited ? addAuditEntry(tx, service, audited) : requireWritable(tx, service))
  if (keyed) awaitAtCommit(storeResponse(tx, context.keys, service, keyed, response, audited?.subject))
  return response
}

/** Releases the claim of a failed write. Returns the error for the caller. */
async function handleFailure(execution: WriteExecution, error: unknown): Promise<unknown> {
  const {
    context: { db, keys },
    service,
    keyed,
    claim,
  } = execution
  if (keyed && isKeyUsed(error)) {
    const conflict = await findKeyConflict(db, keys, service, keyed)
    // The key is locked by this execution's own commit, which still waits for a synchronous standby.
    return execution.isCommitUnknown && isInProgress(conflict) ? outcomeUnknown(conflict) : conflict
  }
  if (error instanceof LeaseLost) return keyed && !claim.isRecovering ? inProgress() : outcomeUnknown(error)
  await claim.release(db, error)
  return claim.toCallerError(error)
}
