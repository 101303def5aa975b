// Generated from the OpenAPI document by `npm run docs`.
import type { Open } from './general.ts'

export interface Stats {
  requests: RequestStats
  /** The current day in the service's time zone. */
  day: string
  /** Orders placed on this day, by currency. */
  orders: CurrencySum[]
  /** Retail transactions of this day, by currency. Returns are subtracted. */
  sales: CurrencySum[]
  /** The outstanding voucher balance by currency, including suspended vouchers. null if the back office keeps the vouchers. */
  vouchers: CurrencySum[] | null
  /** The lag of each sync, in the order of `GET /syncs`. */
  syncs: SyncLag[]
}

/** The last 24 hours, per minute, without the console. Only logged requests are counted (setting `requestLogRetentionDays`). */
export interface RequestStats {
  /** The start of the first minute. The last minute is still in progress. */
  since: string
  /** Requests per minute. */
  answered: number[]
  /** Requests per minute with a 4xx response. */
  rejected: number[]
  /** Requests per minute with a 5xx response. */
  failed: number[]
}

export interface CurrencySum {
  /** ISO 4217. */
  currency: string
  /** The number of records. */
  count: number
  /** Their sum. */
  total: string
}

export interface SyncLag {
  /** The name of the sync. */
  sync: string
  /** The age of the data: seconds since the last completed run. null: none has completed. */
  lagSeconds: number | null
  /** The schedule in seconds. null: the sync has none. */
  intervalSeconds: number | null
  /** True if the lag is at least three times the interval. */
  isOverdue: boolean
}

export interface BrowsedRows {
  /** The number of rows that match. Null if there are more than 100,000. */
  total: number | null
  /** The time zone of the service. */
  timeZone: string
  rows: (Record<string, string | number | boolean | null>)[]
}

export interface BackOfficeCallStats {
  breaker: Open<'closed' | 'open'> | null
  /** The start of the first minute. The last minute is still in progress. */
  since: string
  /** Calls per minute. */
  calls: number[]
  /** Calls per minute that got no response, or a 5xx. */
  failed: number[]
  /** Average milliseconds until the response began. */
  average: number[]
  /** Milliseconds until the slowest response began. */
  slowest: number[]
}
