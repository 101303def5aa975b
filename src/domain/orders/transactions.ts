import { type Static, Type } from '../../schemas/schemas.ts'
import {
  Currency,
  Id,
  LocalTime,
  Money,
  Nullable,
  Text,
  ToldTime,
  UnitPrice,
  Units,
  Whole,
  Words,
} from '../values/fields.ts'

const channels = ['store', 'headOffice', 'web'] as const
const transactionTypes = ['sale', 'layby', 'laybyUpdate', 'specialOrder', 'specialOrderUpdate'] as const

const id = Id("The back office's identifier of the transaction.", '13748')
const number = Text('The number printed on the receipt.', 'D10100000130', 50)
const orderNumber = Text('The order that was fulfilled by this sale.', 'W0000123', 50)
const channel = Words('Where it was sold; `headOffice` is telephone and mail.', channels)
const type = Words('What kind of transaction it is.', transactionTypes)
const saleDate = LocalTime('When it was sold.', '2024-05-26 00:00:00')
const customerId = Id('The shopper.', '65432')
const storeNumber = Id('The store that sold it.', '101')
const lineId = Id('The identifier of the line, unique in its transaction.', '15882')
const sequence = Whole('Where the line stands in the transaction.', 1)
const sku = Id('The e-commerce SKU.', 'MH01-XS-Black')
const productCode = Text('The style code.', 'MH01', 100)
const productName = Text('The name of the style when it was sold.', 'Chaz Kangeroo Hoodie')
const colourCode = Text('The code of the colour.', 'BLK', 50)
const colourName = Text('The name of the colour.', 'Black', 100)
const sizeCode = Text('The size.', 'XS', 50)
const quantity = Units(
  'Units sold, with up to three decimals where it is weighed or measured; negative for a return.',
  1,
)
const price = UnitPrice(
  "The price of one unit, before discounts: with the currency's decimals, or up to four where it is finer.",
  '29.99',
)
const value = Money('What was paid for the line; negative for a return.', '25.99')
const percent = (description: string, example: string) =>
  Type.String({ description, format: 'percent', pattern: '^\\d{1,3}(\\.\\d{1,4})?$', examples: [example] })
const taxPercent = percent('Tax, in per cent.', '10')
const discountType = Text('Why there was a discount.', 'loyalty', 50)
const discountReason = Text('The reason in words.', 'Gold member', 100)
const discountAmount = Money('The amount taken off.', '4.00')
const discountPercentage = percent('The same in per cent.', '13.34')

const TransactionLine = Type.Object(
  {
    id: lineId,
    sequence: Nullable(sequence),
    sku: Nullable(
      Type.String({
        description: 'The e-commerce SKU; null where the sold item is no longer known.',
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

/** Contract 5. */
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
    updateTimeStamp: LocalTime('When the record last changed.'),
  },
  { $id: 'RetailTransaction', additionalProperties: false },
)

/** One row a line; what the lines of one transaction share is repeated. */
export const TransactionRow = Type.Object({
  id,
  number: Type.Optional(number),
  orderNumber: Type.Optional(orderNumber),
  channel: Type.Optional(channel),
  type: Type.Optional(type),
  saleDate,
  customerId: Type.Optional(customerId),
  storeNumber: Type.Optional(storeNumber),
  lineId,
  sequence: Type.Optional(sequence),
  sku: Type.Optional(sku),
  skuId: Type.Optional(Id("The back office's own identifier of the SKU, instead of `sku`.", '12001')),
  productCode: Type.Optional(productCode),
  productName: Type.Optional(productName),
  colourCode: Type.Optional(colourCode),
  colourName: Type.Optional(colourName),
  sizeCode: Type.Optional(sizeCode),
  quantity,
  price,
  value: Type.Optional(value),
  taxPercent: Type.Optional(taxPercent),
  discountType: Type.Optional(discountType),
  discountReason: Type.Optional(discountReason),
  discountAmount: Type.Optional(discountAmount),
  discountPercentage: Type.Optional(discountPercentage),
  updateTimeStamp: Type.Optional(ToldTime('`saleDate` of a new transaction, else the time of the import')),
})
