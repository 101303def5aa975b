import type { Db } from '../../../database/db.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { formatAmount } from '../../../domain/values/money.ts'
import { type LockedOrder, readVoucherPayments } from '../../../store/orders/orders.ts'
import { refundUpTo } from './draw.ts'

/** What a voucher was given back, with the currency's decimals. */
export interface GivenBack {
  number: string
  amount: string
}

/**
 * Gives the vouchers that paid for an order back what they paid, at most so much of it all (minor units). They come first, in the order
 * of their numbers: what was paid with one does not become cash while it can go back there.
 */
export async function refundVouchers(tx: Db, service: Service, order: LockedOrder, most: bigint): Promise<GivenBack[]> {
  const givenBack: GivenBack[] = []
  let left = most
  for (const { number } of await readVoucherPayments(tx, service, order)) {
    const change = await refundUpTo(tx, service, { number, most: left, orderNumber: order.number })
    left -= change
    if (change > 0n) givenBack.push({ number, amount: formatAmount(change, order.decimals) })
  }
  return givenBack
}
