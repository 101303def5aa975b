import { Type } from '../../schemas/schemas.ts'
import { Id, Text } from '../values/fields.ts'

const cell = (description: string, example: string, maxLength?: number) =>
  Type.Optional(Text(description, example, maxLength))

/** A location of the e-commerce platform; where a file has one in many lines, it is one. */
export const EcommerceLocationRow = Type.Object({
  locationId: cell('The identifier, which stores are mapped to. Without it: the name.', '6884556842', 100),
  name: Id('What it is called.', 'Collins Street'),
})

/** A variant of a product of the e-commerce platform. */
export const EcommerceVariantRow = Type.Object({
  sku: Id('The SKU, which SKUs are mapped to.', 'MH01-XS-Black'),
  barcode: cell('The barcode.', '9300000000001', 100),
  handle: cell('The product.', 'chaz-kangeroo-hoodie'),
  option1: cell('The value of its first option.', 'Black'),
  option2: cell('The value of its second option.', 'XS'),
  option3: cell('The value of its third option.', 'Cotton'),
})

/** A customer of the e-commerce platform. */
export const EcommerceCustomerRow = Type.Object({
  customerId: Id('The identifier, which customers are mapped to.', '6477890125896'),
  email: cell('The e-mail address.', 'john.smith@example.com'),
})
