import type { Db } from '../db.ts'
import type { Keys } from '../secrets.ts'
import type { Service } from '../settings.ts'

/** Where a request comes from: what failed attempts are counted against. */
export interface Origin {
  /** That of the shopper, where the caller names one; else the caller's. */
  address: string
  /** The account that has named the shopper. */
  namedBy?: string
}

/** A write under way: the transaction that all it does goes through, and who asked for it. */
export interface Write {
  tx: Db
  service: Service
  keys: Keys
  username: string
  requestId: string
  origin: Origin
  /** The same for a repeat with the same Idempotency-Key, else one of its own: what numbers upstream are derived from. */
  reference: string
  /** Whether it has an Idempotency-Key: only then may it be the repeat of an attempt whose outcome nobody knows. */
  isKeyed: boolean
  /** Throws where `If-Match` names another state than this record, or is missing where the service wants it. */
  requireMatch: (record: string) => void
}
