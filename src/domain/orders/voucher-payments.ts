import { ApiError } from '../../errors/api-error.ts'
import type { OrderInput } from './orders.ts'

/** What an order draws from a gift voucher. */
export interface VoucherPayment {
  number: string
  validationId: string
  /** With the currency's decimals. */
  amount: string
  /** Where the voucher stands in the body: `/payments/0/voucher`. */
  pointer: string
}

/**
 * Draws on each voucher that pays, in the order of their numbers (`a < b`, as `collate "C"` has it), so that two orders cannot wait for each other; throws what stands
 * against all of them. Returns what each draw came to, by the voucher's number.
 */
export async function forEachVoucher<T>(
  payments: OrderInput['payments'],
  draw: (payment: VoucherPayment) => Promise<T>,
): Promise<Map<string, T>> {
  const draws = payments.flatMap(({ voucher, amount }, i) =>
    voucher ? [{ ...voucher, amount, pointer: `/payments/${i}/voucher` }] : [],
  )
  const drawn = new Map<string, T>()
  const refusals: ApiError[] = []
  for (const each of draws.sort((a, b) => (a.number < b.number ? -1 : 1)))
    try {
      drawn.set(each.number, await draw(each))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      refusals.push(error)
    }
  const [refusal, ...others] = refusals
  if (!refusal) return drawn
  // What goes with one voucher, like the time until which it is held, is said where it is the only one that is refused.
  if (others.length === 0) throw refusal
  throw new ApiError(
    refusal.code,
    refusals.flatMap(({ errors: faults }) => faults.map(({ detail }) => detail)).join(' '),
    {
      errors: refusals.flatMap(({ errors: faults }) => faults),
      members: refusal.members,
      headers: refusal.headers,
    },
  )
}
