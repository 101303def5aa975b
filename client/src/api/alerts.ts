// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Walk } from '../calls/walk.ts'
import type { Alert } from '../shapes/alerts.ts'

/** Problems that need attention, with steps to fix them. */
export interface AlertsApi {
  /** List alerts. Each with what to do about it. Those that settle themselves go once what they are about is well again. */
  list(query?: Paging, options?: CallOptions): Walk<Alert>
  /** Resolve an alert. Should it happen again, there is another one. */
  settle(id: string, options?: WriteOptions): Promise<Alert>
}

export const alerts = (call: Calls): AlertsApi => ({
  list: (query, options) => call.list('/alerts', query, options),
  settle: (id, options) => call.post(`/alerts/${segment(id)}/settle`, undefined, options),
})
