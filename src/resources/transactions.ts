import { RetailTransaction } from '../domain/orders/transactions.ts'
import { findInvertedRange, TimestampParameter, updatedAfterParameter } from '../http/pagination/lists.ts'
import { get, list } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { findTransaction, readTransactionPage } from '../store/orders/transactions.ts'

/** The parameters of a range of sale dates. */
export const soldBetween = {
  sold_after: TimestampParameter('Only transactions sold later than this.'),
  sold_before: TimestampParameter('Only transactions sold earlier than this.'),
}

/** Returns an error if the range of sale dates is inverted. */
export const validateSoldRange = (query: { sold_after?: string; sold_before?: string }) =>
  findInvertedRange('sold', query.sold_after, query.sold_before)

/** Sales and returns of all sales channels. */
export const transactions = [
  list(
    '/orders/transactions/search',
    {
      operationId: 'searchTransactions',
      sync: 'transactions',
      requires: 'transactions',
      tag: 'Retail transactions',
      summary: 'Search transactions',
      description:
        'Order: with `asc`, by sale date, oldest (`true`) or newest (`false`) first. Without `asc`, by change time if `updated_after` is set, otherwise newest sale first. Ties are ordered by ID. A returned item is a line with a negative quantity and value. If you filter by change time and sort by sale date, or the reverse, a page can have fewer records than `limit`. Pages after the first can even be empty, although `hasNextPage` is true.',
      query: Type.Object({
        updated_after: updatedAfterParameter,
        updated_before: TimestampParameter('Only records that changed earlier than this.'),
        ...soldBetween,
        asc: Type.Optional(
          Type.Boolean({ description: 'True: oldest sale first. False: newest sale first.', examples: [true] }),
        ),
      }),
      item: RetailTransaction,
      errors: ['date_range_inverted'],
      validate: query => [
        ...findInvertedRange('updated', query.updated_after, query.updated_before),
        ...validateSoldRange(query),
      ],
    },
    async ({ db, service, query }, pageRequest) => {
      const filters = {
        updatedAfter: query.updated_after,
        updatedBefore: query.updated_before,
        soldAfter: query.sold_after,
        soldBefore: query.sold_before,
        ascending: query.asc,
      }
      const page = await readTransactionPage(db, service, filters, pageRequest)
      return { page, asOf: getCompleteUntil(page.asOf, query.updated_before) }
    },
  ),

  get(
    '/transactions/:id',
    {
      operationId: 'getTransaction',
      tag: 'Retail transactions',
      summary: 'Get a transaction',
      description: 'A sale or return of any sales channel.',
      params: { id: { description: 'The transaction.', example: '13748' } },
      response: RetailTransaction,
      recordName: 'retail transaction',
      etag: true,
    },
    ({ db, service, params }) => findTransaction(db, service, params.id),
  ),
]

/**
 * Returns the instant up to which a list that ends at `updated_before` is complete: one microsecond earlier, because a change at exactly
 * that instant belongs to the next poll.
 */
function getCompleteUntil(asOf: string, before = asOf): string {
  if (before >= asOf) return asOf
  return Temporal.Instant.from(before).subtract({ microseconds: 1 }).toString({ fractionalSecondDigits: 6 })
}
