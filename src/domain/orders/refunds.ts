import { type Static, Type } from '../../schemas/schemas.ts'
import { Currency, Id, Money } from '../values/fields.ts'
import { formatAmount } from '../values/money.ts'
import { sum, toMinorUnits } from './pricing.ts'

/** The amount that a cancellation or a return gives back. */
export type Refund = Static<typeof Refund>
export const Refund = Type.Object(
  {
    currency: Currency,
    total: Money('The refund for the lines, with freight and taxes if a whole order is cancelled.', '25.99'),
    vouchers: Type.Array(
      Type.Object(
        { number: Id('The gift voucher.', '2062389'), amount: Money('The refunded amount.', '20.00') },
        { $id: 'VoucherRefund', additionalProperties: false },
      ),
      {
        description:
          'The part that Tillbridge refunded to the vouchers that paid for the order, or for the order that was exchanged for it.',
      },
    ),
    exchange: Type.Optional(Money('The part that goes back to the return that paid for the order.', '5.00')),
    payments: Money('The rest. Refund it through the payment gateways.', '5.99'),
  },
  { $id: 'Refund', additionalProperties: false },
)

/** The parts of a refund that Tillbridge makes: to vouchers, and to the return that paid for the order. */
export type RefundParts = Pick<Refund, 'vouchers' | 'exchange'>

/** Builds a refund of `total` minor units. `payments` is the difference between the total and the parts. */
export const buildRefund = (
  { currency, decimals }: { currency: string; decimals: number },
  total: bigint,
  { vouchers, exchange }: RefundParts,
): Refund => ({
  currency,
  total: formatAmount(total, decimals),
  vouchers,
  ...(exchange !== undefined && { exchange }),
  payments: formatAmount(
    total -
      sum([...vouchers.map(({ amount }) => amount), exchange ?? '0'].map(amount => toMinorUnits(amount, decimals))),
    decimals,
  ),
})
