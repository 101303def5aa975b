// Generated from the OpenAPI document by `npm run docs`.
import type { Open } from './general.ts'

export interface StockPushInput {
  /** True: a person has reviewed the differences. */
  approve?: boolean | undefined
}

export interface EcommerceStatus {
  /** The shop. */
  url: string
  /** The platform. */
  driver: Open<'shopify' | 'medusa'>
  /** Its API version, if it has any. */
  apiVersion: string | null
  /** The setting. */
  stockPush: Open<'off' | 'dryRun' | 'on'>
  /** True while the safety stop waits for a person. */
  isStopped: boolean
  /** Levels to push. */
  due: number
  /** Held levels. */
  held: HeldLevels[]
  /** Levels being sent. */
  inFlight: number
  /** Levels up to date. */
  inStep: number
  /** The age of the oldest due level. */
  lagSeconds: number
  /** Open lines of platform orders. */
  openCommitments: number
  points: PlatformPoints | null
  subscriptions: EventSubscriptions | null
  reconciliation: StockReconciliation | null
}

export interface HeldLevels {
  /** Why it isn't pushed: such as `unmapped`, or a code of the platform. */
  reason: string
  /** Their number. */
  levels: number
}

/** The rate limit, if there is any. */
export interface PlatformPoints {
  /** The most. */
  capacity: number
  /** Restored points. */
  restorePerSecond: number
  /** Left. */
  orders: number
  /** Left. */
  stock: number
  /** Left. */
  background: number
}

/** Null without events. */
export interface EventSubscriptions {
  /** Topics. */
  wanted: number
  /** Topics that aren't sent. */
  missing: string[]
  /** The last check. */
  checkedAt: string
}

export interface StockReconciliation {
  /** Its ID. */
  id: string
  /** The state. */
  state: Open<'queued' | 'running' | 'completed' | 'failed'>
  /** True if nothing is corrected. */
  isDryRun: boolean
  /** True if it compared only levels that events had named. */
  isPartial: boolean
  /** When it started or was queued. */
  startedAt: string
  /** When it ended. */
  endedAt: string | null
  /** Why it failed. */
  error: string | null
  /** Compared levels. */
  compared: number
  /** Levels that others have changed. */
  drifted: number
  /** Levels that the push raises. */
  rising: number
  /** Levels that it lowers. */
  falling: number
  /** Levels that it sets to 0. */
  fallingToZero: number
  /** Both sides by location, before the correction. Equal digests mean equal quantities. */
  digests: StockDigest[]
  /** The hundred largest. */
  differences: StockDifference[]
}

export interface StockDigest {
  locationId: PlatformLocationId
  /** The digest of all quantities. */
  known: string
  /** The digest of all quantities. */
  observed: string
}

export type PlatformLocationId = string

export interface StockDifference {
  /** The variant's SKU. */
  sku: string | null
  itemId: PlatformItemId
  locationId: PlatformLocationId
  /** On hand by our record. Null: not stocked there. */
  knownOnHand: number | null
  /** On hand as it must be. */
  desiredOnHand: number
}

export type PlatformItemId = string

export interface PlatformLevel extends StockDifference {
  /** The state. */
  state: Open<'due' | 'inFlight' | 'held' | 'inStep'>
  /** Why it isn't pushed: such as `unmapped`, or a code of the platform. */
  reason: string | null
  /** Sellable units, part of `desiredOnHand` like the next two. */
  sellable: number
  /** Units of open platform orders that `sellable` no longer contains. */
  netted: number
  /** Units that the shop doesn't sell. */
  heldBack: number
  /** On hand, as last read. */
  observedOnHand: number | null
  /** Units of open orders, as last read. */
  observedCommitted: number | null
  /** When it was last read. */
  observedAt: string | null
  /** Since when it waits. */
  dueSince: string | null
}

export interface StockDrift {
  itemId: PlatformItemId
  locationId: PlatformLocationId
  /** The variant's SKU. */
  sku: string | null
  /** On hand by our record. Null: not stocked there. */
  knownOnHand: number | null
  /** On hand, as read. */
  observedOnHand: number | null
  /** The app or staff member that changed it, if the platform names it. */
  changedBy: string | null
}
