import { type Static, Type } from '../../schemas/schemas.ts'
import { Address, addressColumns } from '../values/address.ts'
import { Id, Integer, Nullable, OneOf, SourceTimestamp, Text } from '../values/fields.ts'

const storeId = Id("The back office's ID of the store.", '1001')
const storeNumber = Id(
  "The retailer's number of the store. A string, so leading zeros are kept. A location without a number has its `storeId` here.",
  '123',
)
export const storeKinds = ['store', 'warehouse', 'web'] as const
export type StoreKind = (typeof storeKinds)[number]
const kind = OneOf(
  '`store`: a shop. `warehouse`: a location without a shop. `web`: a web store, which groups the stock of other locations.',
  storeKinds,
)
const code = Text('A short code.', 'CBD', 50)
const name = Text('The name of the store.', 'Collins Street', 100)
const email = Text('The email address of the store.', 'collins.street@example.com')
const ecommerceLocationId = Text(
  'The mapped location in the e-commerce platform. Several stores can share one. Null if the store is not mapped.',
  '6884556842',
  100,
)
const inventoryBuffer = Integer('Units of each SKU that are not sold online from this store.', 1, { minimum: 0 })

/** A location that has stock to sell, with its address and inventory buffer. */
export type Store = Static<typeof Store>
export const Store = Type.Object(
  {
    storeId,
    storeNumber,
    kind,
    code: Nullable(code),
    name,
    email: Nullable(email),
    address: Address,
    ecommerceLocationId: Nullable(ecommerceLocationId),
    inventoryBuffer: Nullable(inventoryBuffer),
  },
  { $id: 'Store', additionalProperties: false },
)

export const StoreChange = Type.Object(
  {
    inventoryBuffer: Nullable(
      Type.Integer({
        description:
          "Units of each SKU that are not sold online from this store. Null: the service's buffer applies. A buffer of a SKU at the store overrides it.",
        minimum: 0,
        maximum: 1_000_000,
        examples: [1],
      }),
    ),
  },
  { $id: 'StoreChange', additionalProperties: false },
)

export const StoreRow = Type.Object({
  storeId,
  storeNumber,
  kind: Type.Optional(kind),
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
