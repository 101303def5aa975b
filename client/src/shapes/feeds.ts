// Made of the operations of the API by `npm run docs`.
import type { Open } from './general.ts'
import type { FeedNote } from './imports.ts'

export interface FeedRunInput {
  /** Read everything, and not only what changed. Default: false. */
  whole?: boolean | undefined
}

export interface Feed {
  /** What it brings. */
  feed: string
  /** Whether it is pulled from a back office, or comes as files. */
  origin: Open<'backOffice' | 'file'>
  /** How often it is pulled by itself; null: it is not. */
  everySeconds: number | null
  /** When it last came to its end; null: never yet. */
  syncedAt: string | null
  /** When everything was last pulled, and not only what changed. */
  wholeAt: string | null
  /** How long ago it last came to its end. */
  lagSeconds: number | null
  /** Whether that is three times as long as its schedule has it, or longer. */
  isLate: boolean
  /** How its last run went; `running` while one is under way, `none` before the first. */
  state: Open<'ok' | 'failed' | 'running' | 'none'>
  /** Why the last run failed; null: it did not. */
  detail: string | null
  /** Whether somebody has asked for a run that has not ended yet. */
  isAsked: boolean
  /** When it is pulled next; null: not by itself. */
  nextAt: string | null
  lastRun: {
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
  } | {
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
  }
}

export interface FeedRun {
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
}
