// Made of the operations of the API by `npm run docs`.
import type { Open } from './general.ts'
import type { SyncNote } from './imports.ts'

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

export interface SyncRun {
  /** The ID of the run. */
  id: string
  /** The sync, or the import type of a file. */
  sync: string
  /** `backOffice`: read from the back office. `ecommerce`: read from the e-commerce platform. `file`: imported files. */
  origin: Open<'backOffice' | 'ecommerce' | 'file'>
  /** True for a full sync. */
  full: boolean
  /** `interrupted`: the process of the run ended. The next run repeats the work. */
  state: Open<'ok' | 'running' | 'failed' | 'interrupted'>
  /** When the run started. */
  startedAt: string
  /** When the run ended. `null` if it has not ended. */
  endedAt: string | null
  /** The duration so far. */
  seconds: number
  /** Records read. */
  read: number
  /** Records added. */
  new: number
  /** Records updated. */
  changed: number
  /** Records that were already up to date. */
  unchanged: number
  /** Records removed. */
  removed: number
  /** Records that were neither stored nor rejected. `notes` has the reasons. */
  skipped: number
  /** Lines of a file that were skipped because they are older than the stored record. */
  outdated: number
  /** Records rejected. `notes` has the reasons. For a file, see `GET /imports/:id/rejected`. */
  rejected: number
  /** Remarks about the run, most frequent first. */
  notes: SyncNote[]
  /** The cause of the failure. `null` if the run has not failed. */
  detail: string | null
}
