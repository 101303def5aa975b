/** What is known when a pull has ended. */
interface Pulled {
  /** The newest change that it has shown, on the wall of the head office: `YYYY-MM-DDTHH:MM:SS`. */
  newest: string | undefined
  /** When it began and how long it took, by our clock, in milliseconds. */
  beganMs: number
  tookMs: number
}

interface Head {
  timeZone: string
  overlapSeconds: number
}

const dayMs = 86_400_000

/** A moment as the wall of the head office shows it, as queries name it. */
export const wallAt = (ms: number, timeZone: string) =>
  text(Temporal.Instant.fromEpochMilliseconds(Math.floor(ms)).toZonedDateTimeISO(timeZone).toPlainDateTime())

/**
 * From where the next pull has to go on; undefined where this one has shown no change, and so moved nothing. It is made of the other
 * side's own stamps, less the time the pull took, so that neither clocks that differ nor a wrong zone lose a change; never later than
 * our clock says, in case a stamp is; and behind that by the overlap, for changes that are committed late or within the same second.
 * In the hour that a zone shows twice it goes back to before that hour, since its stamps do not say which of the two they are of.
 */
export function markAfter({ newest, beganMs, tookMs }: Pulled, { timeZone, overlapSeconds }: Head): string | undefined {
  if (newest === undefined) return
  const began = Temporal.Instant.fromEpochMilliseconds(Math.floor(beganMs)).toZonedDateTimeISO(timeZone)
  const shown = Temporal.PlainDateTime.from(newest).toZonedDateTime(timeZone, { disambiguation: 'earlier' })
  const before = shown.subtract({ milliseconds: Math.ceil(tookMs) })
  const earlier = Temporal.ZonedDateTime.compare(before, began) < 0 ? before : began
  const mark = earlier.subtract({ seconds: overlapSeconds })
  const repeated = repeatedHour(mark.toPlainDateTime(), timeZone)
  return text(repeated ? repeated.subtract({ seconds: overlapSeconds }) : mark.toPlainDateTime())
}

/** Where the hour begins that a zone shows twice, for a time within it. */
function repeatedHour(wall: Temporal.PlainDateTime, timeZone: string): Temporal.PlainDateTime | undefined {
  const [first, second] = (['earlier', 'later'] as const).map(disambiguation =>
    wall.toZonedDateTime(timeZone, { disambiguation }),
  ) as [Temporal.ZonedDateTime, Temporal.ZonedDateTime]
  // The hour that is skipped has two readings as well, neither of which shows that time.
  if (first.equals(second) || !first.toPlainDateTime().equals(wall)) return
  return first.getTimeZoneTransition('next')?.toPlainDateTime()
}

const text = (wall: Temporal.PlainDateTime) => wall.toString({ smallestUnit: 'second' })

/** Follows a fetch: when it began, and the newest change it shows. */
export function trackFetch(head: Head) {
  const beganMs = Date.now()
  const began = performance.now()
  // A stamp of some other day to come is a mistake, and must not hide all changes until then.
  const latest = () => wallAt(Date.now() + dayMs, head.timeZone)
  let newest: string | undefined
  return {
    beganMs,
    show(stamp: string | null) {
      if (stamp !== null && (newest === undefined || stamp > newest) && stamp <= latest()) newest = stamp
    },
    /** The mark to leave, for a pull that has ended. */
    end() {
      const since = markAfter({ newest, beganMs, tookMs: performance.now() - began }, head)
      return since === undefined ? {} : { since }
    },
  }
}
