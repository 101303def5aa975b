import { randomUUID } from 'node:crypto'
import type { Keys } from '../crypto/keys.ts'
import type { Database, Db } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { ApiError } from '../errors/api-error.ts'
import { takeKey } from '../store/writes/idempotency.ts'
import {
  claimIntent,
  claimSeconds,
  endIntent,
  keepClaim,
  leaveIntent,
  type Requested,
} from '../store/writes/intents.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import { failpoint } from '../testing/failpoints.ts'
import { type Identity, inProgress } from './idempotency.ts'
import { type Effect, isRejection, NotApplied } from './write.ts'

/** Seconds of a claim that have to be left where a back office is told something: as long as it may take to answer. */
const telling = 12
/** Seconds after which it is found out what has become of a write, if its caller has not repeated it. */
const settleAfter = 5

export type Claim = ReturnType<typeof claimOf>

/**
 * The claim on one write, and what is known of its effect. It is made by the first step, and ended by the last transaction. With `left`
 * it stands already, and the write is to be settled.
 */
export function claimOf(
  keys: Keys,
  service: Service,
  { id, requestHash, keyed }: Identity,
  requested: Requested,
  left?: { token: string },
) {
  const mine = { id, token: left?.token ?? randomUUID() }
  const isSettling = left !== undefined
  let endsAt = performance.now() + claimSeconds * 1_000
  let isMade = isSettling
  /** Whether an attempt before this one was left open: of that, nothing is known until this one finds out. */
  let wasOpen = false
  let effect: Effect = 'not done'

  /** Whether the back office has done it, or may have before. */
  const mayBeDone = () => wasOpen || effect === 'done'

  /** Whether the back office may have done it, for all that is known. */
  function isOpen(error: unknown) {
    if (mayBeDone()) return !isRejection(error)
    return effect === 'about to be' && isUnknown(error)
  }

  return {
    isSettling,
    /** Whether the first step is committed. */
    get isMade() {
      return isMade
    },
    get wasOpen() {
      return wasOpen
    },

    /** Makes it, in the first step. */
    async begin(tx: Db) {
      endsAt = performance.now() + claimSeconds * 1_000
      const found = await claimIntent(tx, keys, service, { ...mine, keyHash: keyed?.keyHash, requestHash, requested })
      // Not before: the claim waits for an attempt that is about to end, whose answer is seen only then.
      if (keyed) await takeKey(tx, service, keyed)
      if (found === 'other') throw new ApiError('idempotency_key_reused')
      if (found === 'running') throw inProgress()
      // Where nobody knows whether this was committed it is done anew, and may find what it has written itself.
      wasOpen ||= found === 'open'
    },
    /** A step is committed. */
    begun() {
      if (!isMade) failpoint('after_claim')
      isMade = true
    },
    /** Whether a step may go on under it. */
    keeps: async (tx: Db) => !isMade || keepClaim(tx, service, mine),
    /** Whether it was still this attempt's to end. */
    end: (tx: Db) => endIntent(tx, service, mine),

    note(told: Effect) {
      if (told === 'about to be') {
        if (isSettling) throw new NotApplied()
        if (performance.now() > endsAt - telling * 1_000) throw away()
      }
      effect = told
    },

    /**
     * After a failure: of what was never carried out nothing stays; the rest stays as it is until it is found out. Where not even that
     * can be written down the claim ends by itself.
     */
    async leave(db: Database, error: unknown) {
      if (!isMade || isSettling) return
      const ending = isOpen(error)
        ? leaveIntent(db, service, mine, settleAfter)
        : db.transaction(tx => endIntent(tx, service, mine))
      await ignoreError<unknown>(ending, 'write intent expires')
    },
    /** What is told of a failure: nothing is certain where the back office may have done it. */
    told: (error: unknown) => (mayBeDone() && !isRejection(error) ? outcomeUnknown(error) : error),
  }
}

const isUnknown = (error: unknown) => !(error instanceof ApiError) || error.code === 'outcome_unknown'

const away = () => new ApiError('back_office_unavailable', undefined, { retryAfter: 2 })

/** What a caller is told of a write that may have been carried out. */
export function outcomeUnknown(error: unknown) {
  const { cause } = (error ?? {}) as { cause?: unknown }
  return Object.assign(new ApiError('outcome_unknown', undefined, { retryAfter: 2 }), { cause: cause ?? error })
}
