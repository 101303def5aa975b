import { type Static, Type } from '../../schemas/schemas.ts'
import { Currency, Id, LocalTime, Money, Nullable, Text, ToldTime, Whole, Words } from '../values/fields.ts'
import { References, referencePairs } from './references.ts'

const productId = Id("The back office's identifier of the product.", '5001')
const productCode = Id('The style code.', 'MH01')
const productName = Text('The name of the style.', 'Chaz Kangeroo Hoodie')
const description = Text('A description; plain text or HTML, as the back office has it.', 'A cosy hoodie.', 20_000)
const sizeRange = Text('The sizes made, in words.', 'XS-XL', 100)
const colourId = Id("The back office's identifier of the colour of this product.", '6101')
const colourCode = Text('The code of the colour.', 'BLK', 50)
const colourName = Text('The name of the colour.', 'Black', 100)
const ecommerceProductId = Text(
  'The product in the e-commerce platform that this colour is sold as.',
  '1234567890',
  100,
)
const markdownStatus = Words('Whether the colour is marked down.', ['none', 'markdown', 'clearance'])
const skuId = Id("The back office's own identifier of the colour/size.", '12001')
const sku = Id('The e-commerce SKU of the colour/size: what `sku` means throughout this API.', 'MH01-XS-Black')
const sizeCode = Text('The size.', 'XS', 50)
const sequence = Whole('Where the size stands among its sisters.', 1)
const originalPrice = Money('The price before any markdown.', '52.00')
const price = Money('The price now.', '52.00')
const barcode = Text('The barcode.', '9300000000001', 50)

const Size = Type.Object(
  {
    skuId,
    sizeCode,
    sequence: Nullable(sequence),
    originalPrice,
    price,
    barcode: Nullable(barcode),
    ecommerceSku: sku,
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

/** Contract 3. */
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

/** One row a colour/size; what the rows of one product share is repeated. */
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
  barcode: Type.Optional(barcode),
  updateTimeStamp: Type.Optional(ToldTime()),
})

export const SkuMappingRow = Type.Object({ skuId, ecommerceSku: sku })
