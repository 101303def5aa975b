import { type Static, Type } from '../../schemas/schemas.ts'
import { CheckedCurrency, Id, LocalDate, Money, OneOf } from '../values/fields.ts'

/** The states of imported vouchers. None is locked. */
const importedStates = ['active', 'pending', 'redeemed', 'expired', 'suspended'] as const
export type ImportedState = (typeof importedStates)[number]

/** An import row: a voucher of a previous system. */
export type VoucherRow = Static<typeof VoucherRow>
export const VoucherRow = Type.Object({
  number: Id('The number printed on the voucher.', '2062389'),
  pin: Type.String({
    description: 'The PIN, exactly as the shopper received it. Only a keyed hash is stored.',
    minLength: 1,
    maxLength: 50,
    format: 'secret',
    examples: ['381940'],
  }),
  balance: Money('The remaining balance.', '110.00'),
  originalAmount: Type.Optional(Money('The original amount. Default: the balance.', '150.00')),
  expiryDate: Type.Optional(
    LocalDate('The last day on which it can be used. Default: it never expires.', '2027-07-07'),
  ),
  status: Type.Optional(OneOf('The state of the voucher.', importedStates)),
  currency: Type.Optional(CheckedCurrency()),
})
