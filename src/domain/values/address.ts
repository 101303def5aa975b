import { type Static, Type } from '../../schemas/schemas.ts'
import { Nullable, Text } from './fields.ts'

const line1 = Text('Street and number.', '111 Collins St', 50)
const line2 = Text('Floor, unit or building.', 'Level 5', 50)
const city = Text('City or suburb.', 'Melbourne', 50)
const state = Text('State, province or county.', 'VIC', 50)
export const postcode = Type.String({
  description: 'Post code.',
  maxLength: 10,
  format: 'postcode',
  examples: ['3000'],
})
const country = Text('Country.', 'Australia', 50)

export type Address = Static<typeof Address>
export const Address = Type.Object(
  {
    addressLine1: Nullable(line1),
    addressLine2: Nullable(line2),
    city: Nullable(city),
    state: Nullable(state),
    postcode: Nullable(postcode),
    country: Nullable(country),
  },
  { $id: 'Address', additionalProperties: false },
)

/** The addressee of an order's or voucher's address. Customers' addresses have none. */
export const addressee = {
  contactName: Nullable(Text('The contact person.', 'Jane Smith', 50)),
  companyName: Nullable(Text('The company.', 'Luma Pty Ltd', 50)),
}

export type OrderAddress = Static<typeof OrderAddress>
export const OrderAddress = Type.Object(
  { ...addressee, ...Address.properties },
  { $id: 'OrderAddress', additionalProperties: false },
)

export const addressColumns = {
  addressLine1: Type.Optional(line1),
  addressLine2: Type.Optional(line2),
  city: Type.Optional(city),
  state: Type.Optional(state),
  postcode: Type.Optional(postcode),
  country: Type.Optional(country),
}
