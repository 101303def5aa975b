import type {
  ReadVoucher,
  ValidatedVoucher,
  Voucher,
  VoucherLockRequest,
  VoucherOpening,
} from '../../../domain/vouchers/vouchers.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { readVoucher } from '../../../store/vouchers/vouchers.ts'
import type { WithTransaction } from '../../../writes/write.ts'
import type { VoucherRead } from '../../port/vouchers.ts'
import { lockByValidation, validate } from './lock.ts'
import { judgePin } from './pin.ts'

/** The voucher that number and PIN open. */
export async function lookUpVoucher(
  reading: WithTransaction<VoucherRead>,
  opening: VoucherOpening,
): Promise<Voucher | ApiError> {
  const against = await judgePin(reading, opening)
  return (
    against ?? (await readVoucher(reading.tx, reading.service, opening.number)) ?? new ApiError('voucher_not_accepted')
  )
}

/** The same, with a validation in place of the one before it. */
export async function validateVoucher(
  reading: WithTransaction<VoucherRead>,
  validation: VoucherOpening & { amount?: string | undefined },
): Promise<ValidatedVoucher | ApiError> {
  const { tx, keys, service } = reading
  const against = await judgePin(reading, validation)
  if (against) return against
  const validationId = await validate(tx, keys, service, validation)
  if (validationId instanceof ApiError) return validationId
  const voucher = await readVoucher(tx, service, validation.number)
  return voucher ? { ...voucher, validationId } : new ApiError('voucher_not_accepted')
}

/** Locks a voucher for its newest validation, renews the lock, or unlocks the voucher. With a PIN, the voucher is validated first. */
export async function lockVoucher(write: WithTransaction, lock: VoucherLockRequest): Promise<ReadVoucher | ApiError> {
  const { tx, keys, service, username, origin } = write
  const { number, lockSeconds } = lock
  const lockFor = (validationId: string) =>
    lockByValidation(tx, keys, service, { number, validationId, lockSeconds, username, origin })
  if ('validationId' in lock) return lockFor(lock.validationId)
  const validated = await validateVoucher(write, lock)
  if (validated instanceof ApiError) return validated
  const { validationId } = validated
  const voucher = await lockFor(validationId)
  // The PIN was right, so no failed attempt must be committed. Roll back, so that the previous validation stays.
  if (voucher instanceof ApiError) throw voucher
  return { ...voucher, validationId }
}
