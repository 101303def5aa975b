import { type Static, Type } from '../../schemas/schemas.ts'
import { notPadded } from '../values/characters.ts'
import { Currency, Id, LocalTime, Money, Nullable, Optional, Text, Whole, Words } from '../values/fields.ts'
import { Discount } from './discounts.ts'

export const returnStatuses = ['requested', 'received', 'refunded', 'cancelled'] as const
export type ReturnStatus = (typeof returnStatuses)[number]

/** Which status may follow which. */
export const nextReturnStatus: Readonly<Record<ReturnStatus, readonly ReturnStatus[]>> = {
  requested: ['received', 'cancelled'],
  received: ['refunded', 'cancelled'],
  refunded: [],
  cancelled: [],
}

/** What `tillbridge order return` does, and the status that it leads to. */
export const returnSteps = { receive: 'received', refund: 'refunded', cancel: 'cancelled' } as const satisfies Record<
  string,
  ReturnStatus
>
export type ReturnStep = keyof typeof returnSteps

const returnNumber = Type.String({
  description: 'The number of the return, unique in the service.',
  minLength: 1,
  maxLength: 30,
  pattern: notPadded,
  examples: ['R0000001'],
})
const sku = Id('The e-commerce SKU.', 'MH01-XS-Black')
const quantity = Type.Integer({
  description: 'Units that come back.',
  minimum: 1,
  maximum: 9_999,
  examples: [1],
})
const reasonCode = Type.String({
  description: 'Why, as `GET /return-reasons` has it.',
  minLength: 1,
  maxLength: 20,
  examples: ['SIZE'],
})
const asked = Type.Integer({
  ...quantity,
  description: 'Units that come back; all that is left where none are named.',
})
const reason = Type.String({
  ...reasonCode,
  description: 'Why, as `GET /return-reasons` has it; the setting `defaultReturnReason` where none is named.',
})
const notes = Type.String({
  description: 'What the shopper said; may have several lines.',
  format: 'multiline',
  maxLength: 1_000,
  examples: ['Too tight at the shoulders.'],
})
const restock = (more: object) =>
  Type.Boolean({ description: 'Whether the goods can be sold again.', ...more, examples: [true] })

/** What a return is made of (contract 6). */
export type ReturnInput = Static<typeof ReturnInput>
export const ReturnInput = Type.Object(
  {
    returnNumber: Optional(returnNumber),
    lines: Type.Array(
      Type.Object(
        { sku, quantity: Optional(asked), reasonCode: Optional(reason), notes: Optional(notes) },
        { $id: 'ReturnLineInput', additionalProperties: false },
      ),
      { description: 'What comes back; the same SKU may stand in several lines.', minItems: 1, maxItems: 200 },
    ),
    restock: Optional(restock({ default: true })),
  },
  { $id: 'ReturnInput', additionalProperties: false },
)

/** A line of a return as it is made: nothing is left to defaults. */
export interface ReturnLine {
  sku: string
  quantity: number
  reasonCode: string
  notes: string | null
}

export type Return = Static<typeof Return>
export const Return = Type.Object(
  {
    id: Id('The identifier of the return.', '019a7341-52c8-7e0f-8d64-91b7f3a2c5d0'),
    returnNumber,
    returnAuthorisationNumber: Text('What the shopper writes on the parcel.', 'RA-R0000001', 50),
    orderId: Id('The order that it belongs to.', '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91'),
    orderNumber: Text('The number of that order.', 'W0000123', 30),
    customerId: Nullable(Id('The shopper; null once they were erased.', '65432')),
    status: Words('Where the return stands: requested, received, refunded; or cancelled.', returnStatuses),
    restock: restock({}),
    currency: Currency,
    total: Money('What is refunded for all lines.', '25.99'),
    lines: Type.Array(
      Type.Object(
        {
          id: Id('The identifier of the line, unique in its return.', '1'),
          sequence: Whole('Where the line stands in the return.', 1),
          orderLineId: Id('The line of the order that it comes from.', '1'),
          sku,
          quantity,
          reasonCode,
          notes: Nullable(notes),
          price: Money('The price of one unit, before discounts.', '29.99'),
          discounts: Type.Array(Discount, {
            description: 'The share of what was taken off: price times quantity, less these, is the value.',
          }),
          value: Money('What is refunded: the share of what was paid for the line of the order.', '25.99'),
        },
        { $id: 'ReturnLine', additionalProperties: false },
      ),
    ),
    createdAt: LocalTime('When it was made.'),
    updateTimeStamp: LocalTime('When it last changed.'),
  },
  { $id: 'OrderReturn', additionalProperties: false },
)

/** What of an order can come back, by SKU. */
export const Returnable = Type.Object(
  {
    sku,
    sold: Whole('Units that were shipped.', 3, { minimum: 0 }),
    returned: Whole('Units that came back, or are about to.', 1, { minimum: 0 }),
    returnable: Whole('Units that can still be returned.', 2, { minimum: 0 }),
  },
  { $id: 'Returnable', additionalProperties: false },
)

export type ReturnReason = Static<typeof ReturnReason>
export const ReturnReason = Type.Object(
  { code: reasonCode, name: Text('What a shopper reads.', 'Wrong size', 100) },
  { $id: 'ReturnReason', additionalProperties: false },
)
