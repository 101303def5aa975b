// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, Paging } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { RecordChange } from '../shapes/changes.ts'

/** The change feed: every change to every record, in order. */
export interface ChangesApi {
  /** List changes. Each record is in the feed once, at its latest change. If you continue from `endCursor`, you receive the latest state of every changed record and every removal. Without a cursor, the feed begins with all current records. With `wait`, an empty response waits for a change. */
  list(query?: Paging & {
    /** The kinds of records, separated by commas: `store`, `staff`, `product`, `inventory`, `customer`, `transaction`, `order`, `return`, `shipment`, `reward-account`. Default: all. */
    kinds?: string | undefined
    /** True to include the record in each change. */
    records?: boolean | undefined
    /** If there are no changes, wait up to this many seconds for one. */
    wait?: number | undefined
  }, options?: CallOptions): Paginator<RecordChange>
}

export const changes = (call: Calls): ChangesApi => ({
  list: (query, options) => call.list('/changes', query, options),
})
