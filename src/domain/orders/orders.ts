import { type Static, Type } from '../../schemas/schemas.ts'
import { addressee, OrderAddress, postcode } from '../values/address.ts'
import { notBlank, notPadded } from '../values/characters.ts'
import { Currency, Id, Integer, LocalTime, Money, Nullable, OneOf, Optional, Text } from '../values/fields.ts'
import { Discount, DiscountInput } from './discounts.ts'
import { Refund } from './refunds.ts'
import { TaxLine, TaxLineInput } from './tax.ts'
import { carrier, trackingNumber, trackingUrl } from './tracking.ts'

export const lineStatuses = ['processing', 'shipped', 'cancelled', 'returned'] as const
export type LineStatus = (typeof lineStatuses)[number]

export const orderNumber = Type.String({
  description: 'The number of the order, unique in the service.',
  minLength: 1,
  maxLength: 30,
  pattern: notPadded,
  examples: ['W0000123'],
})
const customerId = Id('The shopper.', '65432')
const orderedBy = Id('The shopper. Null if they were erased.', '65432')
const pickupStoreNumber = Id('The store where the shopper collects the order.', '123')
export const sku = Id('The e-commerce SKU.', 'MH01-XS-Black')
/** Long enough for 200 lines with their discounts, compressed. */
export const quoteId = Type.String({
  description: 'The quote, from `POST /orders/quote`.',
  minLength: 1,
  maxLength: 65_536,
  examples: ['3f1c9a526a0e4c579d0f2b7d3c1a8e44'],
})
export const quantity = Type.Integer({ description: 'Units sold.', minimum: 1, maximum: 9_999, examples: [1] })
export const freight = Money('The delivery charge.', '9.95')
const gateway = Id('A name from `GET /payment-gateways`.', 'paypal')
const paid = Money('The amount of the payment.', '35.94')
const reference = Text("The gateway's reference.", 'PAYID-MX2A7', 100)
const voucherNumber = Id('The number of the gift voucher.', '2062389')

const line = (text: string, example: string) =>
  Type.String({ description: text, minLength: 1, maxLength: 50, pattern: notBlank, examples: [example] })
const optional = (text: string, example: string) => Optional(Text(text, example, 50))

/** A deliverable address. */
const PostalAddress = Type.Object(
  {
    contactName: Type.Optional(addressee.contactName),
    companyName: Type.Optional(addressee.companyName),
    addressLine1: line('Street and number.', '111 Collins St'),
    addressLine2: optional('Floor, unit or building.', 'Level 5'),
    city: line('City or suburb.', 'Melbourne'),
    state: optional('State, province or county.', 'VIC'),
    postcode: Optional(postcode),
    country: line('Country.', 'Australia'),
  },
  { $id: 'PostalAddress', additionalProperties: false },
)

/** The body of a new order. */
export type OrderInput = Static<typeof OrderInput>
export const OrderInput = Type.Object(
  {
    orderNumber: Optional(orderNumber),
    customerId,
    pickupStoreNumber: Optional(pickupStoreNumber),
    reservationId: Optional(
      Id(
        'The reservation that the order uses up. Its units can be ordered although they are reserved, and come from the reserved stores.',
        '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91',
      ),
    ),
    quoteId: Optional(quoteId),
    ecommerceOrderId: Type.Optional(
      Type.String({
        description: "The platform's order, for the stock push.",
        pattern: '^[\\w-]{1,100}$',
        examples: ['6884556842'],
      }),
    ),
    billingAddress: PostalAddress,
    deliveryAddress: PostalAddress,
    lines: Type.Array(
      Type.Object(
        {
          sku,
          quantity,
          price: Optional(Money('The price of one unit. If it is sent, it must be the current price.', '29.99')),
          discounts: Optional(
            Type.Array(DiscountInput, {
              description: "The discounts of the line. Together they can't exceed its price.",
              maxItems: 20,
            }),
          ),
        },
        { $id: 'OrderLineInput', additionalProperties: false },
      ),
      { description: 'The ordered items.', minItems: 1, maxItems: 200 },
    ),
    freight: Optional(freight),
    taxLines: Optional(
      Type.Array(TaxLineInput, {
        description:
          'Sales taxes on top of the prices. Leave them out if the prices include tax. Their amounts are part of the amount due.',
        maxItems: 20,
      }),
    ),
    payments: Type.Array(
      Type.Object(
        {
          gateway,
          amount: Money('The amount of the payment.', '39.94'),
          reference: Optional(reference),
          voucher: Optional(
            Type.Object(
              {
                number: voucherNumber,
                validationId: Type.String({
                  description: 'The `validationId` of the validation or the lock.',
                  minLength: 1,
                  maxLength: 100,
                  examples: ['3f1c9a52-6a0e-4c57-9d0f-2b7d3c1a8e44'],
                }),
              },
              {
                $id: 'VoucherPayment',
                description: 'The gift voucher that this payment redeems.',
                additionalProperties: false,
              },
            ),
          ),
        },
        { $id: 'OrderPaymentInput', additionalProperties: false },
      ),
      { description: 'The payments. They must total exactly the amount due.', maxItems: 20 },
    ),
  },
  { $id: 'OrderInput', additionalProperties: false },
)

