import type {
  ValidatedVoucher,
  Voucher,
  VoucherLock,
  VoucherOpening,
  VoucherReading,
  VoucherValidation,
} from '../../../domain/vouchers/vouchers.ts'
import type { Finishing } from '../../../domain/write.ts'
import { ApiError } from '../../../errors.ts'
import { readVoucher } from '../../../store/vouchers/vouchers.ts'
import { hold, validate } from './holding.ts'
import { judgePin } from './pin.ts'

/** The voucher that number and PIN open. */
export async function lookUpVoucher(
  reading: Finishing<VoucherReading>,
  opening: VoucherOpening,
): Promise<Voucher | ApiError> {
  const against = await judgePin(reading, opening)
  return (
    against ?? (await readVoucher(reading.tx, reading.service, opening.number)) ?? new ApiError('voucher_not_accepted')
  )
}

/** The same, with a validation in place of the one before it. */
export async function validateVoucher(
  reading: Finishing<VoucherReading>,
  validation: VoucherValidation,
): Promise<ValidatedVoucher | ApiError> {
  const { tx, keys, service } = reading
  const against = await judgePin(reading, validation)
  if (against) return against
  const validationId = await validate(tx, keys, service, validation)
  if (validationId instanceof ApiError) return validationId
  const voucher = await readVoucher(tx, service, validation.number)
  return voucher ? { ...voucher, validationId } : new ApiError('voucher_not_accepted')
}

/** Holds a voucher for its newest validation, holds it anew, or gives it back. */
export async function lockVoucher(
  { tx, keys, service, username, address }: Finishing,
  lock: Required<VoucherLock> & { number: string },
): Promise<Voucher | ApiError> {
  const against = await hold(tx, keys, service, { ...lock, username, address })
  return against ?? (await readVoucher(tx, service, lock.number)) ?? new ApiError('validation_id_incorrect')
}
