import { type Static, Type } from '../../schemas/schemas.ts'
import {
  CheckedCurrency,
  Currency,
  Flag,
  Id,
  Integer,
  LocalDate,
  LocalTime,
  Money,
  Nullable,
  OneOf,
  SourceTimestamp,
  Text,
} from '../values/fields.ts'
import { References, referencePairs } from './references.ts'

const productId = Id("The back office's ID of the product.", '5001')
const productCode = Id('The style code.', 'MH01')
const productName = Text('The name of the style.', 'Chaz Kangeroo Hoodie')
const description = Text('The description, as plain text or HTML.', 'A cosy hoodie.', 20_000)
const sizeRange = Text('The range of sizes.', 'XS-XL', 100)
const colourId = Id("The back office's ID of the colour, unique in its product.", '6101')
const colourCode = Text('The code of the colour.', 'BLK', 50)
const colourName = Text('The name of the colour.', 'Black', 100)
const ecommerceProductId = Text(
  'The ID of the product in the e-commerce platform that sells this colour.',
  '1234567890',
  100,
)
const markdownStatus = OneOf('The markdown status of the colour.', ['none', 'markdown', 'clearance'])
const skuId = Id("The back office's own ID of the SKU (colour and size).", '12001')
const sku = Id('The e-commerce SKU (colour and size). It is the `sku` of all other operations.', 'MH01-XS-Black')
const sizeCode = Text('The size.', 'XS', 50)
const sequence = Integer('The position of the size in its colour.', 1)
const originalPrice = Money('The price before any markdown.', '52.00')
const price = Money('The current price.', '52.00')
const barcode = Text('The barcode.', '9300000000001', 50)
const allowBackorder = Flag('True if orders can exceed the units that can be sold, even if `oversell` is `refuse`.')
const preorderDate = LocalDate('The day from which a preordered SKU is delivered.', '2027-03-01')

const Size = Type.Object(
  {
    skuId,
    sizeCode,
    sequence: Nullable(sequence),
    originalPrice,
    price,
    barcode: Nullable(barcode),
    allowBackorder,
    preorderDate: Nullable(preorderDate),
    ecommerceSku: sku,
    priceChanges: Type.Array(
      Type.Object(
        { from: LocalDate('The first day of the price.', '2026-12-26'), price },
        { $id: 'PriceChange', additionalProperties: false },
      ),
      {
        description: 'Coming prices, earliest first. Always empty if the capability `priceChanges` is not available.',
      },
    ),
  },
  { $id: 'ProductSize', additionalProperties: false },
)

const Colour = Type.Object(
  {
    id: colourId,
    code: Nullable(colourCode),
    name: Nullable(colourName),
    ecommerceProductId: Nullable(ecommerceProductId),
    markdownStatus,
    sizes: Type.Array(Size),
  },
  { $id: 'ProductColour', additionalProperties: false },
)

/** A product with its colours and sizes. */
export type Product = Static<typeof Product>
export const Product = Type.Object(
  {
    id: productId,
    productCode,
    name: productName,
    description: Nullable(description),
    sizeRange: Nullable(sizeRange),
    currency: Currency,
    references: References,
    colours: Type.Array(Colour),
    updateTimeStamp: LocalTime('When the record last changed.'),
  },
  { $id: 'Product', additionalProperties: false },
)

/** An import row: one SKU. The fields of the product are repeated in each row. */
export const ProductRow = Type.Object({
  productId,
  productCode,
  name: productName,
  description: Type.Optional(description),
  sizeRange: Type.Optional(sizeRange),
  references: Type.Optional(referencePairs),
  colourId,
  colourCode: Type.Optional(colourCode),
  colourName: Type.Optional(colourName),
  ecommerceProductId: Type.Optional(ecommerceProductId),
  markdownStatus: Type.Optional(markdownStatus),
  skuId,
  sku: Type.Optional(sku),
  sizeCode,
  sequence: Type.Optional(sequence),
  originalPrice: Type.Optional(originalPrice),
  price,
  currency: Type.Optional(CheckedCurrency()),
  barcode: Type.Optional(barcode),
  allowBackorder: Type.Optional(allowBackorder),
  preorderDate: Type.Optional(preorderDate),
  updateTimeStamp: Type.Optional(SourceTimestamp()),
})

export const SkuMappingRow = Type.Object({ skuId, ecommerceSku: sku })
