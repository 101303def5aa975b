import { type Db, sql } from '../../db.ts'
import { undrawable, unitsOf, unusable } from '../../domain/vouchers/rules.ts'
import { ApiError } from '../../errors.ts'
import { countFailure } from '../../failures.ts'
import { hmac, type Keys } from '../../secrets.ts'
import type { Service } from '../../settings.ts'
import { takeStep, takeVoucher } from './ledger.ts'
import { addValidation, judgeValidation, lockedError, supersededError } from './validation.ts'

/**
 * Validates a voucher, whose PIN was right, for an amount: returns the id of the validation, which takes the place of the one before
 * it, or why there is none. Whoever holds the voucher is not disturbed.
 */
export async function validateVoucher(
  tx: Db,
  keys: Keys,
  service: Service,
  { number, amount }: { number: string; amount: string },
): Promise<string | ApiError> {
  const voucher = await takeVoucher(tx, service, number)
  if (!voucher) return new ApiError('voucher_not_accepted')
  if (voucher.state === 'locked') return lockedError(voucher)
  const { settings } = service
  const against =
    unusable(voucher.state, voucher.currency, settings) ??
    undrawable(unitsOf(amount, settings), voucher.balance, settings, '/amount')
  return against ?? addValidation(tx, keys, service, number)
}

/** Wrong validation ids of one address in a minute. They have 192 random bits: the count is there to be noticed, and refuses no right one. */
const allowedFromAddress = 30
/** Vouchers that one account may hold at the same time. */
const mostHeld = 1_000

interface Lock {
  number: string
  validationId: string
  /** 0 gives the voucher back. */
  lockSeconds: number
  username: string
  address: string
}

/**
 * Holds a voucher for its newest validation, or renews that from now on, or gives the voucher back; returns what stands against it.
 * A failure is counted, and has to be committed.
 */
export async function lockVoucher(
  tx: Db,
  keys: Keys,
  service: Service,
  { number, validationId, lockSeconds, username, address }: Lock,
): Promise<ApiError | undefined> {
  const voucher = await takeVoucher(tx, service, number)
  const judged = judgeValidation(keys, service, voucher, number, validationId)
  if (!voucher || judged === 'wrong') return countWrongId(tx, keys, service, address)
  if (judged === 'superseded') return supersededError(voucher)
  // A lock outlives the 24 hours of its validation, but is not renewed after them.
  if (lockSeconds > 0 && !voucher.isFresh) return new ApiError('validation_id_incorrect')
  const against = unusable(voucher.state, voucher.currency, service.settings)
  if (against) return against
  if (lockSeconds > 0) {
    const tooMany = voucher.state === 'locked' ? undefined : await refuseTooManyHeld(tx, service, username)
    if (tooMany) return tooMany
    await takeStep(tx, service, voucher, 'lock', { lockSeconds, heldBy: username })
  } else if (voucher.state === 'locked') await takeStep(tx, service, voucher, 'unlock')
  return
}

/** Counts a validation id that there never was. Returns the answer to it. */
export async function countWrongId(tx: Db, keys: Keys, service: Service, address: string) {
  const subject = hmac(keys.subjects, 'validation', String(service.id), address)
  const retryAfter = await countFailure(tx, [{ subject, allowed: allowedFromAddress }])
  return retryAfter === undefined
    ? new ApiError('validation_id_incorrect')
    : new ApiError('too_many_failures', undefined, { retryAfter })
}

async function refuseTooManyHeld(tx: Db, service: Service, username: string) {
  const held = await tx.row<Held>(sql`
    select count(*)::integer as count, ceil(extract(epoch from min(locked_until) - statement_timestamp()))::integer as wait
      from voucher where service_id = ${service.id} and held_by = ${username} and state = 'locked' and locked_until > statement_timestamp()`)
  return heldLimit(held)
}

/** The vouchers that an account holds, and the seconds until one of them is free again; null where it holds none. */
export interface Held {
  count: number
  wait: number | null
}

/** Why an account cannot hold one more. */
export const heldLimit = (held: Held | undefined) =>
  held && held.count >= mostHeld
    ? new ApiError('rate_limited', `An account holds at most ${mostHeld} vouchers at a time.`, {
        retryAfter: Math.max(1, held.wait ?? 0),
      })
    : undefined
