// Generated from the OpenAPI document by `npm run docs`.
import type { Open } from './general.ts'
import type { SyncRun } from './imports.ts'

export interface SyncRunInput {
  /** Run a full sync. Default: false. */
  full?: boolean | undefined
}

export interface Sync {
  /** The name of the sync. */
  sync: string
  /** `backOffice`: read from the back office. `ecommerce`: read from the e-commerce platform. `file`: imported files. */
  origin: Open<'backOffice' | 'ecommerce' | 'file'>
  /** The schedule. `null` if the sync has none. */
  intervalSeconds: number | null
  /** The end of the last completed run. `null` before the first. */
  syncedAt: string | null
  /** The end of the last completed full sync. `null` before the first. */
  lastFullSyncAt: string | null
  /** The time since the last completed run. */
  lagSeconds: number | null
  /** True if `lagSeconds` is at least three times `intervalSeconds`. */
  isOverdue: boolean
  /** The result of the last run. `running`: a run is in progress. `none`: no run yet. */
  state: Open<'ok' | 'failed' | 'running' | 'none'>
  /** The cause if the last run failed, otherwise `null`. */
  detail: string | null
  /** True if a requested run has not ended yet. */
  isQueued: boolean
  /** The next scheduled run. `null` before the first. */
  nextRunAt: string | null
  lastRun: SyncRun | null
}
