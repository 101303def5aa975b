import type { Keys } from '../../../crypto/keys.ts'
import type { Db } from '../../../database/db.ts'
import type { VoucherPayment } from '../../../domain/orders/voucher-payments.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { requireRedeemable, toMinorUnits } from '../../../domain/vouchers/redemption.ts'
import { checkValidation } from '../../../domain/vouchers/validations.ts'
import { readDrawnAmount } from '../../../store/vouchers/ledger.ts'
import { endValidation } from '../../../store/vouchers/validation.ts'
import { takeStep, takeVoucher } from './transitions.ts'

/**
 * Redeems a voucher in the transaction of the order that it pays. Throws if it can't be redeemed (`requireRedeemable`). This ends the
 * validation and the lock. Without a lock, the voucher is locked and redeemed in one step.
 */
export async function drawVoucher(
  tx: Db,
  keys: Keys,
  service: Service,
  { number, validationId, amount, pointer, orderNumber }: VoucherPayment & { orderNumber: string },
): Promise<void> {
  const requested = toMinorUnits(amount, service.settings)
  const voucher = await takeVoucher(tx, service, number)
  const status = checkValidation(keys, service, voucher, number, validationId)
  requireRedeemable(voucher, status, requested, service.settings, pointer)
  const locked = voucher.state === 'locked' ? voucher : takeStep(tx, service, voucher, 'lock', { lockSeconds: 0 })
  takeStep(tx, service, locked, 'redeem', { change: -requested, orderNumber })
  await endValidation(tx, service, number)
}

/**
 * Gives back to a voucher what was drawn of it for an order and not given back yet, at most so much (minor units). Returns what it was
 * given; nothing where it is not a voucher of ours. A voucher that was spent can be used again; one that is expired or suspended stays so.
 */
export async function refundUpTo(
  tx: Db,
  service: Service,
  { number, most, orderNumber }: { number: string; most: bigint; orderNumber: string },
): Promise<bigint> {
  const voucher = await takeVoucher(tx, service, number)
  const drawn = voucher ? await readDrawnAmount(tx, service, voucher, orderNumber) : 0n
  const change = drawn < most ? drawn : most
  if (!voucher || change <= 0n) return 0n
  takeStep(tx, service, voucher, 'refund', { change, orderNumber })
  return change
}
