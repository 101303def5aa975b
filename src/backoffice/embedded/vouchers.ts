import { issueFaults, unconfigured } from '../../domain/vouchers/rules.ts'
import type { VoucherWrites } from '../../domain/vouchers/vouchers.ts'
import { ApiError } from '../../errors.ts'
import { refuse } from '../../refuse.ts'
import { gatewayNames } from '../../store/running/gateways.ts'
import { lockVoucher, validateVoucher } from '../../store/vouchers/holding.ts'
import { isSku, issueVoucher, voucherDays } from '../../store/vouchers/issue.ts'
import { judgePin } from '../../store/vouchers/pin.ts'
import { readVoucher } from '../../store/vouchers/vouchers.ts'

/** Gift vouchers of our own (contract 7). */
export const voucherWrites: VoucherWrites = {
  async lookUpVoucher({ tx, keys, service, address }, { number, pin }) {
    const refusal = await judgePin(tx, keys, service, { number, pin, address })
    return refusal ?? (await readVoucher(tx, service, number)) ?? new ApiError('voucher_not_accepted')
  },

  async validateVoucher({ tx, keys, service, address }, { number, pin, amount }) {
    const refusal = await judgePin(tx, keys, service, { number, pin, address })
    if (refusal) return refusal
    const validationId = await validateVoucher(tx, keys, service, { number, amount })
    if (validationId instanceof ApiError) return validationId
    const voucher = await readVoucher(tx, service, number)
    return voucher ? { ...voucher, validationId } : new ApiError('voucher_not_accepted')
  },

  async lockVoucher({ tx, keys, service, username, address }, { number, validationId, lockSeconds }) {
    const refusal = await lockVoucher(tx, keys, service, { number, validationId, lockSeconds, username, address })
    return refusal ?? (await readVoucher(tx, service, number)) ?? new ApiError('validation_id_incorrect')
  },

  async issueVoucher({ tx, keys, service }, input) {
    const { settings } = service
    const days = await voucherDays(tx, service)
    refuse([
      ...unconfigured(settings, await isSku(tx, service, settings.giftCardSku)),
      ...issueFaults(input, settings, { gateways: await gatewayNames(tx, service), ...days }),
    ])
    return issueVoucher(tx, keys, service, { ...input, expiryDate: days.expiryDate })
  },
}