export type Order = Static<typeof Order>
export const Order = Type.Object(
  {
    id: Id('The ID of the order.', '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91'),
    orderNumber,
    customerId: Nullable(orderedBy),
    pickupStoreNumber: Nullable(pickupStoreNumber),
    billingAddress: OrderAddress,
    deliveryAddress: OrderAddress,
    currency: Currency,
    lines: Type.Array(
      Type.Object(
        {
          id: Id('The ID of the line, unique in its order.', '1'),
          sequence: Integer('The position of the line in the order.', 1),
          sku,
          productCode: Text('The style code.', 'MH01', 100),
          productName: Text('The name of the style when it was sold.', 'Chaz Kangeroo Hoodie'),
          colourCode: Nullable(Text('The code of the colour.', 'BLK', 50)),
          colourName: Nullable(Text('The name of the colour.', 'Black', 100)),
          sizeCode: Text('The size.', 'XS', 50),
          quantity,
          shipped: Integer('Shipped or collected units.', 1, { minimum: 0 }),
          cancelled: Integer('Cancelled units.', 0, { minimum: 0 }),
          returned: Integer('Returned units, including requested returns.', 0, { minimum: 0 }),
          price: Money('The price of one unit before discounts.', '29.99'),
          discounts: Type.Array(Discount),
          value: Money('The amount paid for the line.', '25.99'),
          status: OneOf(
            'The status of the line. `processing`: some units are neither shipped nor cancelled. `returned`: all shipped units have come back.',
            lineStatuses,
          ),
          tracking: Type.Array(
            Type.Object(
              {
                shipmentId: Id('The ID of the shipment.', '019a7341-52c8-7e0f-8d64-91b7f3a2c5d1'),
                carrier: Nullable(carrier),
                trackingNumber: Nullable(trackingNumber),
                trackingUrl: Nullable(trackingUrl),
                quantity: Integer('Units of the line in the shipment.', 1, { minimum: 1 }),
              },
              { $id: 'OrderLineTracking', additionalProperties: false },
            ),
            { description: 'The shipments of the line. Empty if none is known.' },
          ),
        },
        { $id: 'OrderLine', additionalProperties: false },
      ),
    ),
    freight,
    taxLines: Type.Array(TaxLine, {
      description: 'Sales taxes on top of the prices. Empty if the prices include tax.',
    }),
    total: Money('The amount due: lines, freight and taxes on top.', '38.25'),
    payments: Type.Array(
      Type.Object(
        { gateway, amount: paid, reference: Nullable(reference), voucherNumber: Nullable(voucherNumber) },
        { $id: 'OrderPayment', additionalProperties: false },
      ),
    ),
    placedAt: LocalTime('When the order was placed.'),
    readyAt: Nullable(LocalTime('When it became ready for collection.')),
    collectedAt: Nullable(LocalTime('When it was collected.')),
    updateTimeStamp: LocalTime('When the order last changed.'),
  },
  { $id: 'Order', additionalProperties: false },
)

/** Identifies an order by its ID or else its number, or by its number only. */
export type OrderName = { idOrNumber: string } | { number: string }

/** The lines of an order that a shipment or a cancellation is about. */
export type OrderLineSelection = NonNullable<CancellationInput['lines']>
export const orderLineSelection = Optional(
  Type.Array(
    Type.Object(
      {
        orderLineId: Id('The line of the order.', '1'),
        quantity: Optional(
          Type.Integer({ description: 'Default: all open units.', minimum: 1, maximum: 9_999, examples: [1] }),
        ),
      },
      { $id: 'OrderLineSelection', additionalProperties: false },
    ),
    { description: 'The lines. Default: all lines that are `processing`.', minItems: 1, maxItems: 200 },
  ),
)

export type CancellationInput = Static<typeof CancellationInput>
export const CancellationInput = Type.Object(
  { lines: orderLineSelection },
  { $id: 'CancellationInput', additionalProperties: false },
)

/** An order after a cancellation, with the amount that it gives back. */
export const Cancellation = Type.Object(
  { order: Order, refund: Refund },
  { $id: 'OrderCancellation', additionalProperties: false },
)
