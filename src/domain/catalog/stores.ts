import { type Static, Type } from '../../schemas/schemas.ts'
import { Address, addressColumns } from '../values/address.ts'
import { Id, Nullable, Text, ToldTime, Whole } from '../values/fields.ts'

const storeId = Id("The back office's identifier of the store.", '1001')
const storeNumber = Id('The number the retailer knows the store by; a string, zeros in front are kept.', '123')
const code = Text('A short code.', 'CBD', 50)
const name = Text('The name shoppers know.', 'Collins Street', 100)
const email = Text('E-mail address of the store.', 'collins.street@example.com')
const ecommerceLocationId = Text(
  'The location in the e-commerce platform; several stores may share one. Null where none is mapped.',
  '6884556842',
  100,
)
const inventoryBuffer = Whole('Units of each SKU held back from sale in this store.', 1, { minimum: 0 })

/** Contract 2. */
export type Store = Static<typeof Store>
export const Store = Type.Object(
  {
    storeId,
    storeNumber,
    code: Nullable(code),
    name,
    email: Nullable(email),
    address: Address,
    ecommerceLocationId: Nullable(ecommerceLocationId),
    inventoryBuffer: Nullable(inventoryBuffer),
  },
  { $id: 'Store', additionalProperties: false },
)

export const StoreRow = Type.Object({
  storeId,
  storeNumber,
  code: Type.Optional(code),
  name,
  email: Type.Optional(email),
  ...addressColumns,
  inventoryBuffer: Type.Optional(inventoryBuffer),
  ecommerceLocationId: Type.Optional(ecommerceLocationId),
  updateTimeStamp: Type.Optional(ToldTime()),
})

export const StoreMappingRow = Type.Object({
  storeId,
  ecommerceLocationId: Type.Optional(ecommerceLocationId),
})
