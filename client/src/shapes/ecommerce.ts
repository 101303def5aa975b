// Made of the operations of the API by `npm run docs`.
import type { Open } from './general.ts'

export interface EcommerceStatus {
  /** The platform. */
  driver: string
  /** The address of the shop. */
  url: string
  /** The API version. */
  apiVersion: string
  /** The setting `stockPush`. */
  stockPush: Open<'off' | 'dryRun' | 'on'>
  /** True while the safety stop waits for a person. */
  isStopped: boolean
  levels: LevelCounts
  /** Held levels by reason. */
  heldBy: Record<string, number>
  /** Seconds for which the oldest level has been due. */
  lagSeconds: number
  /** Lines of platform orders with committed units. */
  openCommitments: number
  points: RateLimitPoints | null
}

/** Levels of stock by state. */
export interface LevelCounts {
  /** The number of levels. */
  due: number
  /** The number of levels. */
  held: number
  /** The number of levels. */
  inFlight: number
  /** The number of levels. */
  inStep: number
}

/** The platform's rate limit. Null before the first call. */
export interface RateLimitPoints {
  /** The maximum of all classes. */
  capacity: number
  /** Points that are restored per second. */
  restorePerSecond: number
  /** Points for orders. */
  orders: number
  /** Points for the stock push. */
  stock: number
  /** Points for syncs and comparisons. */
  background: number
}

export interface EcommerceLevel {
  /** The platform's ID of the inventory item. */
  itemId: string
  /** The platform's ID of the location. */
  locationId: string
  /** The SKU on the platform. */
  sku: string | null
  /** The state of the level. */
  state: Open<'due' | 'held' | 'inFlight' | 'inStep'>
  /** The on-hand quantity of our record. Null: not stocked there. */
  knownOnHand: number | null
  /** The on-hand quantity as last read. */
  observedOnHand: number | null
  /** The quantity that the platform should have: the sum of the next three. */
  desiredOnHand: number
  /** Units that the location's stores can sell. */
  sellable: number
  /** Units of platform orders that our stock no longer contains. */
  netted: number
  /** Units on hand that the platform doesn't sell. */
  heldBack: number
  /** Why the level isn't pushed: such as `unmapped`, or a code of the platform. */
  holdReason: string | null
  /** Since when the level may differ. */
  dueAt: string | null
}

export interface EcommerceReconciliation {
  /** The ID of the reconciliation. */
  id: string
  /** The state. */
  state: Open<'queued' | 'running' | 'completed' | 'failed'>
  /** True if nothing is set on the platform. */
  isDryRun: boolean
  /** When it started or was queued. */
  startedAt: string
  /** When it ended. */
  endedAt: string | null
  /** Why it failed. */
  error: string | null
  counts: ReconciliationCounts
  /** Both sides by location, before the correction. Equal digests mean equal quantities. */
  digests: LocationDigest[]
  /** The hundred largest differences to the desired quantity. */
  differences: StockDifference[]
  /** Up to a hundred levels that others have changed. */
  drift: StockDrift[]
}

/** Levels by result. Empty until it ends. */
export interface ReconciliationCounts {
  /** Levels that were compared. */
  compared?: number
  /** Levels that others have changed. */
  drifted?: number
  /** Levels that changed during the comparison. */
  skipped?: number
  /** Levels that are new on the platform. */
  added?: number
  /** Levels with the desired quantity. */
  inStep?: number
  /** Levels that rise. */
  rising?: number
  /** Levels that fall. */
  falling?: number
  /** Levels that fall to zero. */
  fallingToZero?: number
  /** Levels that aren't pushed. */
  held?: number
}

export interface LocationDigest {
  /** The platform's ID of the location. */
  locationId: string
  /** Compared levels. */
  levels: number
  /** The digest of item and quantity of all levels. */
  known: string
  /** The digest of item and quantity of all levels. */
  observed: string
}

export interface StockDifference {
  /** The platform's ID of the inventory item. */
  itemId: string
  /** The platform's ID of the location. */
  locationId: string
  /** The SKU on the platform. */
  sku: string | null
  /** The quantity of our record. */
  knownOnHand: number | null
  /** The desired quantity. */
  desiredOnHand: number
}

export interface StockDrift {
  /** The platform's ID of the inventory item. */
  itemId: string
  /** The platform's ID of the location. */
  locationId: string
  /** The quantity that Tillbridge had set or read. */
  knownOnHand: number | null
  /** The quantity on the platform. */
  observedOnHand: number | null
  /** The app or person that changed it, if the platform reports it. */
  changedBy: string | null
}
