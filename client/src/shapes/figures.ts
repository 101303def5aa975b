// Made of the operations of the API by `npm run docs`.
import type { Open } from './general.ts'

export interface Figures {
  requests: RequestFigures
  /** Today, on the clock of the service's time zone. */
  day: string
  /** Orders that were placed today, by currency. */
  orders: Sum[]
  /** Retail transactions of today, by currency: what was returned is taken off. */
  sales: Sum[]
  /** What is owed for vouchers that can still be spent, or were suspended, by currency; null where a head office keeps them. */
  vouchers: Sum[] | null
  /** How old the data is, sync by sync, in the order of `GET /syncs`. */
  syncs: SyncLag[]
}

/** The last 24 hours, minute by minute, as far as requests are logged (setting `requestLogRetentionDays`). */
export interface RequestFigures {
  /** When the first minute begins; the last one is under way. */
  since: string
  /** Requests in each minute. */
  answered: number[]
  /** Those of them that were answered with a 4xx. */
  refused: number[]
  /** Those of them that were answered with a 5xx. */
  failed: number[]
}

export interface Sum {
  /** ISO 4217. */
  currency: string
  /** How many. */
  count: number
  /** Their sum. */
  total: string
}

export interface SyncLag {
  /** What it brings. */
  sync: string
  /** How long ago it last came to its end; null: it never has. */
  lagSeconds: number | null
  /** How often it is pulled by itself; null: it is not. */
  intervalSeconds: number | null
  /** Whether the one is three times the other or more. */
  isOverdue: boolean
}

export interface CallFigures {
  breaker: Open<'closed' | 'open'> | null
  /** When the first minute begins; the last one is under way. */
  since: string
  /** Calls in each minute. */
  calls: number[]
  /** Those of them without an answer, or with a 5xx. */
  failed: number[]
  /** Milliseconds until an answer began, on the average. */
  average: number[]
  /** Milliseconds until the slowest answer began. */
  slowest: number[]
}
