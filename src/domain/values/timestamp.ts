const local = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?))?$/
const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/i

/**
 * A moment as a request may write it (contract 1.2): a wall-clock time of `timeZone`, or RFC 3339. Returns RFC 3339 in UTC, to the
 * microsecond; undefined where it cannot be read, or names a time that the calendar or the clock does not have (30 February,
 * the hour skipped in spring). A day is its first moment. A time that the clock shows twice is the earlier one: a list begins too
 * early rather than too late.
 */
export function readMoment(text: string, timeZone: string): string | undefined {
  try {
    if (instant.test(text)) {
      // Temporal would take a leap second as :59.
      if (text.slice(17, 19) === '60') return
      return toSupportedTimestamp(Temporal.Instant.from(text))
    }
    const wall = wallClock(text, timeZone)
    return wall?.shown ? toSupportedTimestamp(wall.zoned.toInstant()) : undefined
  } catch {
    return
  }
}

/** A time of the calendar as the clock of `timeZone` has it, and whether that clock shows it. Throws what Temporal does. */
function wallClock(text: string, timeZone: string) {
  const [, date, time] = local.exec(text) ?? []
  if (!date || time?.endsWith(':60')) return
  const day = Temporal.PlainDate.from(date, { overflow: 'reject' })
  // Without a time it is where the day begins, which is not at midnight where summer time begins there.
  if (!time) {
    const zoned = day.toZonedDateTime(timeZone)
    return { zoned, shown: zoned.toPlainDate().equals(day) }
  }
  const wall = day.toPlainDateTime(time)
  const zoned = wall.toZonedDateTime(timeZone, { disambiguation: 'earlier' })
  return { zoned, shown: zoned.toPlainDateTime().equals(wall) }
}

/** Whether a text is a wall-clock time, or a day, that the clock of `timeZone` skips. */
export function isSkipped(text: string, timeZone: string): boolean {
  try {
    return wallClock(text, timeZone)?.shown === false
  } catch {
    return false
  }
}

/** Years before 1 and after 9999, which an offset may lead to, have no such text, and no records. */
function toSupportedTimestamp(moment: Temporal.Instant): string | undefined {
  const text = moment.toString({ fractionalSecondDigits: 6, roundingMode: 'floor' })
  return /^(?!0000)\d{4}-/.test(text) ? text : undefined
}

/** A moment as records show it: `YYYY-MM-DD HH:MM:SS`, as the clock of `timeZone` has it. */
export const formatLocalTime = (moment: Temporal.Instant, timeZone: string) =>
  moment.toZonedDateTimeISO(timeZone).toPlainDateTime().toString({ smallestUnit: 'second' }).replace('T', ' ')

/** What `readMoment` takes, in words. */
export const timestampFormats =
  'RFC 3339 with `Z` or an offset, or `YYYY-MM-DD`, `YYYY-MM-DDTHH:MM`, `YYYY-MM-DDTHH:MM:SS` or `YYYY-MM-DD HH:MM:SS` in the service time zone'
