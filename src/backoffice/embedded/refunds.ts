import type { Db } from '../../database/db.ts'
import { toMinorUnits } from '../../domain/orders/pricing.ts'
import { buildRefund, type Refund, type RefundParts } from '../../domain/orders/refunds.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { LockedOrder } from '../../store/orders/orders.ts'
import { restoreExchangeCredit } from '../../store/orders/returns.ts'
import { refundVouchers } from './vouchers/redeem.ts'

/**
 * Refunds an amount of a locked order, in minor units: first to the vouchers that paid for it, then to the return that paid for it in an
 * exchange. `payments` has the rest.
 */
export const refundOrder = async (tx: Db, service: Service, order: LockedOrder, total: bigint): Promise<Refund> =>
  buildRefund(order, total, await refundParts(tx, service, order, total))

/**
 * Refunds up to an amount without other payments. If the return of an exchange was already refunded, its part is refunded like an amount of
 * the returned order, because a voucher payment must not become cash.
 */
async function refundParts(tx: Db, service: Service, order: LockedOrder, maxTotal: bigint): Promise<RefundParts> {
  const vouchers = await refundVouchers(tx, service, order, maxTotal)
  const { payments } = buildRefund(order, maxTotal, { vouchers })
  const restored = await restoreExchangeCredit(tx, service, order, payments)
  if (!restored) return { vouchers }
  const { amount, isOpen, returnedOrder } = restored
  if (isOpen) return { vouchers, exchange: amount }
  const parts = await refundParts(tx, service, returnedOrder, toMinorUnits(amount, order.decimals))
  return { ...parts, vouchers: [...vouchers, ...parts.vouchers] }
}
