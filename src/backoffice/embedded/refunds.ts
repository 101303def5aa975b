import type { Db } from '../../database/db.ts'
import type { Writer } from '../../domain/audit.ts'
import { toMinorUnits } from '../../domain/orders/pricing.ts'
import { buildRefund, type Refund, type RefundParts } from '../../domain/orders/refunds.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { type LockedOrder, readVoucherPayments } from '../../store/orders/orders.ts'
import { lockExchangedOrders, restoreExchangeCredit } from '../../store/orders/returns.ts'
import { refundVouchers } from './vouchers/redeem.ts'
import { lockCurrentVoucher } from './vouchers/transitions.ts'

/**
 * Refunds an amount of a locked order, in minor units: first to the vouchers that paid for it, then to the return that paid for it in an
 * exchange. `payments` has the rest. Locks the orders that were exchanged, from the newest to the oldest, and then all vouchers by number.
 */
export async function refundOrder(
  tx: Db,
  service: Service,
  order: LockedOrder,
  total: bigint,
  writer?: Writer,
): Promise<Refund> {
  const exchanged = await lockExchangedOrders(tx, service, order)
  if (exchanged.length) await lockVouchers(tx, service, [order, ...exchanged])
  return buildRefund(order, total, await refundParts(tx, service, order, total, writer))
}

async function lockVouchers(tx: Db, service: Service, orders: readonly LockedOrder[]) {
  const numbers = new Set<string>()
  for (const order of orders)
    for (const { number } of await readVoucherPayments(tx, service, order)) numbers.add(number)
  for (const number of [...numbers].sort()) await lockCurrentVoucher(tx, service, number)
}

/**
 * Refunds up to an amount to vouchers and to the return that paid for the order. If that return was already refunded, its part is refunded
 * like an amount of the returned order, because a voucher payment must not become cash.
 */
async function refundParts(
  tx: Db,
  service: Service,
  order: LockedOrder,
  maxTotal: bigint,
  writer: Writer | undefined,
): Promise<RefundParts> {
  const vouchers = await refundVouchers(tx, service, order, maxTotal, writer)
  const { payments } = buildRefund(order, maxTotal, { vouchers })
  const restored = await restoreExchangeCredit(tx, service, order, payments)
  if (!restored) return { vouchers }
  const { amount, isOpen, returnedOrder } = restored
  if (isOpen) return { vouchers, exchange: amount }
  const parts = await refundParts(tx, service, returnedOrder, toMinorUnits(amount, order.decimals), writer)
  return { ...parts, vouchers: [...vouchers, ...parts.vouchers] }
}
