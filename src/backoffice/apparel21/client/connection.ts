import type { Merchant } from '../../../domain/tenancy/back-office-settings.ts'
import type { DriverLog, OnCall, OnCredentials } from '../../port/driver.ts'

/** The settings of a connection to one retailer's Retail API. */
export interface Connection {
  /** The base URL, with or without a trailing slash: `https://retail.example/RetailAPI/`. */
  url: string
  /** The retailer's own country code, sent with every request: `AU`, `AU-GA-IO`. */
  countryCode: string
  /** User of Basic authentication. Requests are anonymous unless user and password are set. */
  username?: string | undefined
  password?: string | undefined
  /** PEM certificates to trust instead of those that come with Node.js. */
  ca?: string | undefined
  /** IANA time zone of the back office, whose times are all local times. */
  timeZone: string
  /** The release, if the root page doesn't show it. */
  pinnedRelease?: string | undefined
  /** The back office's merchants by the gateway names of `GET /payment-gateways`. */
  gateways?: Readonly<Record<string, Merchant>> | undefined
  limits?: Partial<Limits>
  log?: DriverLog
  /** Called when the circuit breaker opens or closes. */
  onBreaker?: (state: 'open' | 'closed') => void
  onCredentials?: OnCredentials
  onCall?: OnCall | undefined
}

export interface Limits {
  /** Milliseconds from the start of a call to the last byte of its response, including a retry. Default 10,000. */
  deadlineMs: number
  /** The same deadline for a page of a list. Default 120,000. */
  pageDeadlineMs: number
  /** The same deadline for a response with a complete list. Default 900,000. */
  bulkDeadlineMs: number
  /** Largest response in bytes. Default 8 MiB. */
  maxResponseBytes: number
  /** Largest page of a list in bytes. Default 64 MiB. */
  maxPageBytes: number
  /** Largest response with a complete list in bytes. Default 512 MiB. */
  maxBulkBytes: number
  /** Concurrent calls, in addition to one bulk call. Default 16. */
  concurrency: number
  /** The percentage of the concurrent calls that syncs can use, at least one call. Default 50. */
  syncShare: number
  /** Calls that can wait for a free slot. Default 1,000. */
  maxWaiting: number
  /** Milliseconds that a call waits for a free slot. Default 5,000. */
  maxWaitMs: number
  /** Consecutive failures before the circuit breaker opens for `openMs`, which doubles up to `maxOpenMs`. Default 5. */
  failureThreshold: number
  openMs: number
  maxOpenMs: number
  /** The longest `Retry-After`, in milliseconds, that a call waits for before it is sent or retried. Default 2,000. */
  maxRetryWaitMs: number
  /** Rows per page. Default 500. */
  pageRows: number
  /** Seconds that a sync starts before the newest known change, because changes are committed late and clocks differ. Default 600. */
  overlapSeconds: number
  /** Milliseconds for which the release of the root page is cached. Default 3,600,000. */
  releaseTtlMs: number
}

/** The size class of a response: one record or a short list, a page of a list, or a complete list. */
export type ResponseSize = 'call' | 'page' | 'bulk'

/** Returns the deadline in milliseconds and the largest response in bytes for a size class. */
export function getBounds(limits: Limits, size: ResponseSize = 'call') {
  const bounds = {
    call: { ms: limits.deadlineMs, bytes: limits.maxResponseBytes },
    page: { ms: limits.pageDeadlineMs, bytes: limits.maxPageBytes },
    bulk: { ms: limits.bulkDeadlineMs, bytes: limits.maxBulkBytes },
  }
  return bounds[size]
}

export const defaultLimits: Limits = {
  deadlineMs: 10_000,
  pageDeadlineMs: 120_000,
  bulkDeadlineMs: 900_000,
  maxResponseBytes: 8 * 1024 ** 2,
  maxPageBytes: 64 * 1024 ** 2,
  maxBulkBytes: 512 * 1024 ** 2,
  concurrency: 16,
  syncShare: 50,
  maxWaiting: 1_000,
  maxWaitMs: 5_000,
  failureThreshold: 5,
  openMs: 2_000,
  maxOpenMs: 60_000,
  maxRetryWaitMs: 2_000,
  pageRows: 500,
  overlapSeconds: 600,
  releaseTtlMs: 3_600_000,
}
