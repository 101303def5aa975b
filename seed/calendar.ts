const msADay = 86_400_000

/** A day as a number: days since 1970. */
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

/** The same day of a later month; the last one of a shorter month. */
export function monthsLater(day: Day, months: number): Day {
  const from = new Date(day * msADay)
  const first = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months, 1)
  const length = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months + 1, 0)).getUTCDate()
  return first / msADay + Math.min(from.getUTCDate(), length) - 1
}

/** The demo shop knows nothing of today: its sales cover the three years that end with the reference day. */
export const referenceDay = dayOf('2026-10-31')
export const firstDay = dayOf('2023-11-01')

/** The reward programme's first day; points and rewards last 36 months, so all that is there expires in 2027-2029. */
export const programmeStart = dayOf('2024-02-01')
