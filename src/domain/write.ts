import type { Db } from '../db.ts'
import type { Keys } from '../secrets.ts'
import type { Service } from '../settings.ts'

/** A write under way: the transaction that all it does goes through, and who asked for it. */
export interface Write {
  tx: Db
  service: Service
  keys: Keys
  username: string
  requestId: string
  /** The caller's address. */
  address: string
  /** The same for a repeat with the same Idempotency-Key, else one of its own: what numbers upstream are derived from. */
  reference: string
  /** Whether it has an Idempotency-Key: only then may it be the repeat of an attempt whose outcome nobody knows. */
  isKeyed: boolean
  /** Throws where `If-Match` names another state than this record, or is missing where the service wants it. */
  requireMatch: (record: string) => void
}
