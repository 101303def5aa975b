// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, Paging } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { Audit } from '../shapes/audit.ts'

/** Who changed what, and when. */
export interface AuditApi {
  /** List audit log entries. A line for each write that was carried out: none for one that was refused, none for an answer that was given again. Fields are named, their values are not kept. */
  list(query?: Paging & {
    /** Only records that changed later than this. Send the `asOf` of the previous list to receive all later changes. */
    updatedAfter?: string | Date | undefined
    /** Only what was written of the record at this path. */
    record?: string | undefined
    /** Only what this account wrote. */
    account?: string | undefined
    /** Whether the oldest line comes first, or the newest. As lines the oldest comes first anyway. */
    asc?: boolean | undefined
  }, options?: CallOptions): Paginator<Audit>
}

export const audit = (call: Calls): AuditApi => ({
  list: (query, options) => call.list('/audit', query, options),
})
