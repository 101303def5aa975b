import type { Keys } from '../../../crypto/keys.ts'
import type { Db } from '../../../database/db.ts'
import type { Writer } from '../../../domain/audit.ts'
import type { VoucherPayment } from '../../../domain/orders/voucher-payments.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { formatAmount } from '../../../domain/values/money.ts'
import { requireRedeemable, toMinorUnits } from '../../../domain/vouchers/redemption.ts'
import { checkValidation } from '../../../domain/vouchers/validations.ts'
import { type LockedOrder, readVoucherPayments } from '../../../store/orders/orders.ts'
import { readDrawnAmount } from '../../../store/vouchers/ledger.ts'
import { endValidation } from '../../../store/vouchers/validation.ts'
import { applyAction, lockCurrentVoucher } from './transitions.ts'

/**
 * Redeems a voucher in the transaction of the order that it pays. Throws if it can't be redeemed (`requireRedeemable`). This ends the
 * validation and the lock. Without a lock, the voucher is locked and redeemed in one step.
 */
export async function redeemVoucher(
  tx: Db,
  keys: Keys,
  service: Service,
  {
    number,
    validationId,
    amount,
    pointer,
    orderNumber,
    writer,
  }: VoucherPayment & { orderNumber: string; writer?: Writer | undefined },
): Promise<void> {
  const requested = toMinorUnits(amount, service.settings)
  const voucher = await lockCurrentVoucher(tx, service, number)
  const status = checkValidation(keys, service, voucher, number, validationId)
  requireRedeemable(voucher, status, requested, service.settings, pointer)
  const locked =
    voucher.state === 'locked' ? voucher : applyAction(tx, service, voucher, 'lock', { lockSeconds: 0, writer })
  applyAction(tx, service, locked, 'redeem', { change: -requested, orderNumber, writer })
  await endValidation(tx, service, number)
}

/** An amount that was refunded to a voucher, with the currency's decimals. */
interface VoucherRefund {
  number: string
  amount: string
}

/**
 * Refunds the vouchers that paid for an order, by number, up to `maxTotal` (minor units) together. Vouchers come before other payments:
 * a voucher payment must not become cash.
 */
export async function refundVouchers(
  tx: Db,
  service: Service,
  order: LockedOrder,
  maxTotal: bigint,
  writer?: Writer,
): Promise<VoucherRefund[]> {
  const refunds: VoucherRefund[] = []
  let remaining = maxTotal
  for (const { number } of await readVoucherPayments(tx, service, order)) {
    const amount = await refundVoucher(tx, service, { number, maxAmount: remaining, orderNumber: order.number, writer })
    remaining -= amount
    if (amount > 0n) refunds.push({ number, amount: formatAmount(amount, order.decimals) })
  }
  return refunds
}

/**
 * Refunds the amount that a voucher paid for an order, less earlier refunds, up to `maxAmount` (minor units). Returns the refunded
 * amount: 0 if the voucher is not ours. A redeemed voucher becomes active again. An expired or suspended voucher keeps its state.
 */
export async function refundVoucher(
  tx: Db,
  service: Service,
  {
    number,
    maxAmount,
    orderNumber,
    writer,
  }: { number: string; maxAmount: bigint; orderNumber: string; writer?: Writer | undefined },
): Promise<bigint> {
  const voucher = await lockCurrentVoucher(tx, service, number)
  const redeemed = voucher ? await readDrawnAmount(tx, service, voucher, orderNumber) : 0n
  const change = redeemed < maxAmount ? redeemed : maxAmount
  if (!voucher || change <= 0n) return 0n
  applyAction(tx, service, voucher, 'refund', { change, orderNumber, writer })
  return change
}
