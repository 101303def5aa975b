import { type Day, formatTime, parseDay, referenceDay } from './calendar.ts'
import { randomFor } from './random.ts'
import { drawBackOfficeSecond } from './trading.ts'

/** The earliest time of a last change. All older records were reviewed on this day. */
const firstChange = parseDay('2024-11-01')

/**
 * Returns a function that draws the time of a record's last change (`updateTimeStamp`). The time is within two years before the
 * reference day, mostly recent, and not before `earliest`.
 */
export function createChangeTimeDraw(kind: string): (earliest?: Day) => { updateTimeStamp: string } {
  const random = randomFor(`changes of ${kind}`)
  return (earliest = firstChange) => {
    const days = referenceDay - Math.max(earliest, firstChange)
    const day = referenceDay - Math.floor(days * random.fraction() ** 2)
    return { updateTimeStamp: formatTime(day, drawBackOfficeSecond(random)) }
  }
}
