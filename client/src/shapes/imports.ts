// Generated from the OpenAPI document by `npm run docs`.
import type { Open } from './general.ts'

export interface ImportRun extends SyncRun {
  /** The import type. */
  type: string
  /** True for a dry run: no records are written. */
  dryRun: boolean
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

export interface SyncNote {
  /** The remark. */
  note: string
  /** How often it applies. */
  count: number
}

export interface RejectedLines {
  /** The file's name of the column. Empty if the reason is about the whole line. */
  column: string
  /** Why the lines were rejected. Follows the name of the column. */
  reason: string
  /** The number of lines. */
  lines: number
  /** The numbers of the first 100 lines, counted from 1. The header is a line too. */
  numbers: number[]
  /** All lines, as the first and last number of each range. At most 50,000 ranges per import. */
  ranges: number[][]
}
