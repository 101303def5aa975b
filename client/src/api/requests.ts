// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, Paging } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { Request, RequestDetails } from '../shapes/requests.ts'

/** Search logged API requests and see what each one did. */
export interface RequestsApi {
  /** Search the request log. Entries are stored for `requestLogRetentionDays` and appear after 1 to 2 seconds. Query strings and bodies are not stored. Filters are combined with AND. */
  list(query?: Paging & {
    /** Only requests with this `X-Request-Id`. */
    requestId?: string | undefined
    /** Only requests with this `Idempotency-Key`. */
    idempotencyKey?: string | undefined
    /** Only this operation: method and path with parameter names. */
    operation?: string | undefined
    /** Only this path, without a query string. */
    path?: string | undefined
    /** Only requests for the record with this path, including the one that created it. */
    record?: string | undefined
    /** Only responses with this status. */
    status?: number | undefined
    /** True: only errors. False: only successful requests. */
    failed?: boolean | undefined
    /** Only responses with this error code. */
    code?: string | undefined
    /** Only requests of this account. */
    account?: string | undefined
    /** Only requests answered later than this. */
    answeredAfter?: string | Date | undefined
    /** Only requests answered earlier than this. */
    answeredBefore?: string | Date | undefined
  }, options?: CallOptions): Paginator<Request>
  /** Get a logged request. If several requests have the same `X-Request-Id`, the newest one. */
  get(id: string, options?: CallOptions): Promise<RequestDetails>
}

export const requests = (call: Calls): RequestsApi => ({
  list: (query, options) => call.list('/requests', query, options),
  get: (id, options) => call.get(`/requests/${segment(id)}`, {}, options),
})
