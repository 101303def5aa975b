import { type Static, Type } from '../../schemas/schemas.ts'
import { Id, LocalDate, Money, Words } from '../values/fields.ts'

/** Where a voucher of an earlier system may stand: nobody here holds it yet. */
const broughtStates = ['active', 'pending', 'redeemed', 'expired', 'suspended'] as const
export type BroughtState = (typeof broughtStates)[number]

/** One voucher of an earlier system. */
export type VoucherRow = Static<typeof VoucherRow>
export const VoucherRow = Type.Object({
  number: Id('The number printed on the voucher.', '2062389'),
  pin: Type.String({
    description: 'The PIN, exactly as it was given to the shopper. Nothing but a keyed hash of it is kept.',
    minLength: 1,
    maxLength: 50,
    format: 'secret',
    examples: ['381940'],
  }),
  balance: Money('What is left of it.', '110.00'),
  originalAmount: Type.Optional(Money('What it was issued for; the balance where none is named.', '150.00')),
  expiryDate: Type.Optional(LocalDate('The last day on which it can be used; none: it never expires.', '2027-07-07')),
  status: Type.Optional(Words('Where it stands.', broughtStates)),
})
