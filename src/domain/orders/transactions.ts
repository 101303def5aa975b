import { type Static, Type } from '../../schemas/schemas.ts'
import {
  CheckedCurrency,
  Currency,
  Id,
  Integer,
  LocalTime,
  Money,
  Nullable,
  OneOf,
  SourceTimestamp,
  Text,
  UnitPrice,
  Units,
} from '../values/fields.ts'
import { TaxLine } from './tax.ts'
import { carrier, trackingNumber, trackingUrl } from './tracking.ts'

const channels = ['store', 'headOffice', 'web'] as const
const transactionTypes = ['sale', 'layby', 'laybyUpdate', 'specialOrder', 'specialOrderUpdate'] as const

const id = Id("The back office's ID of the transaction.", '13748')
const number = Text('The number printed on the receipt.', 'D10100000130', 50)
const orderNumber = Text('The number of the order that this sale fulfilled.', 'W0000123', 50)
const channel = OneOf('The sales channel. `headOffice` is telephone and mail order.', channels)
const type = OneOf('The type of transaction.', transactionTypes)
const saleDate = LocalTime('When the sale was made.', '2024-05-26 00:00:00')
const customerId = Id('The shopper.', '65432')
const storeNumber = Id('The store that sold it.', '101')
const lineId = Id('The ID of the line, unique in its transaction.', '15882')
const sequence = Integer('The position of the line in the transaction.', 1)
const sku = Id('The e-commerce SKU.', 'MH01-XS-Black')
const productCode = Text('The style code.', 'MH01', 100)
const productName = Text('The name of the style when it was sold.', 'Chaz Kangeroo Hoodie')
const colourCode = Text('The code of the colour.', 'BLK', 50)
const colourName = Text('The name of the colour.', 'Black', 100)
const sizeCode = Text('The size.', 'XS', 50)
const quantity = Units('Units sold, with up to three decimals for weighed or measured goods. Negative for a return.', 1)
const price = UnitPrice(
  "The price of one unit before discounts, with the currency's decimals, or up to four if it is finer.",
  '29.99',
)
const value = Money('The amount paid for the line. Negative for a return.', '25.99')
const percent = (description: string, example: string) =>
  Type.String({ description, format: 'percent', pattern: '^\\d{1,3}(\\.\\d{1,4})?$', examples: [example] })
const taxPercent = percent('The tax rate in per cent.', '10')
const discountType = Text('The type of discount.', 'loyalty', 50)
const discountReason = Text('The reason for the discount.', 'Gold member', 100)
const discountAmount = Money('The amount of the discount.', '4.00')
const discountPercentage = percent('The discount in per cent.', '13.34')

const TransactionLine = Type.Object(
  {
    id: lineId,
    sequence: Nullable(sequence),
    sku: Nullable(
      Type.String({
        description: 'The e-commerce SKU. Null if the sold item no longer exists.',
        examples: ['MH01-XS-Black'],
      }),
    ),
    productCode: Nullable(productCode),
    productName: Nullable(productName),
    colourCode: Nullable(colourCode),
    colourName: Nullable(colourName),
    sizeCode: Nullable(sizeCode),
    quantity,
    price,
    value,
    taxPercent: Nullable(taxPercent),
    discounts: Type.Array(
      Type.Object(
        {
          type: discountType,
          reason: Nullable(discountReason),
          amount: discountAmount,
          percentage: Nullable(discountPercentage),
        },
        { $id: 'TransactionDiscount', additionalProperties: false },
      ),
    ),
  },
  { $id: 'TransactionLine', additionalProperties: false },
)

/** A sale or return with its lines. */
export type RetailTransaction = Static<typeof RetailTransaction>
export const RetailTransaction = Type.Object(
  {
    id,
    number: Nullable(number),
    orderNumber: Nullable(orderNumber),
    channel,
    type,
    saleDate,
    customerId: Nullable(customerId),
    storeNumber: Nullable(storeNumber),
    storeName: Nullable(Text('The name of the store when it was sold.', 'Collins Street', 100)),
    currency: Currency,
    total: Money('The sum of the lines.', '25.99'),
    lines: Type.Array(TransactionLine),
    taxLines: Type.Optional(
      Type.Array(TaxLine, {
        description: 'Sales taxes on top of `total`. Absent if the prices include tax, or if the source has no taxes.',
      }),
    ),
    carrier: Type.Optional(carrier),
    trackingNumber: Type.Optional(trackingNumber),
    trackingUrl: Type.Optional(trackingUrl),
    updateTimeStamp: LocalTime('When the record last changed.'),
  },
  { $id: 'RetailTransaction', additionalProperties: false },
)

/** An import row: one line of a transaction. The fields of the transaction are repeated in each row. */
export const TransactionRow = Type.Object({
  id,
  number: Type.Optional(number),
  orderNumber: Type.Optional(orderNumber),
  channel: Type.Optional(channel),
  type: Type.Optional(type),
  saleDate,
  customerId: Type.Optional(customerId),
  storeNumber: Type.Optional(storeNumber),
  carrier: Type.Optional(carrier),
  trackingNumber: Type.Optional(trackingNumber),
  trackingUrl: Type.Optional(trackingUrl),
  lineId,
  sequence: Type.Optional(sequence),
  sku: Type.Optional(sku),
  skuId: Type.Optional(Id("The back office's own ID of the SKU, instead of `sku`.", '12001')),
  productCode: Type.Optional(productCode),
  productName: Type.Optional(productName),
  colourCode: Type.Optional(colourCode),
  colourName: Type.Optional(colourName),
  sizeCode: Type.Optional(sizeCode),
  quantity,
  price,
  value: Type.Optional(value),
  taxPercent: Type.Optional(taxPercent),
  total: Type.Optional(Money('The sum of the lines of the transaction, which is checked but not stored.', '25.99')),
  tax: Type.Optional(Money('The sales tax on top of the lines, of the whole transaction.', '0.83')),
  taxName: Type.Optional(Text('The name of the tax. Default: `Tax`.', 'NY State Tax', 100)),
  currency: Type.Optional(CheckedCurrency()),
  discountType: Type.Optional(discountType),
  discountReason: Type.Optional(discountReason),
  discountAmount: Type.Optional(discountAmount),
  discountPercentage: Type.Optional(discountPercentage),
  updateTimeStamp: Type.Optional(SourceTimestamp('`saleDate` for a new transaction, otherwise the time of the import')),
})
