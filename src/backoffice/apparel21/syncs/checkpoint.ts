import type { Settings } from '../../../domain/tenancy/service-settings.ts'
import type { Client } from '../client/client.ts'

interface FetchResult {
  /** The newest change timestamp of the fetched records, in the back office's local time: `YYYY-MM-DDTHH:MM:SS`. */
  newest: string | undefined
  /** Start (epoch) and duration by our clock, in milliseconds. */
  beganMs: number
  tookMs: number
}

interface CheckpointOptions {
  timeZone: string
  overlapSeconds: number
}

const dayMs = 86_400_000

/** Converts epoch milliseconds into a local time for queries, `YYYY-MM-DDTHH:MM:SS`. */
export const toLocalTime = (ms: number, timeZone: string) =>
  formatLocalTime(Temporal.Instant.fromEpochMilliseconds(Math.floor(ms)).toZonedDateTimeISO(timeZone).toPlainDateTime())

/**
 * Returns the checkpoint from which the next sync continues. Returns undefined if no change was fetched; the old checkpoint stays.
 * - It is the back office's newest change timestamp less the duration of the fetch, so that clock differences lose no change.
 * - It is never later than the start by our clock, in case a timestamp is wrong.
 * - The overlap is subtracted, for changes that are committed late or within the same second.
 * - In the repeated hour of a time change it is before that hour, because its local times are ambiguous.
 */
export function getCheckpoint(
  { newest, beganMs, tookMs }: FetchResult,
  { timeZone, overlapSeconds }: CheckpointOptions,
): string | undefined {
  if (newest === undefined) return
  const start = Temporal.Instant.fromEpochMilliseconds(Math.floor(beganMs)).toZonedDateTimeISO(timeZone)
  const newestChange = Temporal.PlainDateTime.from(newest).toZonedDateTime(timeZone, { disambiguation: 'earlier' })
  const beforeFetch = newestChange.subtract({ milliseconds: Math.ceil(tookMs) })
  const earlier = Temporal.ZonedDateTime.compare(beforeFetch, start) < 0 ? beforeFetch : start
  const checkpoint = earlier.subtract({ seconds: overlapSeconds })
  const repeatedHourStart = findRepeatedHourStart(checkpoint.toPlainDateTime(), timeZone)
  return formatLocalTime(
    repeatedHourStart ? repeatedHourStart.subtract({ seconds: overlapSeconds }) : checkpoint.toPlainDateTime(),
  )
}

/** Returns the start of the repeated hour if a local time is within it. Otherwise returns undefined. */
function findRepeatedHourStart(
  localTime: Temporal.PlainDateTime,
  timeZone: string,
): Temporal.PlainDateTime | undefined {
  const [first, second] = (['earlier', 'later'] as const).map(disambiguation =>
    localTime.toZonedDateTime(timeZone, { disambiguation }),
  ) as [Temporal.ZonedDateTime, Temporal.ZonedDateTime]
  // A time in the skipped hour has two interpretations as well, but neither has that local time.
  if (first.equals(second) || !first.toPlainDateTime().equals(localTime)) return
  return first.getTimeZoneTransition('next')?.toPlainDateTime()
}

const formatLocalTime = (localTime: Temporal.PlainDateTime) => localTime.toString({ smallestUnit: 'second' })

/** Tracks a fetch: its start and the newest change timestamp. */
export function trackFetch(options: CheckpointOptions) {
  const beganMs = Date.now()
  const startedAt = performance.now()
  // A timestamp of a future day is an error, and must not hide all changes until then.
  const getLatest = () => toLocalTime(Date.now() + dayMs, options.timeZone)
  let newest: string | undefined
  return {
    beganMs,
    add(changedAt: string | null) {
      if (changedAt !== null && (newest === undefined || changedAt > newest) && changedAt <= getLatest())
        newest = changedAt
    },
    /** Returns the checkpoint of a completed fetch. */
    end() {
      const since = getCheckpoint({ newest, beganMs, tookMs: performance.now() - startedAt }, options)
      return since === undefined ? {} : { since }
    },
  }
}

/**
 * Creates a function that converts a change timestamp from the back office's local time, `YYYY-MM-DDTHH:MM:SS`, into a row's
 * `updateTimeStamp` in the service's local time, `YYYY-MM-DD HH:MM:SS`.
 */
export const createTimestampConverter =
  ({ connection }: Client, { timeZone }: Settings) =>
  (changedAt: string | null) => ({
    updateTimeStamp:
      changedAt &&
      Temporal.PlainDateTime.from(changedAt)
        .toZonedDateTime(connection.timeZone)
        .withTimeZone(timeZone)
        .toPlainDateTime()
        .toString({ smallestUnit: 'second' })
        .replace('T', ' '),
  })
