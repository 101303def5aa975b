const msADay = 86_400_000

/** Days since 1970-01-01. */
export type Day = number

export const dayOf = (date: string): Day => Date.parse(`${date}T00:00:00Z`) / msADay

/** `YYYY-MM-DD`. */
export const dateText = (day: Day) => new Date(day * msADay).toISOString().slice(0, 10)

/** `YYYY-MM-DD HH:MM:SS`. */
export const timeText = (day: Day, second: number) =>
  new Date(day * msADay + second * 1000).toISOString().slice(0, 19).replace('T', ' ')

/** 0 is Sunday. */
export const weekdayOf = (day: Day) => (day + 4) % 7

/** 0 is January. */
export const monthOf = (day: Day) => new Date(day * msADay).getUTCMonth()

/** Returns the same day of a later month, or the last day of a shorter month. */
export function monthsLater(day: Day, months: number): Day {
  const from = new Date(day * msADay)
  const first = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months, 1)
  const length = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months + 1, 0)).getUTCDate()
  return first / msADay + Math.min(from.getUTCDate(), length) - 1
}

/** The day on which the three years of sales end. It never depends on today. */
export const referenceDay = dayOf('2026-10-31')
export const firstDay = dayOf('2023-11-01')

/** The first day of the reward program. Points and rewards last 36 months, so all open lots expire in 2027-2029. */
export const programmeStart = dayOf('2024-02-01')
