import type { Keys } from '../../../crypto/keys.ts'
import type { Db } from '../../../database/db.ts'
import type { Writer } from '../../../domain/audit.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import {
  checkAccountLocks,
  checkLockable,
  checkUsable,
  checkValidatable,
  toMinorUnits,
} from '../../../domain/vouchers/redemption.ts'
import { checkValidation, createValidation } from '../../../domain/vouchers/validations.ts'
import type { ReadVoucher } from '../../../domain/vouchers/vouchers.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { countAccountLocks } from '../../../store/vouchers/ledger.ts'
import { storeValidation } from '../../../store/vouchers/validation.ts'
import { toVoucher } from '../../../store/vouchers/vouchers.ts'
import type { Origin } from '../../../writes/write.ts'
import { countWrongId } from '../../vouchers/guesses.ts'
import { applyAction, lockCurrentVoucher } from './transitions.ts'

/**
 * Validates a voucher, after its PIN was checked, for an amount or for its balance. Returns the ID of the new validation, which replaces the
 * previous one, or an error. An existing lock stays.
 */
export async function validate(
  tx: Db,
  keys: Keys,
  service: Service,
  { number, amount }: { number: string; amount?: string | undefined },
): Promise<string | ApiError> {
  const voucher = await lockCurrentVoucher(tx, service, number)
  if (!voucher) return new ApiError('voucher_not_accepted')
  const requested = amount === undefined ? voucher.balance : toMinorUnits(amount, service.settings)
  const error = checkValidatable(voucher, requested, service.settings)
  if (error) return error
  const { validationId, hash } = createValidation(keys, service, number)
  await storeValidation(tx, service, number, hash)
  return validationId
}

interface Lock {
  number: string
  validationId: string
  /** The duration of the lock. 0 unlocks. */
  lockSeconds: number
  writer: Writer
  origin: Origin
}

/**
 * Locks a voucher for its newest validation, renews the lock, or unlocks the voucher. Returns the voucher, or an error. A wrong validation ID is
 * counted as a failed attempt, so the transaction must be committed.
 */
export async function lockByValidation(
  tx: Db,
  keys: Keys,
  service: Service,
  { number, validationId, lockSeconds, writer, origin }: Lock,
): Promise<ReadVoucher | ApiError> {
  const voucher = await lockCurrentVoucher(tx, service, number)
  const status = checkValidation(keys, service, voucher, number, validationId)
  if (!voucher || status === 'wrong') return countWrongId(tx, keys, service, origin)
  const isLocked = voucher.state === 'locked'
  const error =
    checkLockable(voucher, status, lockSeconds, service.settings) ??
    checkUsable(voucher, service.settings) ??
    (lockSeconds > 0 && !isLocked
      ? checkAccountLocks(await countAccountLocks(tx, service, writer.username))
      : undefined)
  if (error) return error
  const after =
    lockSeconds > 0
      ? applyAction(tx, service, voucher, 'lock', { lockSeconds, lockedBy: writer.username, writer })
      : isLocked
        ? applyAction(tx, service, voucher, 'unlock', { writer })
        : voucher
  // A lock outlasts the expiry date of the voucher, so that a running sale can finish. After the unlock, the voucher is expired.
  return toVoucher({ ...after, status: after.isPast && after.state === 'active' ? 'expired' : after.state })
}
