// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, Paging } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { Request, RequestDetails } from '../shapes/requests.ts'

/** Search logged API requests and see what each one did. */
export interface RequestsApi {
  /** Search the request log. For as many days as the setting `requestLogRetentionDays` says, a second or two late; searched over all of them. Neither queries nor bodies are kept. Filters go together. */
  list(query?: Paging & {
    /** Only those with this `X-Request-Id`. */
    requestId?: string | undefined
    /** Only those that came with this `Idempotency-Key`. */
    idempotencyKey?: string | undefined
    /** Only those of this operation: method and path, parameters by their names. */
    operation?: string | undefined
    /** Only those of this path, without a query. */
    path?: string | undefined
    /** Only those about the record at this path, also those that made it. */
    record?: string | undefined
    /** Only those with this status. */
    status?: number | undefined
    /** Only those that were answered with an error, or only the others. */
    failed?: boolean | undefined
    /** Only those with this error. */
    code?: string | undefined
    /** Only those of this account. */
    account?: string | undefined
    /** Only those that were answered later than this. */
    answeredAfter?: string | Date | undefined
    /** Only those that were answered earlier than this. */
    answeredBefore?: string | Date | undefined
  }, options?: CallOptions): Paginator<Request>
  /** Get a logged request. Where several came with the same `X-Request-Id`, the newest of them. */
  get(id: string, options?: CallOptions): Promise<RequestDetails>
}

export const requests = (call: Calls): RequestsApi => ({
  list: (query, options) => call.list('/requests', query, options),
  get: (id, options) => call.get(`/requests/${segment(id)}`, {}, options),
})
