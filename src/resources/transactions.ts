import { RetailTransaction } from '../domain/orders/transactions.ts'
import { findInvertedRange, TimestampParameter, updatedAfter } from '../http/pagination/lists.ts'
import { get, list } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { transactionPage, transactionRecord } from '../store/orders/transactions.ts'

/** The parameters of a range of sale dates. */
export const soldBetween = {
  sold_after: TimestampParameter('Only what was sold later than this.'),
  sold_before: TimestampParameter('Only what was sold earlier than this.'),
}

/** The fault of a range of sale dates whose ends are the wrong way round. */
export const faultsOfSold = (query: { sold_after?: string; sold_before?: string }) =>
  findInvertedRange('sold', query.sold_after, query.sold_before)

/** Contract 5. */
export const transactions = [
  list(
    '/orders/transactions/search',
    {
      operationId: 'searchTransactions',
      sync: 'transactions',
      needs: 'transactions',
      tag: 'Retail transactions',
      summary: 'Search transactions',
      description:
        'With `asc` by sale date, the oldest first (`true`) or the newest (`false`). Without it by change where `updated_after` is given, else the newest sale first. Ties by id. A return is a line with negative quantity and value. Where a range of changes is asked for in the order of sales, or the other way round, a page may hold less than `limit`, even nothing, while `hasNextPage` is true.',
      query: Type.Object({
        updated_after: updatedAfter,
        updated_before: TimestampParameter('Only what has changed earlier than this.'),
        ...soldBetween,
        asc: Type.Optional(
          Type.Boolean({ description: 'Whether the oldest sale comes first, or the newest.', examples: [true] }),
        ),
      }),
      item: RetailTransaction,
      errors: ['date_range_inverted'],
      judge: query => [
        ...findInvertedRange('updated', query.updated_after, query.updated_before),
        ...faultsOfSold(query),
      ],
    },
    async ({ db, service, query }, asked) => {
      const filters = {
        updatedAfter: query.updated_after,
        updatedBefore: query.updated_before,
        soldAfter: query.sold_after,
        soldBefore: query.sold_before,
        ascending: query.asc,
      }
      const page = await transactionPage(db, service, filters, asked)
      return { page, asOf: completeTo(page.asOf, query.updated_before) }
    },
  ),

  get(
    '/transactions/:id',
    {
      operationId: 'getTransaction',
      tag: 'Retail transactions',
      summary: 'Get a transaction',
      description: 'A sale or a return, in a store or on the web.',
      params: { id: { description: 'The transaction.', example: '13748' } },
      answer: RetailTransaction,
      kind: 'retail transaction',
      etag: true,
    },
    ({ db, service, params }) => transactionRecord(db, service, params.id),
  ),
]

/** The moment up to which a list is complete whose changes are earlier than another: what changed at that very moment is for the next poll. */
function completeTo(asOf: string, before = asOf): string {
  if (before >= asOf) return asOf
  return Temporal.Instant.from(before).subtract({ microseconds: 1 }).toString({ fractionalSecondDigits: 6 })
}
