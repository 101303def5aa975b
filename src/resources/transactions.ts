import { Type } from 'typebox'
import { RetailTransaction } from '../domain/orders/transactions.ts'
import type { Fault } from '../errors.ts'
import type { Api } from '../http/api.ts'
import { Moment, updatedAfter } from '../http/lists.ts'
import { transactionPage } from '../store/orders/transactions.ts'

const inverted: Fault = {
  parameter: 'updated_before',
  code: 'date_range_inverted',
  detail: '`updated_before` is earlier than `updated_after`.',
}

/** Contract 5. */
export function transactions(api: Api) {
  api.list(
    '/orders/transactions/search',
    {
      feed: 'transactions',
      tag: 'Retail transactions',
      summary: 'Retail transactions by sale date.',
      description:
        'The newest first, or the oldest with `asc=true`; ties by id. A return is a line with negative quantity and value.',
      query: Type.Object({
        updated_after: updatedAfter,
        updated_before: Moment('Only what has changed earlier than this.'),
        asc: Type.Optional(
          Type.Boolean({ description: 'Whether the oldest sale comes first.', default: false, examples: [true] }),
        ),
      }),
      item: RetailTransaction,
      errors: ['date_range_inverted'],
      judge: ({ updated_after, updated_before }) =>
        updated_after !== undefined && updated_before !== undefined && updated_after > updated_before ? [inverted] : [],
    },
    ({ db, service, query: { updated_after, updated_before, asc } }, asked) =>
      transactionPage(
        db,
        service,
        { updatedAfter: updated_after, updatedBefore: updated_before, ascending: asc },
        asked,
      ),
  )
}
