import type { Merchant } from '../../../domain/tenancy/back-office-settings.ts'
import type { DriverLog, OnCall, OnCredentials } from '../../port/driver.ts'

/** How to reach one retailer's Retail API. */
export interface Connection {
  /** The base, with or without a slash at its end: `https://retail.example/RetailAPI/`. */
  url: string
  /** The retailer's own code of a country, which every call names: `AU`, `AU-GA-IO`. */
  countryCode: string
  /** With a password: Basic authentication; without, none. */
  username?: string | undefined
  password?: string | undefined
  /** Certificates (PEM) to trust instead of those that Node.js comes with. */
  ca?: string | undefined
  /** The zone of the head office, as the IANA names it: all times of this system are its wall-clock times. */
  timeZone: string
  /** The release, where the root page cannot tell it. */
  pinnedRelease?: string | undefined
  /** What the back office knows payment gateways by, by their names in `GET /payment-gateways`. */
  gateways?: Readonly<Record<string, Merchant>> | undefined
  limits?: Partial<Limits>
  log?: DriverLog
  /** Hears that calls are kept back from now on, and that they are not any more. */
  onBreaker?: (state: 'open' | 'closed') => void
  onCredentials?: OnCredentials
  onCall?: OnCall | undefined
}

export interface Limits {
  /** Milliseconds for a call, its repeat included: from asking to the last byte. */
  deadlineMs: number
  /** The same for a page of a list. */
  pageDeadlineMs: number
  /** The same for an answer that has everything at once. */
  bulkDeadlineMs: number
  /** Bytes of an answer. */
  answerBytes: number
  pageBytes: number
  bulkBytes: number
  /** Calls under way at a time, beside one of bulk, and how many may wait for their turn. */
  concurrency: number
  maxWaiting: number
  /** Milliseconds that one waits for its turn. */
  maxWaitMs: number
  /** Failures in a row after which nothing is tried for `openMs`, which doubles up to `maxOpenMs`. */
  failureThreshold: number
  openMs: number
  maxOpenMs: number
  /** The longest `Retry-After` that a read waits out. */
  patienceMs: number
  /** Rows of a page. */
  pageRows: number
  /** Seconds that a pull goes back behind the newest change it knows: changes are committed late, and clocks differ. */
  overlapSeconds: number
  /** Milliseconds that the release counts which the root page told. */
  releaseMs: number
}

/** How much an answer is: what most have, a page of a list, or everything at once. */
export type Size = 'call' | 'page' | 'bulk'

/** What bounds a call: milliseconds, and bytes of its answer. */
export function boundsOf(limits: Limits, size: Size = 'call') {
  const { deadlineMs, pageDeadlineMs, bulkDeadlineMs, answerBytes, pageBytes, bulkBytes } = limits
  const bounds = {
    call: { ms: deadlineMs, bytes: answerBytes },
    page: { ms: pageDeadlineMs, bytes: pageBytes },
    bulk: { ms: bulkDeadlineMs, bytes: bulkBytes },
  }
  return bounds[size]
}

export const defaultLimits: Limits = {
  deadlineMs: 10_000,
  pageDeadlineMs: 120_000,
  bulkDeadlineMs: 900_000,
  answerBytes: 8 * 1024 ** 2,
  pageBytes: 64 * 1024 ** 2,
  bulkBytes: 512 * 1024 ** 2,
  concurrency: 16,
  maxWaiting: 1_000,
  maxWaitMs: 5_000,
  failureThreshold: 5,
  openMs: 2_000,
  maxOpenMs: 60_000,
  patienceMs: 2_000,
  pageRows: 500,
  overlapSeconds: 600,
  releaseMs: 3_600_000,
}
