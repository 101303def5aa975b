import type { VoucherWrites } from '../../../domain/vouchers/vouchers.ts'
import { ApiError } from '../../../errors.ts'
import { readVoucher } from '../../../store/vouchers/vouchers.ts'
import { lockVoucher, validateVoucher } from './holding.ts'
import { issueVoucher } from './issue.ts'
import { judgePin } from './pin.ts'

/** Gift vouchers of our own (contract 7). */
export const voucherWrites: VoucherWrites = {
  async lookUpVoucher(reading, opening) {
    const against = await judgePin(reading, opening)
    return (
      against ??
      (await readVoucher(reading.tx, reading.service, opening.number)) ??
      new ApiError('voucher_not_accepted')
    )
  },

  async validateVoucher(reading, validation) {
    const { tx, keys, service } = reading
    const against = await judgePin(reading, validation)
    if (against) return against
    const validationId = await validateVoucher(tx, keys, service, validation)
    if (validationId instanceof ApiError) return validationId
    const voucher = await readVoucher(tx, service, validation.number)
    return voucher ? { ...voucher, validationId } : new ApiError('voucher_not_accepted')
  },

  async lockVoucher({ tx, keys, service, username, origin }, lock) {
    const against = await lockVoucher(tx, keys, service, { ...lock, username, origin })
    return against ?? (await readVoucher(tx, service, lock.number)) ?? new ApiError('validation_id_incorrect')
  },

  issueVoucher,
}
