const ofMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** The day, where there is such a day in the calendar. */
export function dateIn(text: string): string | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []
  return isDay(Number(year), Number(month), Number(day)) ? text : undefined
}

function isDay(year: number, month: number, day: number) {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 && leap ? 29 : (ofMonth[month - 1] ?? 0)
  return year >= 1 && day >= 1 && day <= days
}

/** `YYYY-MM-DD HH:MM:SS` of a time that may be written with `T`, without seconds, or as a day alone: its midnight. */
export function localTimeIn(text: string): string | undefined {
  const day = dateIn(text.slice(0, 10))
  if (day === undefined) return
  if (text.length === 10) return `${day} 00:00:00`
  const [, hour, minute, second = '00'] = /^[ T]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/.exec(text.slice(10)) ?? []
  return hour === undefined ? undefined : `${day} ${hour}:${minute}:${second}`
}
