import { timingSafeEqual } from 'node:crypto'
import type {
  ReadVoucher,
  ValidatedVoucher,
  Voucher,
  VoucherLockRequest,
  VoucherOpening,
} from '../../../domain/vouchers/vouchers.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { listPinHashes, resetWrongPins, updatePin } from '../../../store/vouchers/pin.ts'
import { readVoucher } from '../../../store/vouchers/vouchers.ts'
import { getWriter, type WithTransaction } from '../../../writes/write.ts'
import type { VoucherRead } from '../../port/vouchers.ts'
import { beginGuess, countWrongGuess } from '../../vouchers/guesses.ts'
import { lockByValidation, validate } from './lock.ts'

/** Returns the voucher that the number and the PIN open. */
export async function lookUpVoucher(
  reading: WithTransaction<VoucherRead>,
  opening: VoucherOpening,
): Promise<Voucher | ApiError> {
  const error = await checkPin(reading, opening)
  return (
    error ?? (await readVoucher(reading.tx, reading.service, opening.number)) ?? new ApiError('voucher_not_accepted')
  )
}

/** Looks a voucher up and replaces its validation. */
export async function validateVoucher(
  reading: WithTransaction<VoucherRead>,
  validation: VoucherOpening & { amount?: string | undefined },
): Promise<ValidatedVoucher | ApiError> {
  const { tx, keys, service } = reading
  const error = await checkPin(reading, validation)
  if (error) return error
  const validationId = await validate(tx, keys, service, validation)
  if (validationId instanceof ApiError) return validationId
  const voucher = await readVoucher(tx, service, validation.number)
  return voucher ? { ...voucher, validationId } : new ApiError('voucher_not_accepted')
}

/** Locks a voucher for its newest validation, renews the lock, or unlocks the voucher. With a PIN, the voucher is validated first. */
export async function lockVoucher(write: WithTransaction, lock: VoucherLockRequest): Promise<ReadVoucher | ApiError> {
  const { tx, keys, service, origin } = write
  const writer = getWriter(write)
  const { number, lockSeconds } = lock
  const lockFor = (ownValidationId: string) =>
    lockByValidation(tx, keys, service, { number, validationId: ownValidationId, lockSeconds, writer, origin })
  if ('validationId' in lock) return lockFor(lock.validationId)
  const validated = await validateVoucher(write, lock)
  if (validated instanceof ApiError) return validated
  const { validationId } = validated
  const voucher = await lockFor(validationId)
  // The PIN was right, so no failed attempt must be committed. Roll back, so that the previous validation stays.
  if (voucher instanceof ApiError) throw voucher
  return { ...voucher, validationId }
}

/**
 * Checks a PIN. Returns an error if it doesn't open the voucher. The error is returned, not thrown, because the failed attempt must be
 * committed. A wrong PIN, an unknown number and a blocked voucher cause the same reads, comparison, writes and error. So neither the
 * response nor its time reveals whether the number exists.
 */
async function checkPin(
  { tx, keys, service, origin }: WithTransaction<VoucherRead>,
  { number, pin }: VoucherOpening,
): Promise<ApiError | undefined> {
  const possible = listPinHashes(keys, service, number, pin)
  const guess = await beginGuess(tx, keys, service, { number, origin })
  if (guess instanceof ApiError) return guess
  const matches = possible.map(hash => timingSafeEqual(hash, guess.pinHash ?? Buffer.alloc(hash.length)))
  if (!matches.includes(true) || guess.isBlocked) return countWrongGuess(tx, service, guess)
  const [current] = possible
  if (current && !matches[0] && keys.isNewest) await updatePin(tx, service, number, current)
  await resetWrongPins(tx, service, guess)
  return
}
