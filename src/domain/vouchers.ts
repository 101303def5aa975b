import { type Static, Type } from 'typebox'
import { Currency, Id, LocalDate, LocalTime, Money, Nullable, Words } from './fields.ts'

export const voucherStates = ['pending', 'active', 'locked', 'redeemed', 'expired', 'suspended'] as const

/** Contract 7. The PIN is no part of it. */
export type Voucher = Static<typeof Voucher>
export const Voucher = Type.Object(
  {
    number: Id('The number printed on the voucher.', '2062389'),
    status: Words('Where the voucher stands.', voucherStates),
    currency: Currency,
    originalAmount: Money('The amount it was issued for.', '150.00'),
    usedAmount: Money('What was drawn.', '0.00'),
    availableAmount: Money('What can be drawn: nothing of a voucher that is expired or suspended.', '150.00'),
    expiryDate: Nullable(LocalDate('The last day on which it can be used.', '2027-07-07')),
    lockedUntil: Nullable(LocalTime('Until when somebody holds it.', '2026-11-21 12:00:00')),
  },
  { $id: 'Voucher', additionalProperties: false },
)

/** What a driver does with gift vouchers (contract 7). */
// biome-ignore lint/suspicious/noEmptyInterface: it grows with the writes
export interface VoucherWrites {}
