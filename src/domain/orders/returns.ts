import { type Static, Type } from '../../schemas/schemas.ts'
import { notPadded } from '../values/characters.ts'
import { Currency, Id, Integer, LocalTime, Money, Nullable, OneOf, Optional, Text } from '../values/fields.ts'
import { Discount } from './discounts.ts'
import { Refund } from './refunds.ts'

export const returnStatuses = ['requested', 'received', 'refunded', 'cancelled'] as const
export type ReturnStatus = (typeof returnStatuses)[number]

const returnNumber = Type.String({
  description: 'The number of the return, unique in the service.',
  minLength: 1,
  maxLength: 30,
  pattern: notPadded,
  examples: ['R0000001'],
})
const sku = Id('The e-commerce SKU.', 'MH01-XS-Black')
const quantity = Type.Integer({
  description: 'The number of units to return.',
  minimum: 1,
  maximum: 9_999,
  examples: [1],
})
const reasonCode = Type.String({
  description: 'A code from `GET /return-reasons`.',
  minLength: 1,
  maxLength: 20,
  examples: ['SIZE'],
})
const optionalQuantity = Type.Integer({
  ...quantity,
  description: 'The number of units to return. Default: all remaining units.',
})
const optionalReasonCode = Type.String({
  ...reasonCode,
  description: 'A code from `GET /return-reasons`. Default: the setting `defaultReturnReason`.',
})
const notes = Type.String({
  description: "The shopper's remarks. Can have several lines.",
  format: 'multiline',
  maxLength: 1_000,
  examples: ['Too tight at the shoulders.'],
})
const returnLineId = Id('The ID of the line, unique in its return.', '1')
const restock = (options: { default?: boolean } = {}) =>
  Type.Boolean({
    description: 'True if the items go back into stock when the return is received.',
    ...options,
    examples: [true],
  })

/** The body of a new return. */
export type ReturnInput = Static<typeof ReturnInput>
export const ReturnInput = Type.Object(
  {
    returnNumber: Optional(returnNumber),
    lines: Type.Array(
      Type.Object(
        { sku, quantity: Optional(optionalQuantity), reasonCode: Optional(optionalReasonCode), notes: Optional(notes) },
        { $id: 'ReturnLineInput', additionalProperties: false },
      ),
      { description: 'The returned items. Several lines can have the same SKU.', minItems: 1, maxItems: 200 },
    ),
    restock: Optional(restock({ default: true })),
  },
  { $id: 'ReturnInput', additionalProperties: false },
)

/** A line of a new return, with defaults applied. */
export interface ReturnLine {
  sku: string
  quantity: number
  reasonCode: string
  notes: string | null
}

/** The body of a request that records the arrival of a return. */
export type ReturnReceipt = Static<typeof ReturnReceipt>
export const ReturnReceipt = Type.Object(
  {
    lines: Optional(
      Type.Array(
        Type.Object(
          { returnLineId, quantity: Optional(Type.Integer({ minimum: 1, maximum: 9_999, examples: [1] })) },
          { $id: 'ReturnReceiptLine', additionalProperties: false },
        ),
        { description: 'The units that have arrived. Default: all.', minItems: 1, maxItems: 200 },
      ),
    ),
    restock: Optional(
      Type.Boolean({
        description: 'True if the items can be sold again. Default: the value of the return.',
        examples: [true],
      }),
    ),
  },
  { $id: 'ReturnReceipt', additionalProperties: false },
)

export type Return = Static<typeof Return>
export const Return = Type.Object(
  {
    id: Id('The ID of the return.', '019a7341-52c8-7e0f-8d64-91b7f3a2c5d0'),
    returnNumber,
    returnAuthorisationNumber: Text('The number that the shopper writes on the parcel.', 'RA-R0000001', 50),
    orderId: Id('The order of the return.', '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91'),
    orderNumber: Text('The number of the order.', 'W0000123', 30),
    customerId: Nullable(Id('The shopper. Null if they were erased.', '65432')),
    exchangeOrderId: Nullable(Id('The order that the return pays for.', '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a92')),
    status: OneOf('The status of the return.', returnStatuses),
    restock: restock(),
    currency: Currency,
    total: Money('The refund for all lines.', '25.99'),
    lines: Type.Array(
      Type.Object(
        {
          id: returnLineId,
          sequence: Integer('The position of the line in the return.', 1),
          orderLineId: Id('The returned line of the order.', '1'),
          sku,
          quantity,
          received: Integer('Units that have arrived.', 1, { minimum: 0 }),
          reasonCode,
          notes: Nullable(notes),
          price: Money('The price of one unit before discounts.', '29.99'),
          discounts: Type.Array(Discount, {
            description: 'The share of the discounts. Price times quantity minus these is the value.',
          }),
          value: Money('The refund: the share of the amount paid for the order line.', '25.99'),
        },
        { $id: 'ReturnLine', additionalProperties: false },
      ),
    ),
    createdAt: LocalTime('When the return was created.'),
    updateTimeStamp: LocalTime('When the return last changed.'),
  },
  { $id: 'OrderReturn', additionalProperties: false },
)

/** A refunded return, with the amount that it gives back. */
export const RefundedReturn = Type.Object(
  { orderReturn: Return, refund: Refund },
  { $id: 'RefundedReturn', additionalProperties: false },
)

/** The returnable quantity of a SKU of an order. */
export const Returnable = Type.Object(
  {
    sku,
    sold: Integer('Shipped units.', 3, { minimum: 0 }),
    returned: Integer('Returned units, including requested returns.', 1, { minimum: 0 }),
    returnable: Integer('Units that can still be returned.', 2, { minimum: 0 }),
  },
  { $id: 'Returnable', additionalProperties: false },
)

export type ReturnReason = Static<typeof ReturnReason>
export const ReturnReason = Type.Object(
  { code: reasonCode, name: Text('The name that shoppers see.', 'Wrong size', 100) },
  { $id: 'ReturnReason', additionalProperties: false },
)
