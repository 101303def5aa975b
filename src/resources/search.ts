import { includesRole } from '../domain/accounts.ts'
import { SearchResult, searchTypes } from '../domain/search.ts'
import { Filter } from '../http/pagination/lists.ts'
import { get } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { searchRecords } from '../store/search/search.ts'

/** The search over all types of records. */
export const search = [
  get(
    '/search',
    {
      operationId: 'searchRecords',
      tag: 'Search',
      summary: 'Search all records',
      description:
        'Finds customers by words of their name or email address, or by the end of a phone number. Finds orders, receipts, returns, products and SKUs by the beginning of their number. Finds products by words of their name, SKUs by barcode, and vouchers by number. At most 20 results of each type. Reads stored records, so it works while the back office is down.',
      query: Type.Required(
        Type.Object({
          q: Filter(
            'The search text. Words are prefixes; all of them must occur. Case and accents are ignored.',
            'jane smi',
            100,
          ),
        }),
      ),
      response: Type.Array(SearchResult),
    },
    async ({ db, service, role, query: { q } }) => {
      const types = searchTypes.filter(type => type !== 'voucher' || includesRole(role, 'admin'))
      return { data: await searchRecords(db, service, types, q.trim()) }
    },
  ),
]
