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
  readonly events: EventPort
  /** The maximum number of IDs of one call of `findExisting`. */
  readonly maxIds: number
  /** Returns those of these global IDs whose record exists. */
  findExisting(ids: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>>
}

/** The state of a platform and of the app's access to it. */
export interface ProbeResult {
  shop: string
  currency: string
  timeZone: string
  taxesIncluded: boolean
  plan: string
  /** The names of scopes that the app needs and doesn't have. */
  missingScopes: readonly string[]
  /** False if the platform hides the email addresses of customers from the app. */
  hasProtectedData: boolean
  apiVersion: string
  /** The last day of support for the API version (`2027-07-01`). */
  versionEndsOn: string
}
