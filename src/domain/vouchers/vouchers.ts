import { type Static, Type } from '../../schemas/schemas.ts'
import { OrderAddress } from '../values/address.ts'
import { notBlank } from '../values/characters.ts'
import { Currency, Id, LocalDate, LocalTime, Money, Nullable, Optional, Words } from '../values/fields.ts'
import { voucherStates } from './states.ts'

const Email = Type.Object(
  { status: Words('How far the e-mail with number and PIN has come.', ['queued', 'sent', 'failed']) },
  { $id: 'VoucherEmail', description: 'The e-mail to the receiver.', additionalProperties: false },
)
const number = Id('The number printed on the voucher.', '2062389')
const validationId = Type.String({
  description: 'Opens the voucher for a lock or an order, until it is validated again or 24 hours have passed.',
  minLength: 1,
  maxLength: 100,
  examples: ['q3vYk0lqS5WcX1hJm9d2RrTtZ8uPaBe4'],
})

const voucher = {
  number,
  status: Words('Where the voucher stands.', voucherStates),
  currency: Currency,
  originalAmount: Money('The amount it was issued for.', '150.00'),
  usedAmount: Money('What was drawn.', '0.00'),
  availableAmount: Money('What can be drawn: nothing of a voucher that is expired or suspended.', '150.00'),
  expiryDate: Nullable(LocalDate('The last day on which it can be used.', '2027-07-07')),
  lockedUntil: Nullable(LocalTime('Until when somebody holds it.', '2026-11-21 12:00:00')),
  email: Nullable(Email),
}

/** Contract 7. The PIN is no part of it. */
export type Voucher = Static<typeof Voucher>
export const Voucher = Type.Object(voucher, { $id: 'Voucher', additionalProperties: false })

/** A voucher that was validated: whoever has the `validationId` can hold it, and pay with it. */
export type ValidatedVoucher = Static<typeof ValidatedVoucher>
export const ValidatedVoucher = Type.Object(
  { ...voucher, validationId },
  { $id: 'ValidatedVoucher', additionalProperties: false },
)

/** What `GET /vouchers/:number` and a lock answer: a `validationId` where the voucher was validated. */
export type ReadVoucher = Static<typeof ReadVoucher>
export const ReadVoucher = Type.Object(
  { ...voucher, validationId: Type.Optional(validationId) },
  { $id: 'ReadVoucher', additionalProperties: false },
)

/** A voucher that was made. A back office that makes number and PIN later leaves them null, and the status `pending`. */
export type IssuedVoucher = Static<typeof IssuedVoucher>
export const IssuedVoucher = Type.Object(
  {
    ...voucher,
    number: Nullable(Id('The number of the voucher.', '9203418875560314')),
    pin: Nullable(
      Type.String({
        description: 'The PIN: in this answer and in the e-mail, and nowhere else.',
        examples: ['381940'],
      }),
    ),
    orderNumber: Nullable(Id('The number of the order that it was sold with.', 'W0000123')),
  },
  { $id: 'IssuedVoucher', additionalProperties: false },
)

const pin = Type.String({
  description: 'The PIN, exactly as it was given to the shopper.',
  minLength: 1,
  maxLength: 50,
  examples: ['381940'],
})

export type VoucherOpening = Static<typeof VoucherOpening>
export const VoucherOpening = Type.Object({ number, pin }, { $id: 'VoucherOpening', additionalProperties: false })

export type VoucherValidation = Static<typeof VoucherValidation>
export const VoucherValidation = Type.Object(
  { number, pin, amount: Money('What is to be paid with it.', '39.95') },
  { $id: 'VoucherValidation', additionalProperties: false },
)

const having = (name: string) => ({ properties: { [name]: true }, required: [name] })

export type VoucherLock = Static<typeof VoucherLock>
export const VoucherLock = Type.Object(
  {
    validationId: Type.Optional(validationId),
    pin: Type.Optional(pin),
    amount: Type.Optional(Money('What is to be paid with it; with `pin` alone all that is left.', '39.95')),
    lockSeconds: Type.Optional(
      Type.Integer({
        description: 'For how long it is held, from now on; 0 gives it back.',
        minimum: 0,
        maximum: 86_400,
        default: 3_600,
        examples: [900],
      }),
    ),
  },
  {
    $id: 'VoucherLock',
    description:
      'By a `validationId` that you have; or by the `pin`, which validates the voucher and holds it in one step.',
    additionalProperties: false,
    // Not `oneOf`: client generators take that for two shapes, neither of which has a field.
    if: having('pin'),
    else: having('validationId'),
    dependentSchemas: { pin: { not: having('validationId') } },
    dependentRequired: { amount: ['pin'] },
    examples: [{ pin: '381940', amount: '39.95', lockSeconds: 900 }],
  },
)

/** A line that says something: a name, a subject. */
const line = (description: string, example: string, maxLength: number) =>
  Type.String({ description, minLength: 1, maxLength, pattern: notBlank, examples: [example] })

const receiverEmail = Type.String({
  description: 'Where number and PIN are sent.',
  format: 'email',
  maxLength: 250,
  examples: ['ann.lee@example.com'],
})

export type VoucherInput = Static<typeof VoucherInput>
export const VoucherInput = Type.Object(
  {
    amount: Money('What the voucher is worth.', '150.00'),
    currency: Optional(
      Type.String({
        description: 'The currency of the service, if any is named.',
        pattern: '^[A-Z]{3}$',
        examples: ['AUD'],
      }),
    ),
    gateway: Optional(
      Id(
        'How it was paid: one of `GET /payment-gateways`. The setting `voucherGateway` where none is named; without that none is recorded.',
        'paypal',
      ),
    ),
    receiverName: line('Who gets it.', 'Ann Lee', 50),
    receiverEmail,
    senderName: line('Who gives it.', 'John Smith', 50),
    message: Optional(
      Type.String({
        description: 'What the sender says.',
        format: 'multiline',
        maxLength: 1_000,
        examples: ['Happy birthday, Ann!'],
      }),
    ),
    subject: line("The e-mail's subject.", 'A gift for you', 200),
    orderNumber: Optional(
      Id('The number of the order that it is sold with; no two vouchers have the same.', 'W0000123'),
    ),
    mobile: Optional(
      Type.String({
        description: "The receiver's mobile number.",
        maxLength: 50,
        pattern: '^\\+?[\\d][\\d ()./-]{3,}$',
        examples: ['+61 491 570 006'],
      }),
    ),
    deliveryDate: Optional(LocalDate('The day on which the e-mail is sent; today where none is named.', '2026-12-24')),
    billingAddress: Type.Partial(OrderAddress, {
      description: 'The address of whoever pays.',
      additionalProperties: false,
    }),
  },
  { $id: 'VoucherInput', additionalProperties: false },
)

/** What sends a voucher again. */
export const SendingAgain = Type.Object(
  {
    receiverEmail: Optional(
      Type.String({ ...receiverEmail, description: 'Where it is sent from now on; absent: where it was sent before.' }),
    ),
  },
  { $id: 'SendingAgain', additionalProperties: false },
)

/** A lock, by the newest validation or by the PIN. */
export type LockOfVoucher = { number: string; lockSeconds: number } & (
  | { validationId: string }
  | { pin: string; amount?: string | undefined }
)
