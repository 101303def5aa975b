import { type Day, firstDay, formatDate, getMonth, getWeekday, referenceDay } from './calendar.ts'
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

/** Returns the promotion of a day, or undefined. */
export function findPromotion(day: Day): Promotion | undefined {
  const date = formatDate(day).slice(5)
  return promotions.find(({ from, to }) => date >= from && date <= to)
}

/** True on Christmas Day, when all shops are closed. */
export const isClosed = (day: Day) => formatDate(day).endsWith('-12-25')

/** Distributes a total of sales over the days. Sales grow by a quarter over the three years. */
export function computeDailySales(total: number): number[] {
  const length = referenceDay - firstDay + 1
  const weights = Array.from({ length }, (_, i) => {
    const day = firstDay + i
    const baseWeight = (months[getMonth(day)] ?? 0) * (weekdays[getWeekday(day)] ?? 0) * (1 + (0.25 * i) / length)
    return baseWeight * (findPromotion(day)?.rush ?? 1) * (isClosed(day) ? 0.15 : 1)
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

/** Returns the opening hours of a shop, by its own clock. */
function getOpeningHours(day: Day): [opens: number, closes: number] {
  const weekday = getWeekday(day)
  if (weekday === 0) return [10, 17]
  if (weekday === 4 || weekday === 5) return [9, 20]
  return weekday === 6 ? [9, 17] : [9, 17.5]
}

/** Draws the second of the day of a sale in a shop, by the back office's clock. The middle of the day is busiest. */
export function drawShopSecond(random: Random, day: Day, place: Place) {
  const [opens, closes] = getOpeningHours(day)
  const hour = opens + ((closes - opens) * (random.fraction() + random.fraction())) / 2
  return Math.floor(hour * 3600) - place.clockOffsetMinutes * 60
}

/** Draws the second of the day of a web order: from six in the morning, mostly in the evening. */
export const drawWebSecond = (random: Random) =>
  Math.floor((6 + 17.9 * Math.max(random.fraction(), random.fraction())) * 3600)

export const drawBackOfficeSecond = (random: Random) => Math.floor((9 + 8 * random.fraction()) * 3600)
