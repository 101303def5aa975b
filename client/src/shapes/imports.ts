// Made of the operations of the API by `npm run docs`.
import type { Open } from './general.ts'

export interface Import {
  /** The identifier of the run. */
  id: string
  /** What it brought. */
  feed: string
  /** Whether it is pulled from a back office, or comes as files. */
  origin: Open<'backOffice' | 'file'>
  /** Whether it read everything, and not only what changed. */
  whole: boolean
  /** `lost`: its process ended in the middle of it, and the next run repeats it. */
  state: Open<'ok' | 'running' | 'failed' | 'lost'>
  /** When it began. */
  startedAt: string
  /** When it ended; null: it has not. */
  endedAt: string | null
  /** How long it took, or has taken so far. */
  seconds: number
  /** Records that were read. */
  read: number
  /** Those that were not there before. */
  new: number
  /** Those that were there and differed. */
  changed: number
  /** Those that were there just so. */
  unchanged: number
  /** Records that were there and are gone. */
  removed: number
  /** Those that could not be taken; `notes` says why, and of a file `GET /imports/:id/rejected`. */
  refused: number
  /** What was not quite as it should be, the most frequent first. */
  notes: FeedNote[]
  /** Why it failed; null: it did not. */
  detail: string | null
  /** Whether it was only looked at: nothing was written. */
  dryRun: boolean
}

export interface FeedNote {
  /** What it was. */
  note: string
  /** How often. */
  count: number
}

export interface RefusedLines {
  /** What the file calls the column; empty where it is the line as a whole. */
  column: string
  /** Why they were refused, behind the name of the column. */
  reason: string
  /** How many lines. */
  lines: number
  /** The numbers of the first 100 of them, counted from 1; the header is a line too. */
  numbers: number[]
}
