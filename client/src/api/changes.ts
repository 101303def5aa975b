// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, Paging } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { RecordChange } from '../shapes/changes.ts'

/** The change sync: every change to every record, in order. */
export interface ChangesApi {
  /** List changes. A record stands in the feed once, at its newest change; whoever goes on from `endCursor` is told of every record as it is at last, and of every removal. From the beginning the feed is everything as it stands. With `wait` an answer that would be empty waits for a change. */
  list(query?: Paging & {
    /** What to be told of, separated by commas: `store`, `staff`, `product`, `inventory`, `customer`, `transaction`, `order`, `return`, `reward-account`. Absent: all. */
    kinds?: string | undefined
    /** Whether each change carries the record. */
    records?: boolean | undefined
    /** Seconds to wait for a change where there is none. */
    wait?: number | undefined
  }, options?: CallOptions): Paginator<RecordChange>
}

export const changes = (call: Calls): ChangesApi => ({
  list: (query, options) => call.list('/changes', query, options),
})
