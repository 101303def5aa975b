const local = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?))?$/
const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/i

/**
 * Parses a timestamp of a request: a local time in `timeZone`, or RFC 3339. Returns RFC 3339 in UTC with microseconds. Returns undefined if it
 * can't be parsed or doesn't exist (30 February, the hour that is skipped in spring). A date is the beginning of its day. A local time that
 * occurs twice is the earlier one, so that a list begins too early rather than too late.
 */
export function readTimestamp(text: string, timeZone: string): string | undefined {
  try {
    if (instant.test(text)) {
      // Temporal would read a leap second as :59.
      if (text.slice(17, 19) === '60') return
      return toSupportedTimestamp(Temporal.Instant.from(text))
    }
    const wall = toWallClock(text, timeZone)
    return wall?.exists ? toSupportedTimestamp(wall.zoned.toInstant()) : undefined
  } catch {
    return
  }
}

/** Returns a local time in `timeZone`. `exists` is false if the clock of the time zone skips it. Throws if it is not in the calendar. */
function toWallClock(text: string, timeZone: string) {
  const [, date, time] = local.exec(text) ?? []
  if (!date || time?.endsWith(':60')) return
  const day = Temporal.PlainDate.from(date, { overflow: 'reject' })
  // A date is the beginning of its day, which is not midnight if summer time begins at midnight.
  if (!time) {
    const zoned = day.toZonedDateTime(timeZone)
    return { zoned, exists: zoned.toPlainDate().equals(day) }
  }
  const wall = day.toPlainDateTime(time)
  const zoned = wall.toZonedDateTime(timeZone, { disambiguation: 'earlier' })
  return { zoned, exists: zoned.toPlainDateTime().equals(wall) }
}

/** True if the text is a local time or a date that the clock of `timeZone` skips. */
export function isSkipped(text: string, timeZone: string): boolean {
  try {
    return toWallClock(text, timeZone)?.exists === false
  } catch {
    return false
  }
}

/** Formats an instant. Returns undefined outside of the years 1 to 9999, which an offset can lead to. */
function toSupportedTimestamp(value: Temporal.Instant): string | undefined {
  const text = value.toString({ fractionalSecondDigits: 6, roundingMode: 'floor' })
  return /^(?!0000)\d{4}-/.test(text) ? text : undefined
}

/** Formats an instant as records show it: `YYYY-MM-DD HH:MM:SS` in `timeZone`. */
export const formatLocalTime = (value: Temporal.Instant, timeZone: string) =>
  value.toZonedDateTimeISO(timeZone).toPlainDateTime().toString({ smallestUnit: 'second' }).replace('T', ' ')

/** The formats that `readTimestamp` accepts, for messages. */
export const timestampFormats =
  'RFC 3339 with `Z` or an offset, or `YYYY-MM-DD`, `YYYY-MM-DDTHH:MM`, `YYYY-MM-DDTHH:MM:SS` or `YYYY-MM-DD HH:MM:SS` in the service time zone'
