// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, Paging } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { RetailTransaction } from '../shapes/transactions.ts'

/** Sales and returns of all sales channels. */
export interface TransactionsApi {
  /** Search transactions. Order: with `asc`, by sale date, oldest (`true`) or newest (`false`) first. Without `asc`, by change time if `updated_after` is set, otherwise newest sale first. Ties are ordered by ID. A returned item is a line with a negative quantity and value. If you filter by change time and sort by sale date, or the reverse, a page can have fewer records than `limit`. Pages after the first can even be empty, although `hasNextPage` is true. */
  search(query?: Paging & {
    /** Only records that changed later than this. Send the `asOf` of the previous list to receive all later changes. */
    updatedAfter?: string | Date | undefined
    /** Only records that changed earlier than this. */
    updatedBefore?: string | Date | undefined
    /** Only transactions sold later than this. */
    soldAfter?: string | Date | undefined
    /** Only transactions sold earlier than this. */
    soldBefore?: string | Date | undefined
    /** True: oldest sale first. False: newest sale first. */
    asc?: boolean | undefined
  }, options?: CallOptions): Paginator<RetailTransaction>
  /** Get a transaction. A sale or return of any sales channel. */
  get(id: string, options?: CallOptions): Promise<RetailTransaction>
}

export const transactions = (call: Calls): TransactionsApi => ({
  search: (query, options) => call.list('/orders/transactions/search', query, options),
  get: (id, options) => call.get(`/transactions/${segment(id)}`, {}, options),
})
