import type { Keys } from '../../../crypto/keys.ts'
import type { Db } from '../../../database/db.ts'
import type { VoucherPayment } from '../../../domain/orders/voucher-payments.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { requireDrawable, unitsOf } from '../../../domain/vouchers/redemption.ts'
import { judgeValidation } from '../../../domain/vouchers/validations.ts'
import { drawnFor } from '../../../store/vouchers/ledger.ts'
import { endValidation } from '../../../store/vouchers/validation.ts'
import { takeStep, takeVoucher } from './transitions.ts'

/**
 * Draws on a voucher in the transaction of the order that it pays; throws what stands against it (`requireDrawable`). The validation is
 * spent with it, and the lock that it held. A sale that did not lock before holds the voucher for just this moment.
 */
export async function drawVoucher(
  tx: Db,
  keys: Keys,
  service: Service,
  { number, validationId, amount, pointer, orderNumber }: VoucherPayment & { orderNumber: string },
): Promise<void> {
  const wanted = unitsOf(amount, service.settings)
  const voucher = await takeVoucher(tx, service, number)
  const judged = judgeValidation(keys, service, voucher, number, validationId)
  requireDrawable(voucher, judged, wanted, service.settings, pointer)
  const held = voucher.state === 'locked' ? voucher : takeStep(tx, service, voucher, 'lock', { lockSeconds: 0 })
  takeStep(tx, service, held, 'redeem', { change: -wanted, orderNumber })
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
  const drawn = voucher ? await drawnFor(tx, service, voucher, orderNumber) : 0n
  const change = drawn < most ? drawn : most
  if (!voucher || change <= 0n) return 0n
  takeStep(tx, service, voucher, 'refund', { change, orderNumber })
  return change
}
