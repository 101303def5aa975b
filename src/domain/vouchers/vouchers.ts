import { type Static, Type } from '../../schemas/schemas.ts'
import { OrderAddress } from '../values/address.ts'
import { notBlank } from '../values/characters.ts'
import { Currency, Id, LocalDate, LocalTime, Money, Nullable, OneOf, Optional, Phone } from '../values/fields.ts'
import { voucherStates } from './states.ts'

const Email = Type.Object(
  { status: OneOf('The state of the email with number and PIN.', ['queued', 'sent', 'failed']) },
  { $id: 'VoucherEmail', description: 'The email to the receiver.', additionalProperties: false },
)
const number = Id('The number printed on the voucher.', '2062389')
const validationId = Type.String({
  description: 'Authorises a lock or an order. Valid until the next validation, at most 24 hours.',
  minLength: 1,
  maxLength: 100,
  examples: ['q3vYk0lqS5WcX1hJm9d2RrTtZ8uPaBe4'],
})

const voucher = {
  number,
  status: OneOf('The state of the voucher.', voucherStates),
  currency: Currency,
  originalAmount: Money('The amount it was issued for.', '150.00'),
  usedAmount: Money('The amount that was redeemed.', '0.00'),
  availableAmount: Money('The amount that can be redeemed. Zero if the voucher is expired or suspended.', '150.00'),
  expiryDate: Nullable(LocalDate('The last day on which it can be used.', '2027-07-07')),
  lockedUntil: Nullable(LocalTime('When the lock expires. Null if the voucher is not locked.', '2026-11-21 12:00:00')),
  email: Nullable(Email),
}

/** A gift voucher, without its PIN. */
export type Voucher = Static<typeof Voucher>
export const Voucher = Type.Object(voucher, { $id: 'Voucher', additionalProperties: false })

/** A validated voucher: the `validationId` authorises a lock or a payment. */
export type ValidatedVoucher = Static<typeof ValidatedVoucher>
export const ValidatedVoucher = Type.Object(
  { ...voucher, validationId },
  { $id: 'ValidatedVoucher', additionalProperties: false },
)

/** The response of `GET /vouchers/:number` and of a lock, with a `validationId` if the voucher was validated. */
export type ReadVoucher = Static<typeof ReadVoucher>
export const ReadVoucher = Type.Object(
  { ...voucher, validationId: Type.Optional(validationId) },
  { $id: 'ReadVoucher', additionalProperties: false },
)

/** A new voucher. If the back office creates number and PIN later, they are null and the status is `pending`. */
export type IssuedVoucher = Static<typeof IssuedVoucher>
export const IssuedVoucher = Type.Object(
  {
    ...voucher,
    number: Nullable(Id('The number of the voucher.', '9203418875560314')),
    pin: Nullable(
      Type.String({
        description: 'The PIN. It is only in this response and in the email.',
        examples: ['381940'],
      }),
    ),
    orderNumber: Nullable(Id('The number of the order that sold the voucher.', 'W0000123')),
  },
  { $id: 'IssuedVoucher', additionalProperties: false },
)

const pin = Type.String({
  description: 'The PIN, exactly as the shopper received it.',
  minLength: 1,
  maxLength: 50,
  examples: ['381940'],
})

export type VoucherOpening = Static<typeof VoucherOpening>
export const VoucherOpening = Type.Object({ number, pin }, { $id: 'VoucherOpening', additionalProperties: false })

export type VoucherValidation = Static<typeof VoucherValidation>
export const VoucherValidation = Type.Object(
  { number, pin, amount: Money('The amount to pay.', '39.95') },
  { $id: 'VoucherValidation', additionalProperties: false },
)

const having = (name: string) => ({ properties: { [name]: {} }, required: [name] })

export type VoucherLock = Static<typeof VoucherLock>
export const VoucherLock = Type.Object(
  {
    validationId: Type.Optional(validationId),
    pin: Type.Optional(pin),
    amount: Type.Optional(
      Money(
        'The amount to pay: the balance must cover it. The lock holds the whole voucher. Default: the available amount. Requires `pin`.',
        '39.95',
      ),
    ),
    lockSeconds: Type.Optional(
      Type.Integer({
        description: 'The duration of the lock in seconds, starting now. 0 unlocks.',
        minimum: 0,
        maximum: 86_400,
        default: 3_600,
        examples: [900],
      }),
    ),
  },
  {
    $id: 'VoucherLock',
    description: 'Either a `validationId`, or the `pin`, which validates and locks in one step.',
    additionalProperties: false,
    // Not `oneOf`: client generators would create two types without fields.
    if: having('pin'),
    else: having('validationId'),
    dependentSchemas: { pin: { not: having('validationId') } },
    dependentRequired: { amount: ['pin'] },
    examples: [{ pin: '381940', amount: '39.95', lockSeconds: 900 }],
  },
)

/** A single line of text that isn't blank. */
const NonBlankText = (description: string, example: string, maxLength: number) =>
  Type.String({ description, minLength: 1, maxLength, pattern: notBlank, examples: [example] })

const receiverEmail = Type.String({
  description: 'The address that number and PIN are sent to.',
  format: 'email',
  maxLength: 250,
  examples: ['ann.lee@example.com'],
})

export type VoucherInput = Static<typeof VoucherInput>
export const VoucherInput = Type.Object(
  {
    amount: Money('The amount of the voucher.', '150.00'),
    currency: Optional(
      Type.String({
        description: 'The currency. If it is sent, it must be the currency of the service.',
        pattern: '^[A-Z]{3}$',
        examples: ['AUD'],
      }),
    ),
    gateway: Optional(
      Id(
        'A name from `GET /payment-gateways`. Default: the setting `voucherGateway`. Without both, no gateway is recorded.',
        'paypal',
      ),
    ),
    receiverName: NonBlankText('The name of the receiver.', 'Ann Lee', 50),
    receiverEmail,
    senderName: NonBlankText('The name of the sender.', 'John Smith', 50),
    message: Optional(
      Type.String({
        description: 'The message of the sender.',
        format: 'multiline',
        maxLength: 1_000,
        examples: ['Happy birthday, Ann!'],
      }),
    ),
    subject: NonBlankText('The subject of the email.', 'A gift for you', 200),
    orderNumber: Optional(Id('The number of the order that sells the voucher. It must be unique.', 'W0000123')),
    mobile: Optional(Phone("The receiver's mobile number")),
    deliveryDate: Optional(LocalDate('The day on which the email is sent. Default: today.', '2026-12-24')),
    billingAddress: Type.Partial(OrderAddress, {
      description: 'The address of the payer.',
      additionalProperties: false,
    }),
  },
  { $id: 'VoucherInput', additionalProperties: false },
)

export const VoucherResend = Type.Object(
  {
    receiverEmail: Optional(
      Type.String({ ...receiverEmail, description: 'The new address of the receiver. Default: the current address.' }),
    ),
  },
  { $id: 'VoucherResend', additionalProperties: false },
)

/** A lock, by the newest validation or by the PIN. */
export type VoucherLockRequest = { number: string; lockSeconds: number } & (
  | { validationId: string }
  | { pin: string; amount?: string | undefined }
)
