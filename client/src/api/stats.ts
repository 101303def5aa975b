// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls } from '../calls/calls.ts'
import type { BackOfficeCallStats, BrowsedRows, Stats } from '../shapes/stats.ts'

/** Data behind the dashboard: requests, orders, sales, voucher balance. */
export interface StatsApi {
  /** Get dashboard data. Requests and errors per minute, up to two seconds late; orders and sales of the current day; the outstanding voucher balance; the lag of each sync. */
  get(options?: CallOptions): Promise<Stats>
  /** Read a table of records. Any part of a list, sorted and filtered, as the tables of the console show it. To copy a list, use the list itself, whose pages have no gaps. Vouchers and mappings need the role `admin`. */
  table(query: {
    /** The table. */
    table: 'orders' | 'sales' | 'returns' | 'customers' | 'products' | 'stock' | 'vouchers' | 'stores' | 'staff' | 'storeMappings' | 'skuMappings' | 'customerMappings'
    /** Only rows that match: numbers by their beginning, names by words. */
    q?: string | undefined
    /** Only rows with this state, such as `processing` of orders. */
    filter?: string | undefined
    /** The column that orders the rows, after `-` if descending. */
    sort?: string | undefined
    /** Only orders or sales of this time or later. */
    from?: string | Date | undefined
    /** Only orders or sales before this time. */
    until?: string | Date | undefined
    /** The number of rows. */
    limit?: number | undefined
    /** The number of rows to skip. */
    offset?: number | undefined
  }, options?: CallOptions): Promise<BrowsedRows>
  /** Get back-office call statistics. Calls of requests and syncs per minute, a few seconds late. */
  backOfficeCalls(options?: CallOptions): Promise<BackOfficeCallStats>
}

export const stats = (call: Calls): StatsApi => ({
  get: (options) => call.get('/stats', {}, options),
  table: (query, options) => call.get('/browse', query, options),
  backOfficeCalls: (options) => call.get('/stats/back-office-calls', {}, options),
})
