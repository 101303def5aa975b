// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { Alert } from '../shapes/alerts.ts'

/** Problems that need attention, with steps to fix them. */
export interface AlertsApi {
  /** List alerts. Unresolved alerts, each with its remedy. An alert with `autoResolves` disappears when its cause is fixed. */
  list(query?: Paging, options?: CallOptions): Paginator<Alert>
  /** Resolve an alert. If the problem recurs, Tillbridge records a new alert. */
  resolve(id: string, options?: WriteOptions): Promise<Alert>
}

export const alerts = (call: Calls): AlertsApi => ({
  list: (query, options) => call.list('/alerts', query, options),
  resolve: (id, options) => call.post(`/alerts/${segment(id)}/resolve`, undefined, options),
})
