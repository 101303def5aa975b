// Made of the operations of the API by `npm run docs`.
import type { Open } from './general.ts'

export interface EcommerceStatus {
  /** The shop. */
  url: string
  /** The API version. */
  apiVersion: string
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
  reconciliation: StockReconciliation | null
}

export interface HeldLevels {
  /** Why it isn't pushed: such as `unmapped`, or a code of the platform. */
  reason: string
  /** Their number. */
  levels: number
}

export interface StockReconciliation {
  /** The state. */
  state: Open<'queued' | 'running' | 'completed' | 'failed'>
  /** True if nothing is corrected. */
  isDryRun: boolean
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
  /** Both sides by location, before the correction. Equal digests mean equal quantities. */
  digests: StockDigest[]
}

export interface StockDigest {
  /** The location. */
  locationId: string
  /** The digest of all quantities. */
  known: string
  /** The digest of all quantities. */
  observed: string
}
