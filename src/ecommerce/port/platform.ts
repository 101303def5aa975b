import type { SyncDefinition } from '../../domain/sync/port.ts'
import type { EventPort } from './events.ts'
import type { InventoryPort } from './inventory.ts'

/** Receives failed calls, without secrets and personal data. */
export interface CallLog {
  warn(facts: object, message: string): void
}

/** One e-commerce platform as a service needs it. A driver is one object of this shape. */
export interface EcommercePlatform {
  /** Checks credentials, scopes, currency, protected data and the API version. Writes nothing. */
  probe(signal: AbortSignal): Promise<ProbeResult>
  /** The syncs of locations, variants and customers, as the sync engine runs them. */
  readonly syncs: readonly SyncDefinition[]
  readonly inventory: InventoryPort
  /** Absent: the platform sends no events. */
  readonly events?: EventPort
}

/** The state of a platform and of the app's access to it. */
export interface ProbeResult {
  shop: string
  currency: string
  /** Null: the platform has none. */
  timeZone: string | null
  taxesIncluded: boolean
  /** Null: the platform has no plans. */
  plan: string | null
  /** The names of scopes that the app needs and doesn't have. */
  missingScopes: readonly string[]
  /** False if the platform hides the email addresses of customers from the app. */
  hasProtectedData: boolean
  /** The API version and the last day of its support (`2027-07-01`). Null: the API has no versions. */
  version: { name: string; endsOn: string } | null
}
