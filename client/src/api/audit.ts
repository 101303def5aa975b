// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, Paging } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { Audit } from '../shapes/audit.ts'

/** The audit log: each change with its account and time. */
export interface AuditApi {
  /** List audit log entries. One entry for each executed write. Rejected writes, dry runs and replayed responses have none. Entries have the names of the fields. Only settings, roles and mappings of stores and SKUs have values too. */
  list(query?: Paging & {
    /** Only records that changed later than this. Send the `asOf` of the previous list to receive all later changes. */
    updatedAfter?: string | Date | undefined
    /** Only writes to the record with this path. */
    record?: string | undefined
    /** Only writes of this account. */
    account?: string | undefined
    /** `data`: writes of customers, orders, returns, reservations, coupons, rewards and vouchers. `admin`: all others. */
    group?: 'admin' | 'data' | undefined
    /** True: oldest entry first. False: newest first. Bulk exports are always oldest first. */
    asc?: boolean | undefined
  }, options?: CallOptions): Paginator<Audit>
}

export const audit = (call: Calls): AuditApi => ({
  list: (query, options) => call.list('/audit', query, options),
})
