import { randomUUID } from 'node:crypto'
import type { Keys } from '../crypto/keys.ts'
import type { Database, Db } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { ApiError } from '../errors/api-error.ts'
import { lockKey } from '../store/writes/idempotency.ts'
import {
  claimIntent,
  claimLeaseSeconds,
  endIntent,
  releaseIntent,
  renewClaim,
  type WriteRequest,
} from '../store/writes/intents.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import { failpoint } from '../testing/failpoints.ts'
import { type Identity, inProgress } from './idempotency.ts'
import { type Effect, isRejection, NotApplied } from './write.ts'

/** Seconds that a claim must have left before the back office is called: the longest time that a call can take. */
const minSecondsForCall = 12
/** Seconds until the recovery job looks up a write in doubt, unless its caller repeats it earlier. */
const recoveryDelaySeconds = 5

export type Claim = ReturnType<typeof createClaim>

/**
 * Creates one attempt's claim on a write and tracks the effect in the back office. The first stage stores the claim as a lease, and the
 * last transaction ends it. `recoveredClaim` is the stored claim of a write that is being recovered.
 */
export function createClaim(
  keys: Keys,
  service: Service,
  { id, requestHash, keyed }: Identity,
  request: WriteRequest,
  recoveredClaim?: { token: string },
) {
  const lease = { id, token: recoveredClaim?.token ?? randomUUID() }
  const isRecovering = recoveredClaim !== undefined
  let endsAt = performance.now() + claimLeaseSeconds * 1_000
  let isStored = isRecovering
  /** True if an earlier attempt ended without a known outcome. */
  let previouslyInDoubt = false
  let effect: Effect = 'not_applied'

  /** True if this attempt or an earlier one may have changed the back office. */
  const mayBeApplied = () => previouslyInDoubt || effect === 'applied'

  /** True if the outcome is unknown after this error. */
  function isInDoubt(error: unknown) {
    if (mayBeApplied()) return !isRejection(error)
    return effect === 'pending' && isUnknown(error)
  }

  return {
    isRecovering,
    /** True if the first stage is committed. */
    get isStored() {
      return isStored
    },
    get previouslyInDoubt() {
      return previouslyInDoubt
    },

    /** Stores the claim, in the first stage. Throws if the key is used for another request or if another attempt is running. */
    async begin(tx: Db) {
      endsAt = performance.now() + claimLeaseSeconds * 1_000
      const state = await claimIntent(tx, keys, service, {
        ...lease,
        keyHash: keyed?.keyHash,
        requestHash,
        requested: request,
      })
      // The claim waits for an attempt that is about to end, and only then is that attempt's response visible.
      if (keyed) await lockKey(tx, service, keyed)
      if (state === 'other') throw new ApiError('idempotency_key_reused')
      if (state === 'running') throw inProgress()
      // After an unknown commit, `begin` runs again and may find this attempt's own claim, so a previous `true` must stay.
      previouslyInDoubt ||= state === 'open'
    },
    /** Call after each committed stage. */
    onStageCommitted() {
      if (!isStored) failpoint('after_claim')
      isStored = true
    },
    /** Locks the claim until the transaction ends. Returns false if another attempt has taken over. */
    renew: async (tx: Db) => !isStored || renewClaim(tx, service, lease),
    /** Ends the claim. Returns false if another attempt has taken over. */
    end: (tx: Db) => endIntent(tx, service, lease),

    recordEffect(next: Effect) {
      if (next === 'pending') {
        if (isRecovering) throw new NotApplied()
        if (performance.now() > endsAt - minSecondsForCall * 1_000) throw unavailable()
      }
      effect = next
    },

    /**
     * Gives the claim up after a failure. Deletes the intent if the write was certainly not applied. Otherwise leaves the intent for a
     * repeat or for recovery. If even that fails, the lease expires.
     */
    async release(db: Database, error: unknown) {
      if (!isStored || isRecovering) return
      const releasing = isInDoubt(error)
        ? releaseIntent(db, service, lease, { checkAfterSeconds: recoveryDelaySeconds })
        : db.transaction(tx => endIntent(tx, service, lease))
      await ignoreError<unknown>(releasing, 'write intent expires')
    },
    /** Returns the error for the caller: `outcome_unknown` if the back office may have applied the write. */
    toCallerError: (error: unknown) => (mayBeApplied() && !isRejection(error) ? outcomeUnknown(error) : error),
  }
}

const isUnknown = (error: unknown) => !(error instanceof ApiError) || error.code === 'outcome_unknown'

const unavailable = () => new ApiError('back_office_unavailable', undefined, { retryAfter: 2 })

/** Creates the error of a write that may have been applied. Keeps the cause of `error`, or `error` itself. */
export function outcomeUnknown(error: unknown) {
  const { cause } = (error ?? {}) as { cause?: unknown }
  return Object.assign(new ApiError('outcome_unknown', undefined, { retryAfter: 2 }), { cause: cause ?? error })
}
