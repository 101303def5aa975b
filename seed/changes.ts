import { type Day, dayOf, referenceDay, timeText } from './calendar.ts'
import { randomFor } from './random.ts'
import { secondAtHeadOffice } from './trading.ts'

/** Whatever is older was gone through once, two years ago. */
const firstChange = dayOf('2024-11-01')

/**
 * Draws when records of a kind last changed (`updateTimeStamp`), not before a day of their own: within the two years that end with the
 * reference day, most of them lately.
 */
export function changesOf(kind: string): (earliest?: Day) => { updateTimeStamp: string } {
  const random = randomFor(`changes of ${kind}`)
  return (earliest = firstChange) => {
    const days = referenceDay - Math.max(earliest, firstChange)
    const day = referenceDay - Math.floor(days * random.fraction() ** 2)
    return { updateTimeStamp: timeText(day, secondAtHeadOffice(random)) }
  }
}
