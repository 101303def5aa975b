// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, Paging } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { RetailTransaction } from '../shapes/transactions.ts'

/** Sales and returns from stores, head office and the web. */
export interface TransactionsApi {
  /** Search transactions. With `asc` by sale date, the oldest first (`true`) or the newest (`false`). Without it by change where `updated_after` is given, else the newest sale first. Ties by id. A return is a line with negative quantity and value. Where a range of changes is asked for in the order of sales, or the other way round, a page may hold less than `limit`, even nothing, while `hasNextPage` is true. */
  search(query?: Paging & {
    /** Only records that changed later than this. Send the `asOf` of the previous list to receive all later changes. */
    updatedAfter?: string | Date | undefined
    /** Only what has changed earlier than this. */
    updatedBefore?: string | Date | undefined
    /** Only what was sold later than this. */
    soldAfter?: string | Date | undefined
    /** Only what was sold earlier than this. */
    soldBefore?: string | Date | undefined
    /** Whether the oldest sale comes first, or the newest. */
    asc?: boolean | undefined
  }, options?: CallOptions): Paginator<RetailTransaction>
  /** Get a transaction. A sale or a return, in a store or on the web. */
  get(id: string, options?: CallOptions): Promise<RetailTransaction>
}

export const transactions = (call: Calls): TransactionsApi => ({
  search: (query, options) => call.list('/orders/transactions/search', query, options),
  get: (id, options) => call.get(`/transactions/${segment(id)}`, {}, options),
})
