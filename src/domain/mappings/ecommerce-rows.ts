import { Type } from '../../schemas/schemas.ts'
import { Id, Text } from '../values/fields.ts'

const cell = (description: string, example: string, maxLength?: number) =>
  Type.Optional(Text(description, example, maxLength))

/** A location of the e-commerce platform. A file can have it in several lines. */
export const EcommerceLocationRow = Type.Object({
  locationId: cell('The ID that stores are mapped to. Default: the name.', '6884556842', 100),
  name: Id('The name of the location.', 'Collins Street'),
})

/** A variant of a product of the e-commerce platform. */
export const EcommerceVariantRow = Type.Object({
  sku: Id('The SKU that SKUs are mapped to.', 'MH01-XS-Black'),
  barcode: cell('The barcode.', '9300000000001', 100),
  handle: cell('The handle of the product.', 'chaz-kangeroo-hoodie'),
  option1: cell('The value of the first option.', 'Black'),
  option2: cell('The value of the second option.', 'XS'),
  option3: cell('The value of the third option.', 'Cotton'),
})

/** A customer of the e-commerce platform. */
export const EcommerceCustomerRow = Type.Object({
  customerId: Id('The ID that customers are mapped to.', '6477890125896'),
  email: cell('The email address.', 'john.smith@example.com'),
})
