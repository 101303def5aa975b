import { ApiError } from '../../errors/api-error.ts'
import type { OrderInput } from './orders.ts'

export interface VoucherPayment {
  number: string
  validationId: string
  /** With the currency's decimals. */
  amount: string
  /** The JSON pointer of the voucher in the body: `/payments/0/voucher`. */
  pointer: string
}

/**
 * Redeems each voucher of an order, in the order of their numbers (`a < b`, like `collate "C"`), so that two orders can't deadlock. Returns the
 * results by voucher number. Throws the errors of all vouchers at once.
 */
export async function forEachVoucher<T>(
  payments: OrderInput['payments'],
  redeem: (payment: VoucherPayment) => Promise<T>,
): Promise<Map<string, T>> {
  const voucherPayments = payments.flatMap(({ voucher, amount }, i) =>
    voucher ? [{ ...voucher, amount, pointer: `/payments/${i}/voucher` }] : [],
  )
  const results = new Map<string, T>()
  const errors: ApiError[] = []
  for (const payment of voucherPayments.sort((a, b) => (a.number < b.number ? -1 : 1)))
    try {
      results.set(payment.number, await redeem(payment))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      errors.push(error)
    }
  const [first, ...more] = errors
  if (!first) return results
  // A single error keeps its own members, such as `lockedUntil`.
  if (more.length === 0) throw first
  const fieldErrors = errors.flatMap(error => error.errors)
  throw new ApiError(first.code, fieldErrors.map(({ detail }) => detail).join(' '), {
    errors: fieldErrors,
    members: first.members,
    headers: first.headers,
  })
}
