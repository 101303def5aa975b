// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls } from '../calls/calls.ts'
import type { BackOfficeCallStats, Stats } from '../shapes/stats.ts'

/** Data behind the dashboard: requests, orders, sales, voucher balance. */
export interface StatsApi {
  /** Get dashboard data. Requests and errors per minute, up to two seconds late; orders and sales of the current day; the outstanding voucher balance; the lag of each sync. */
  get(options?: CallOptions): Promise<Stats>
  /** Get back-office call statistics. Calls of requests and syncs per minute, a few seconds late. */
  backOfficeCalls(options?: CallOptions): Promise<BackOfficeCallStats>
}

export const stats = (call: Calls): StatsApi => ({
  get: (options) => call.get('/stats', {}, options),
  backOfficeCalls: (options) => call.get('/stats/back-office-calls', {}, options),
})
