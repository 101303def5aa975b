import { type Static, Type } from '../../schemas/schemas.ts'
import { Address, addressColumns } from '../values/address.ts'
import { Id, Integer, Nullable, SourceTimestamp, Text } from '../values/fields.ts'

const storeId = Id("The back office's ID of the store.", '1001')
const storeNumber = Id("The retailer's number of the store. A string, so leading zeros are kept.", '123')
const code = Text('A short code.', 'CBD', 50)
const name = Text('The name of the store.', 'Collins Street', 100)
const email = Text('The email address of the store.', 'collins.street@example.com')
const ecommerceLocationId = Text(
  'The mapped location in the e-commerce platform. Several stores can share one. Null if the store is not mapped.',
  '6884556842',
  100,
)
const inventoryBuffer = Integer('Units of each SKU that are not sold online from this store.', 1, { minimum: 0 })

/** A store with its address and inventory buffer. */
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
  updateTimeStamp: Type.Optional(SourceTimestamp()),
})

export const StoreMappingRow = Type.Object({
  storeId,
  ecommerceLocationId: Type.Optional(ecommerceLocationId),
})
