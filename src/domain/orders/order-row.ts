import { type TSchema, Type } from '../../schemas/schemas.ts'
import { OrderAddress } from '../values/address.ts'
import { CheckedCurrency, Id, Integer, LocalTime, Money, OneOf, Text } from '../values/fields.ts'
import { lineStatuses, orderNumber, quantity } from './orders.ts'
import { TransactionRow } from './transactions.ts'

const transactionColumns = TransactionRow.properties

/** Returns the columns of an address, such as `billingCity`. */
function buildAddressColumns<P extends string>(prefix: P) {
  const columns = Object.entries(OrderAddress.properties).map(([name, { anyOf }]) => [
    toAddressColumn(prefix, name),
    Type.Optional(anyOf[0]),
  ])
  return Object.fromEntries(columns) as Record<`${P}${string}`, TSchema>
}

export const addressFields = Object.keys(OrderAddress.properties) as (keyof OrderAddress)[]
export const toAddressColumn = (prefix: string, field: string) => `${prefix}${field[0]?.toUpperCase()}${field.slice(1)}`

/** Columns that are the same in all rows of an order. */
export const orderColumns = {
  id: Type.Optional(Id('The ID of the order in the API. Default: a new ID.', '8001')),
  customerId: Type.Optional(Id('The shopper.', '65432')),
  customerEmail: Type.Optional(
    Type.String({
      description: 'The email address of the shopper, instead of `customerId`.',
      format: 'email',
      maxLength: 254,
      examples: ['ann@example.com'],
    }),
  ),
  pickupStoreNumber: Type.Optional(Id('The store where the shopper collects the order.', '123')),
  placedAt: Type.Optional(LocalTime('When the order was placed.')),
  ...buildAddressColumns('billing'),
  ...buildAddressColumns('delivery'),
  freight: Type.Optional(Money('The delivery charge.', '9.95')),
  tax: Type.Optional(
    Money(
      'The sales tax on top of the prices. If lines and freight already equal `total`, the prices include it.',
      '0.00',
    ),
  ),
  taxName: Type.Optional(Text('The name of the tax. Default: `Tax`.', 'NY State Tax', 100)),
  orderDiscount: Type.Optional(
    Money('A discount of the whole order. It is spread over the lines in proportion to their values.', '0.00'),
  ),
  orderDiscountReason: Type.Optional(Text('The reason for it, such as a code.', 'SUMMER10', 100)),
  total: Type.Optional(Money('The amount due: lines, freight and tax on top.', '65.93')),
  orderRefunded: Type.Optional(
    Money('An amount refunded without its lines. It counts towards the lines, the first one first.', '0.00'),
  ),
  currency: Type.Optional(CheckedCurrency()),
}

const orderLine = {
  sequence: Type.Optional(
    Integer('The position of the line in the order. Default: the order of the rows.', 1, { minimum: 1 }),
  ),
  sku: transactionColumns.sku,
  skuId: transactionColumns.skuId,
  productCode: transactionColumns.productCode,
  productName: transactionColumns.productName,
  colourCode: transactionColumns.colourCode,
  colourName: transactionColumns.colourName,
  sizeCode: transactionColumns.sizeCode,
  quantity: Type.Optional(quantity),
  price: Type.Optional(Money('The price of one unit before discounts.', '29.99')),
  discountType: transactionColumns.discountType,
  discountReason: transactionColumns.discountReason,
  discountAmount: transactionColumns.discountAmount,
  discountPercentage: transactionColumns.discountPercentage,
  value: Type.Optional(Money('The amount paid for the line: price times quantity, minus the discount.', '25.99')),
  status: Type.Optional(OneOf('The status of the line.', lineStatuses)),
  returned: Type.Optional(Integer('Returned units.', 0, { minimum: 0 })),
  refunded: Type.Optional(Money('The amount refunded for them. Default: their share of the value.', '0.00')),
  storeNumber: Type.Optional(Id('The store that shipped the line and receives its returns.', '123')),
}

const orderPayment = {
  paymentGateway: Type.Optional(Id('The payment gateway.', 'paypal')),
  paymentAmount: Type.Optional(Money('The amount paid with the gateway.', '65.93')),
  paymentReference: Type.Optional(Text("The gateway's reference.", 'PAYID-MX2A7', 100)),
  paymentVoucher: Type.Optional(Id('The number of the gift voucher, if one paid.', '2062389')),
}

/** An import row: a line, a payment, or both. The columns of the order are repeated, or only in its first row. */
export const OrderRow = Type.Object({
  orderNumber,
  ...orderColumns,
  ...orderLine,
  ...orderPayment,
})
