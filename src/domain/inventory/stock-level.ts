import { type Static, Type } from '../../schemas/schemas.ts'
import { Id, Integer, LocalTime, Nullable, OneOf, SourceTimestamp, Text, Units } from '../values/fields.ts'

const sku = Id('The e-commerce SKU.', 'MH01-XS-Black')
const skuId = Id("The back office's own ID of the SKU.", '12001')
const storeId = Id("The back office's ID of the store.", '1001')
const storeNumber = Id("The store's number.", '123')
const freeStock = Units(
  'The free stock in the back office, with up to three decimals for weighed or measured goods. It can be negative.',
  30,
)
const buffer = Integer(
  'Units that are not sold online: the buffer of the SKU at the store, otherwise of the store, otherwise of the service, otherwise 0.',
  1,
  { minimum: 0 },
)

/** The stock of a SKU at a store. */
export type StockLevel = Static<typeof StockLevel>
export const StockLevel = Type.Object(
  {
    id: Type.String({ description: 'The store ID and the SKU.', examples: ['1001-MH01-XS-Black'] }),
    sku,
    skuId,
    storeId,
    storeNumber,
    storeName: Text('The name of the store.', 'Collins Street', 100),
    ecommerceLocationId: Nullable(Text('The mapped location of the store.', '6884556842', 100)),
    freeStock,
    buffer,
    sellable: Units(
      'Units that can be sold online: the free stock minus the buffer, `reserved` and `allocated`, at least 0.',
      26,
      { minimum: 0 },
    ),
    reserved: Integer('Units of reservations that have not expired.', 1, { minimum: 0 }),
    allocated: Integer('Units of orders that are not shipped and that `freeStock` still contains.', 2, { minimum: 0 }),
    updateTimeStamp: LocalTime('When the record last changed.'),
    explanation: Type.Optional(
      Type.Object(
        {
          bufferFrom: OneOf('The level that sets `buffer`.', ['sku', 'store', 'service']),
          unshipped: OneOf(
            '`excluded`: the source still counts the units of unshipped orders in `freeStock`, so `allocated` is subtracted. `included`: it has taken them off.',
            ['excluded', 'included'],
          ),
          sourceTimeStamp: Nullable(
            LocalTime('When `freeStock` and the buffer of the SKU last changed in their source, or were written.'),
          ),
        },
        {
          $id: 'StockExplanation',
          description: 'Only with `explain=true`: the origin of the numbers.',
          additionalProperties: false,
        },
      ),
    ),
  },
  { $id: 'StockLevel', additionalProperties: false },
)

export const StockRow = Type.Object({
  storeNumber,
  sku: Type.Optional(sku),
  skuId: Type.Optional(skuId),
  freeStock,
  buffer: Type.Optional(buffer),
  updateTimeStamp: Type.Optional(SourceTimestamp()),
})
