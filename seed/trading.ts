import { type Day, dateText, firstDay, monthOf, referenceDay, weekdayOf } from './calendar.ts'
import type { Place } from './places.ts'
import type { Random } from './random.ts'

/** Sales weights of the months, January first, and of the weekdays, Sunday first. */
const months = [10, 8, 9, 10, 11, 11, 9, 9, 9, 10, 13, 19]
const weekdays = [13, 10, 10, 11, 14, 16, 21]

interface Promotion {
  from: string
  to: string
  reason: string
  percent: number
  /** The factor by which sales increase. */
  rush: number
  webOnly?: boolean
}

const promotions: readonly Promotion[] = [
  { from: '06-15', to: '06-30', reason: 'End of financial year sale', percent: 25, rush: 1.3 },
  { from: '11-20', to: '11-29', reason: 'Click Week', percent: 20, rush: 1.2, webOnly: true },
  { from: '12-26', to: '12-31', reason: 'Boxing Day sale', percent: 30, rush: 1.4 },
]

/** Returns the event of a day. */
export function promotionOn(day: Day): Promotion | undefined {
  const date = dateText(day).slice(5)
  return promotions.find(({ from, to }) => date >= from && date <= to)
}

/** The one day on which all shops are closed. */
export const isClosed = (day: Day) => dateText(day).endsWith('-12-25')

/** Returns the number of sales of each day, for a total. Trade grows by a quarter over the years. */
export function salesByDay(total: number): number[] {
  const length = referenceDay - firstDay + 1
  const weights = Array.from({ length }, (_, i) => {
    const day = firstDay + i
    const usual = (months[monthOf(day)] ?? 0) * (weekdays[weekdayOf(day)] ?? 0) * (1 + (0.25 * i) / length)
    return usual * (promotionOn(day)?.rush ?? 1) * (isClosed(day) ? 0.15 : 1)
  })
  const sum = weights.reduce((a, b) => a + b, 0)
  // The rounding error of each day is carried to the next.
  let due = 0
  return weights.map(weight => {
    due += (total * weight) / sum
    const sales = Math.round(due)
    due -= sales
    return sales
  })
}

/** Opening hours of a shop, by its own clock. */
function hours(day: Day): [opens: number, closes: number] {
  const weekday = weekdayOf(day)
  if (weekday === 0) return [10, 17]
  if (weekday === 4 || weekday === 5) return [9, 20]
  return weekday === 6 ? [9, 17] : [9, 17.5]
}

/** Draws a second of the day, by the back office's clock. The middle of the day is busiest. */
export function secondInShop(random: Random, day: Day, place: Place) {
  const [opens, closes] = hours(day)
  const hour = opens + ((closes - opens) * (random.fraction() + random.fraction())) / 2
  return Math.floor(hour * 3600) - place.ahead * 60
}

/** Web orders begin at six in the morning. Most come in the evening. */
export const secondOnWeb = (random: Random) =>
  Math.floor((6 + 17.9 * Math.max(random.fraction(), random.fraction())) * 3600)

export const secondAtHeadOffice = (random: Random) => Math.floor((9 + 8 * random.fraction()) * 3600)
