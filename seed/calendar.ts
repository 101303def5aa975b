const dayMs = 86_400_000

/** Days since 1970-01-01. */
export type Day = number

export const parseDay = (date: string): Day => Date.parse(`${date}T00:00:00Z`) / dayMs

/** Formats a day as `YYYY-MM-DD`. */
export const formatDate = (day: Day) => new Date(day * dayMs).toISOString().slice(0, 10)

/** Formats a second of a day as `YYYY-MM-DD HH:MM:SS`. */
export const formatTime = (day: Day, second: number) =>
  new Date(day * dayMs + second * 1000).toISOString().slice(0, 19).replace('T', ' ')

/** Returns the weekday. 0 is Sunday. */
export const getWeekday = (day: Day) => (day + 4) % 7

/** Returns the month. 0 is January. */
export const getMonth = (day: Day) => new Date(day * dayMs).getUTCMonth()

/** Returns the same day of a later month, or the last day of a shorter month. */
export function addMonths(day: Day, months: number): Day {
  const from = new Date(day * dayMs)
  const first = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months, 1)
  const length = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months + 1, 0)).getUTCDate()
  return first / dayMs + Math.min(from.getUTCDate(), length) - 1
}

/** The day on which the three years of sales end. It doesn't depend on the current date. */
export const referenceDay = parseDay('2026-10-31')
export const firstDay = parseDay('2023-11-01')

/** The first day of the reward program. Points and rewards last 36 months, so all open lots expire in 2027-2029. */
export const programStart = parseDay('2024-02-01')
