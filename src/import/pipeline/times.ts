import { RowError } from './row-error.ts'

/** A day (`YYYY-MM-DD`) and its time of day (`HH:MM:SS`). */
interface Moment {
  day: string
  clock?: string | undefined
}

/** Reads a moment as a file writes it; undefined where the text is none. */
type ReadMoment = (text: string) => Moment | undefined

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** The pattern of each part of a format. `MM` after an hour means minutes. */
const formatParts: Readonly<Record<string, string>> = {
  YYYY: '(?<year>\\d{4})',
  YY: '(?<year>\\d{2})',
  MMM: '(?<month>[A-Za-z]{3,9}\\.?)',
  MM: '(?<month>\\d{2})',
  M: '(?<month>\\d{1,2})',
  DD: '(?<day>\\d{2})',
  D: '(?<day>\\d{1,2})',
  HH: '(?<hour>\\d{2})',
  H: '(?<hour>\\d{1,2})',
  minutes: '(?<minute>\\d{2})',
  SS: '(?<second>\\d{2})(?:\\.\\d+)?',
  AM: '(?<half>[AaPp][Mm])',
}

/** No date is longer, and no date format. Longer cells are rejected before a pattern sees them. */
const maxDateLength = 64

/**
 * Returns a reader of times in a format such as `DD.MM.YYYY` or `M/D/YY H:MM AM`. A format without an hour also reads a time of day after
 * the day, and a format with an hour also reads a day alone. A two-digit year whose day is after `latest` is in the century before. Throws
 * if the format has no day, is too long or repeats a part.
 */
export function momentsLike(format: string, latest = '9999-12-31'): ReadMoment {
  if (format.length > maxDateLength) throw new Error(`A date format can have at most ${maxDateLength} characters.`)
  const hour = format.indexOf('H')
  const day = patternOf((hour < 0 ? format : format.slice(0, hour)).replace(/[\sT,]+$/, ''))
  if (!['year', 'month', 'day'].every(part => day.includes(`<${part}>`)))
    throw new Error(`${format} has no day: write it like DD.MM.YYYY, M/D/YYYY H:MM or DD-MMM-YY.`)
  const alone = new RegExp(`^${day}$`)
  const whole = hour < 0 ? new RegExp(`^${day}[\\sT,]+(?<clock>[^\\sT,].*)$`) : new RegExp(`^${patternOf(format)}$`)
  return text => {
    if (text.length > maxDateLength) return
    const found = (whole.exec(text) ?? alone.exec(text))?.groups
    if (!found) return
    const clock = found.clock === undefined ? clockOf(found) : clockIn(found.clock)
    if ((found.clock ?? found.hour) !== undefined && clock === undefined) return
    const monthAndDay = `${monthOf(found.month)}-${found.day?.padStart(2, '0')}`
    const date = dateIn(`${yearOf(found.year, monthAndDay, latest)}-${monthAndDay}`)
    return date === undefined ? undefined : { day: date, clock }
  }
}

/**
 * Returns the pattern of a date format. A run of blanks becomes one `\s+`, and each part can occur once, so that no two quantifiers
 * compete for the same characters and matching takes linear time.
 */
function patternOf(format: string) {
  const hour = format.indexOf('H')
  const used = new Set<string>()
  return format.replace(/YYYY|YY|MMM|MM|M|DD|D|HH|H|SS|AM|PM|\s+|./g, (letters, at: number) => {
    const name = letters === 'MM' && hour >= 0 && at > hour ? 'minutes' : letters === 'PM' ? 'AM' : letters
    const pattern = formatParts[name]
    if (pattern === undefined) return /\s/.test(letters) ? '\\s+' : RegExp.escape(letters)
    const group = pattern.slice(0, pattern.indexOf('>'))
    if (used.has(group)) throw new Error(`${format} can contain ${letters} only once.`)
    used.add(group)
    return pattern
  })
}

/** A year of two digits is one of 1970 to 2069, or a century earlier where its day would come later than the latest. */
function yearOf(year = '', day: string, latest: string) {
  if (year.length === 4) return year
  const isOfLastCentury = Number(year) >= 70 || `20${year}-${day}` > latest
  return `${isOfLastCentury ? 19 : 20}${year}`
}

const monthOf = (month = '') =>
  (/^\d/.test(month) ? month : String(months.indexOf(month.slice(0, 3).toLowerCase()) + 1)).padStart(2, '0')

interface Clock {
  hour?: string
  minute?: string
  second?: string
  half?: string
}

function clockOf({ hour, minute = '00', second = '00', half }: Clock): string | undefined {
  if (hour === undefined) return
  const told = Number(hour)
  if (half !== undefined && (told < 1 || told > 12)) return
  const inDay = half === undefined ? told : (told % 12) + (/^p/i.test(half) ? 12 : 0)
  if (inDay > 23 || Number(minute) > 59 || Number(second) > 59) return
  return `${String(inDay).padStart(2, '0')}:${minute}:${second}`
}

const clock = /^(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:\.\d+)?)?\s*(?<half>[AaPp][Mm])?$/

/** `HH:MM:SS` of a clock that may be without seconds, or with AM or PM. */
const clockIn = (text: string) =>
  clockOf((text.length > maxDateLength ? undefined : clock.exec(text.trim())?.groups) ?? {})

const notAClock = new RowError('has no time beside it: HH:MM:SS or HH:MM, also with AM or PM')

/** A time of a day, `YYYY-MM-DD HH:MM:SS`, with the clock that stands in another cell; one that is empty changes nothing. */
export function addTime(time: unknown, cell: unknown): unknown {
  if (typeof time !== 'string' || cell === undefined || cell === null || cell === '') return time
  // A column of times may have been made of one of days and times: the day is then of no account.
  const told = clockIn(String(cell).replace(/^\d{4}-\d{2}-\d{2}[ T]/, ''))
  return told === undefined ? notAClock : `${time.slice(0, 10)} ${told}`
}

/** Reads days and times as our own columns have them, unless a file writes them otherwise. */
export const timesBy = (read: ReadMoment | undefined) => ({
  day: (text: string) => (read ? read(text)?.day : dateIn(text)),
  time(text: string) {
    if (!read) return localTimeIn(text)
    const moment = read(text)
    return moment && `${moment.day} ${moment.clock ?? '00:00:00'}`
  },
})

const ofMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** The day, where there is such a day in the calendar. */
function dateIn(text: string): string | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []
  return isDay(Number(year), Number(month), Number(day)) ? text : undefined
}

function isDay(year: number, month: number, day: number) {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 && leap ? 29 : (ofMonth[month - 1] ?? 0)
  return year >= 1 && day >= 1 && day <= days
}

/** `YYYY-MM-DD HH:MM:SS` of a time that may be written with `T`, without seconds, or as a day alone: its midnight. */
function localTimeIn(text: string): string | undefined {
  const day = dateIn(text.slice(0, 10))
  if (day === undefined) return
  if (text.length === 10) return `${day} 00:00:00`
  const [, hour, minute, second = '00'] = /^[ T]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/.exec(text.slice(10)) ?? []
  return hour === undefined ? undefined : `${day} ${hour}:${minute}:${second}`
}
