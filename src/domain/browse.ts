import { type Static, Type } from '../schemas/schemas.ts'
import { Count, Nullable, Text } from './values/fields.ts'

/** The tables that `GET /browse` reads. */
export const browsedLists = [
  'orders',
  'sales',
  'returns',
  'customers',
  'products',
  'stock',
  'vouchers',
  'stores',
  'staff',
  'storeMappings',
  'skuMappings',
  'customerMappings',
] as const
export type BrowsedList = (typeof browsedLists)[number]

/** The tables that need the role `admin`. */
export const adminLists: readonly BrowsedList[] = ['vouchers', 'storeMappings', 'skuMappings', 'customerMappings']

/** The rows of a table from an offset, and the number of rows that match. */
export type BrowsedRows = Static<typeof BrowsedRows>
export const BrowsedRows = Type.Object(
  {
    total: Nullable(Count('The number of rows that match. Null if there are more than 100,000.', 1_204)),
    timeZone: Text('The time zone of the service.', 'Australia/Sydney', 100),
    rows: Type.Array(
      Type.Record(
        Type.String(),
        Nullable(
          Type.Union([
            Type.String({ examples: ['W0000123'] }),
            Type.Number({ examples: [3] }),
            Type.Boolean({ examples: [true] }),
          ]),
        ),
        {
          description: 'The values of a row by column. Times are in the time zone of the service.',
        },
      ),
    ),
  },
  { $id: 'BrowsedRows', additionalProperties: false },
)

/** The largest offset. To reach later rows, clients filter or sort the table. */
export const maxOffset = 100_000
