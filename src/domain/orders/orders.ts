import { type Static, Type } from '../../schemas/schemas.ts'
import { addressee, OrderAddress } from '../values/address.ts'
import { notBlank, notPadded } from '../values/characters.ts'
import { Currency, Id, LocalTime, Money, Nullable, Optional, Text, Whole, Words } from '../values/fields.ts'
import { Discount, DiscountInput } from './discounts.ts'

export const lineStatuses = ['processing', 'shipped', 'cancelled', 'returned'] as const
export type LineStatus = (typeof lineStatuses)[number]

/** The steps of a line: which status each leads from, and to which. A line is `returned` once all of it is. */
export const lineSteps = {
  ship: { from: 'processing', to: 'shipped' },
  cancel: { from: 'processing', to: 'cancelled' },
  return: { from: 'shipped', to: 'returned' },
  cancelReturn: { from: 'returned', to: 'shipped' },
} as const satisfies Record<string, { from: LineStatus; to: LineStatus }>

export const orderNumber = Type.String({
  description: 'The number of the order, unique in the service.',
  minLength: 1,
  maxLength: 30,
  pattern: notPadded,
  examples: ['W0000123'],
})
const customerId = Id('The shopper.', '65432')
const orderedBy = Id('The shopper; null once they were erased.', '65432')
const pickupStoreNumber = Id('The store where the shopper collects the goods.', '123')
const sku = Id('The e-commerce SKU.', 'MH01-XS-Black')
export const quantity = Type.Integer({ description: 'Units sold.', minimum: 1, maximum: 9_999, examples: [1] })
const freight = Money('What the delivery costs.', '9.95')
const gateway = Id('The payment gateway, as `GET /payment-gateways` names it.', 'paypal')
const paid = Money('What is paid with it.', '35.94')
const reference = Text("The gateway's reference.", 'PAYID-MX2A7', 100)
const voucherNumber = Id('The number of the gift voucher that pays.', '2062389')

const line = (text: string, example: string, maxLength = 50) =>
  Type.String({ description: text, minLength: 1, maxLength, pattern: notBlank, examples: [example] })
const optional = (text: string, example: string, maxLength = 50) => Optional(Text(text, example, maxLength))

/** An address that something can be sent to. */
const PostalAddress = Type.Object(
  {
    contactName: Type.Optional(addressee.contactName),
    companyName: Type.Optional(addressee.companyName),
    addressLine1: line('Street and number.', '111 Collins St'),
    addressLine2: optional('Floor, unit or building.', 'Level 5'),
    city: line('City or suburb.', 'Melbourne'),
    state: optional('State, province or county.', 'VIC'),
    postcode: optional('Post code.', '3000', 10),
    country: line('Country.', 'Australia'),
  },
  { $id: 'PostalAddress', additionalProperties: false },
)

/** What an order is made of (contract 6). */
export type OrderInput = Static<typeof OrderInput>
export const OrderInput = Type.Object(
  {
    orderNumber: Optional(orderNumber),
    customerId,
    pickupStoreNumber: Optional(pickupStoreNumber),
    billingAddress: PostalAddress,
    deliveryAddress: PostalAddress,
    lines: Type.Array(
      Type.Object(
        {
          sku,
          quantity,
          price: Optional(Money('The price of one unit. It is worked out again, and has to be the same.', '29.99')),
          discounts: Optional(
            Type.Array(DiscountInput, { description: 'What is taken off; no more than the line costs.', maxItems: 20 }),
          ),
        },
        { $id: 'OrderLineInput', additionalProperties: false },
      ),
      { description: 'What is bought.', minItems: 1, maxItems: 200 },
    ),
    freight: Optional(freight),
    payments: Type.Array(
      Type.Object(
        {
          gateway,
          amount: Money('What is paid with it.', '39.94'),
          reference: Optional(reference),
          voucher: Optional(
            Type.Object(
              {
                number: voucherNumber,
                validationId: Type.String({
                  description: 'The `validationId` that `POST /vouchers/validate` gave.',
                  minLength: 1,
                  maxLength: 100,
                  examples: ['3f1c9a52-6a0e-4c57-9d0f-2b7d3c1a8e44'],
                }),
              },
              {
                $id: 'VoucherPayment',
                description: 'The gift voucher that this payment draws from.',
                additionalProperties: false,
              },
            ),
          ),
        },
        { $id: 'OrderPaymentInput', additionalProperties: false },
      ),
      { description: 'How it is paid: together exactly what is due.', maxItems: 20 },
    ),
  },
  { $id: 'OrderInput', additionalProperties: false },
)

export type Order = Static<typeof Order>
export const Order = Type.Object(
  {
    id: Id('The identifier of the order.', '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91'),
    orderNumber,
    customerId: Nullable(orderedBy),
    pickupStoreNumber: Nullable(pickupStoreNumber),
    billingAddress: OrderAddress,
    deliveryAddress: OrderAddress,
    currency: Currency,
    lines: Type.Array(
      Type.Object(
        {
          id: Id('The identifier of the line, unique in its order.', '1'),
          sequence: Whole('Where the line stands in the order.', 1),
          sku,
          productCode: Text('The style code.', 'MH01', 100),
          productName: Text('The name of the style when it was sold.', 'Chaz Kangeroo Hoodie'),
          colourCode: Nullable(Text('The code of the colour.', 'BLK', 50)),
          colourName: Nullable(Text('The name of the colour.', 'Black', 100)),
          sizeCode: Text('The size.', 'XS', 50),
          quantity,
          returned: Whole('Units that came back, or are about to.', 0, { minimum: 0 }),
          price: Money('The price of one unit, before discounts.', '29.99'),
          discounts: Type.Array(Discount),
          value: Money('What was paid for the line.', '25.99'),
          status: Words('Where the line stands; `returned` once all of it is.', lineStatuses),
        },
        { $id: 'OrderLine', additionalProperties: false },
      ),
    ),
    freight,
    total: Money('What was due: the lines and the freight.', '35.94'),
    payments: Type.Array(
      Type.Object(
        { gateway, amount: paid, reference: Nullable(reference), voucherNumber: Nullable(voucherNumber) },
        { $id: 'OrderPayment', additionalProperties: false },
      ),
    ),
    placedAt: LocalTime('When it was placed.'),
    updateTimeStamp: LocalTime('When it last changed.'),
  },
  { $id: 'Order', additionalProperties: false },
)

/** Identifies an order by its ID or else its number, or by its number only. */
export type OrderName = { idOrNumber: string } | { number: string }
