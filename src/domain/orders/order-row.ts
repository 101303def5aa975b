import { type TSchema, Type } from '../../schemas/schemas.ts'
import { OrderAddress } from '../values/address.ts'
import { Id, LocalTime, Money, Text, Whole, Words } from '../values/fields.ts'
import { lineStatuses, orderNumber, quantity } from './orders.ts'
import { TransactionRow } from './transactions.ts'

const sold = TransactionRow.properties

/** The columns of an address: `billingCity` for the city of the billing address. */
function addressColumns<P extends string>(prefix: P) {
  const columns = Object.entries(OrderAddress.properties).map(([name, { anyOf }]) => [
    addressColumn(prefix, name),
    Type.Optional(anyOf[0]),
  ])
  return Object.fromEntries(columns) as Record<`${P}${string}`, TSchema>
}

export const addressFields = Object.keys(OrderAddress.properties) as (keyof OrderAddress)[]
export const addressColumn = (prefix: string, field: string) => `${prefix}${field[0]?.toUpperCase()}${field.slice(1)}`

/** What the rows of one order share. */
export const orderHeader = {
  id: Type.Optional(Id('The identifier by which callers know the order; one is made where none is named.', '8001')),
  customerId: Type.Optional(Id('The shopper.', '65432')),
  pickupStoreNumber: Type.Optional(Id('The store where the shopper collects the goods.', '123')),
  placedAt: Type.Optional(LocalTime('When it was placed.')),
  ...addressColumns('billing'),
  ...addressColumns('delivery'),
  freight: Type.Optional(Money('What the delivery costs.', '9.95')),
  total: Type.Optional(Money('What was due: the lines and the freight.', '65.93')),
}

/** What of a row is a line of the order. */
const orderLine = {
  sequence: Type.Optional(
    Whole('Where the line stands in the order; without it, as the lines come.', 1, { minimum: 1 }),
  ),
  sku: sold.sku,
  skuId: sold.skuId,
  productCode: sold.productCode,
  productName: sold.productName,
  colourCode: sold.colourCode,
  colourName: sold.colourName,
  sizeCode: sold.sizeCode,
  quantity: Type.Optional(quantity),
  price: Type.Optional(Money('The price of one unit, before discounts.', '29.99')),
  discountType: sold.discountType,
  discountReason: sold.discountReason,
  discountAmount: sold.discountAmount,
  discountPercentage: sold.discountPercentage,
  value: Type.Optional(Money('What was paid for the line: the price of the units less the discount.', '25.99')),
  status: Type.Optional(Words('Where the line stands.', lineStatuses)),
  returned: Type.Optional(Whole('Units that have come back so far.', 0, { minimum: 0 })),
  refunded: Type.Optional(Money('What was refunded for them; without it, their share of the value.', '0.00')),
  storeNumber: Type.Optional(Id('The store that it came from, and that gets back what is returned.', '123')),
}

/** What of a row is a payment of the order. */
const orderPayment = {
  paymentGateway: Type.Optional(Id('The payment gateway.', 'paypal')),
  paymentAmount: Type.Optional(Money('What was paid with it.', '65.93')),
  paymentReference: Type.Optional(Text("The gateway's reference.", 'PAYID-MX2A7', 100)),
  paymentVoucher: Type.Optional(Id('The number of the gift voucher, where one has paid.', '2062389')),
}

/** One row a line, or a payment, or both; what the rows of one order share is repeated, or stands in the first one. */
export const OrderRow = Type.Object({
  orderNumber,
  ...orderHeader,
  ...orderLine,
  ...orderPayment,
})
