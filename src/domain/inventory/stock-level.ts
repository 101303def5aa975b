import { type Static, Type } from '../../schemas/schemas.ts'
import { Id, LocalTime, Nullable, Text, ToldTime, Whole } from '../values/fields.ts'

const sku = Id('The e-commerce SKU.', 'MH01-XS-Black')
const skuId = Id("The back office's own identifier of the SKU.", '12001')
const storeId = Id("The back office's identifier of the store.", '1001')
const storeNumber = Id("The store's number.", '123')
const freeStock = Whole("The back office's figure; it may be negative.", 30)
const buffer = Whole(
  'Units held back: the figure for the SKU at the store, else the store, else the service, else 0.',
  1,
  { minimum: 0 },
)

/** Contract 3. */
export type StockLevel = Static<typeof StockLevel>
export const StockLevel = Type.Object(
  {
    id: Type.String({ description: 'Store and SKU.', examples: ['1001-MH01-XS-Black'] }),
    sku,
    skuId,
    storeId,
    storeNumber,
    storeName: Text('The name of the store.', 'Collins Street', 100),
    ecommerceLocationId: Nullable(Text('The location the store is mapped to.', '6884556842', 100)),
    freeStock,
    buffer,
    sellable: Whole('What may be sold: the free stock less the buffer, never below 0.', 29, { minimum: 0 }),
    updateTimeStamp: LocalTime('When the record last changed.'),
  },
  { $id: 'StockLevel', additionalProperties: false },
)

export const StockRow = Type.Object({
  storeNumber,
  sku: Type.Optional(sku),
  skuId: Type.Optional(skuId),
  freeStock,
  buffer: Type.Optional(buffer),
  updateTimeStamp: Type.Optional(ToldTime()),
})
