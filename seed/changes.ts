import { type Day, dayOf, referenceDay, timeText } from './calendar.ts'
import { randomFor } from './random.ts'
import { secondAtHeadOffice } from './trading.ts'

/** All older records were reviewed once, two years before the reference day. */
const firstChange = dayOf('2024-11-01')

/**
 * Draws the time of the last change (`updateTimeStamp`) of records. It is within two years before the reference day,
 * mostly recent, and not before the record's own first day.
 */
export function changesOf(kind: string): (earliest?: Day) => { updateTimeStamp: string } {
  const random = randomFor(`changes of ${kind}`)
  return (earliest = firstChange) => {
    const days = referenceDay - Math.max(earliest, firstChange)
    const day = referenceDay - Math.floor(days * random.fraction() ** 2)
    return { updateTimeStamp: timeText(day, secondAtHeadOffice(random)) }
  }
}
