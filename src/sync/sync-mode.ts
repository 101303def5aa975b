import type { Feed } from '../domain/sync/port.ts'

/** What is known of a feed when a run of it begins. */
interface Known {
  since: string | null
  secondsSinceFinished: number | null
  secondsSinceFull: number | null
  /** Somebody wants everything read; `asksAnew`: since that failed last. */
  asksWhole: boolean
  asksAnew: boolean | null
  /** Runs in a row that were to read everything, and failed. */
  wholeFailures: number
  secondsSinceWholeFailed: number | null
  /** Where a run has found that nothing else can be asked for: how often everything is read. */
  wholeEvery: number | null
}

const minute = 60
/** Seconds from a failure to read everything to the next attempt; after the last one as long each time. */
const waits = [15, 30, 60, 120, 240].map(minutes => minutes * minute)

/**
 * Whether a run reads everything, and not only what changed. Where that is due but has just failed, changes are pulled in between, or
 * nothing would be while it cannot succeed; `wholeInSeconds` says when it is tried again.
 */
export function extentOf(feed: Feed, known: Known): { isFull: boolean; wholeInSeconds?: number } {
  if (!known.asksWhole && !isDue(feed, known)) return { isFull: false }
  const wait = waits[Math.min(known.wholeFailures, waits.length) - 1] ?? 0
  const left = wait - (known.secondsSinceWholeFailed ?? Number.POSITIVE_INFINITY)
  return left > 0 && !known.asksAnew && known.wholeEvery === null && tellsChanges(feed, known)
    ? { isFull: false, wholeInSeconds: left }
    : { isFull: true }
}

/** Whether everything has to be read. */
function isDue(feed: Feed, known: Known): boolean {
  if (feed.revisitSeconds !== undefined) return false
  if (!tellsChanges(feed, known)) return true
  return (known.secondsSinceFull ?? Number.POSITIVE_INFINITY) >= (feed.fullEverySeconds ?? 0)
}

/** Whether it can be asked for what has changed since the mark. */
const tellsChanges = ({ fullEverySeconds, reachSeconds }: Feed, { since, secondsSinceFinished }: Known) =>
  fullEverySeconds !== undefined &&
  since !== null &&
  (reachSeconds === undefined || (secondsSinceFinished ?? Number.POSITIVE_INFINITY) < reachSeconds)
