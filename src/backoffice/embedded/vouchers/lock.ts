import type { Keys } from '../../../crypto/keys.ts'
import type { Db } from '../../../database/db.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import {
  againstHolding,
  againstValidating,
  tooManyHeld,
  unitsOf,
  unusable,
} from '../../../domain/vouchers/redemption.ts'
import { judgeValidation, makeValidation } from '../../../domain/vouchers/validations.ts'
import type { ReadVoucher } from '../../../domain/vouchers/vouchers.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { lockedBy } from '../../../store/vouchers/ledger.ts'
import { putValidation } from '../../../store/vouchers/validation.ts'
import { voucherOf } from '../../../store/vouchers/vouchers.ts'
import type { Origin } from '../../../writes/write.ts'
import { countWrongId } from '../../vouchers/guesses.ts'
import { takeStep, takeVoucher } from './transitions.ts'

/**
 * Validates a voucher, whose PIN was right, for an amount or for all that is left: returns the id of the validation, which takes the place of the one before
 * it, or why there is none. Whoever holds the voucher is not disturbed.
 */
export async function validate(
  tx: Db,
  keys: Keys,
  service: Service,
  { number, amount }: { number: string; amount?: string | undefined },
): Promise<string | ApiError> {
  const voucher = await takeVoucher(tx, service, number)
  if (!voucher) return new ApiError('voucher_not_accepted')
  const wanted = amount === undefined ? voucher.balance : unitsOf(amount, service.settings)
  const against = againstValidating(voucher, wanted, service.settings)
  if (against) return against
  const { validationId, hash } = makeValidation(keys, service, number)
  await putValidation(tx, service, number, hash)
  return validationId
}

interface Lock {
  number: string
  validationId: string
  /** 0 gives the voucher back. */
  lockSeconds: number
  username: string
  origin: Origin
}

/**
 * Holds a voucher for its newest validation, or renews that from now on, or gives the voucher back; returns the voucher as it is then, or
 * what stands against it. A failure is counted, and has to be committed.
 */
export async function hold(
  tx: Db,
  keys: Keys,
  service: Service,
  { number, validationId, lockSeconds, username, origin }: Lock,
): Promise<ReadVoucher | ApiError> {
  const voucher = await takeVoucher(tx, service, number)
  const judged = judgeValidation(keys, service, voucher, number, validationId)
  if (!voucher || judged === 'wrong') return countWrongId(tx, keys, service, origin)
  const isHeld = voucher.state === 'locked'
  const against =
    againstHolding(voucher, judged, lockSeconds) ??
    unusable(voucher, service.settings) ??
    (lockSeconds > 0 && !isHeld ? tooManyHeld(await lockedBy(tx, service, username)) : undefined)
  if (against) return against
  const after =
    lockSeconds > 0
      ? takeStep(tx, service, voucher, 'lock', { lockSeconds, lockedBy: username })
      : isHeld
        ? takeStep(tx, service, voucher, 'unlock')
        : voucher
  // A sale under way is let come to its end; what it gives back then is past its day.
  return voucherOf({ ...after, status: after.isPast && after.state === 'active' ? 'expired' : after.state })
}
