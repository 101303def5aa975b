import { RowError } from './row-error.ts'

/** A date (`YYYY-MM-DD`) and a time of day (`HH:MM:SS`). `offset`: the difference to UTC, such as `+02:00`. */
interface DateTime {
  day: string
  time?: string | undefined
  offset?: string | undefined
}

/** Reads a date and time in the format of a file. Returns undefined if the text has another format. */
type ReadDateTime = (text: string) => DateTime | undefined

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

const offsetPattern = '(?<offset>Z|UTC|[+-]\\d{2}(?::?\\d{2})?)'

/** The patterns of the letters in a format. `MM` after the hour are minutes. */
const formatParts: Readonly<Record<string, string>> = {
  YYYY: '(?<year>\\d{4})',
  YY: '(?<year>\\d{2})',
  MMMM: '(?<month>[A-Za-z]{3,9}\\.?)',
  MMM: '(?<month>[A-Za-z]{3,9}\\.?)',
  MM: '(?<month>\\d{2})',
  M: '(?<month>\\d{1,2})',
  DD: '(?<day>\\d{2})',
  D: '(?<day>\\d{1,2})',
  HH: '(?<hour>\\d{2})',
  H: '(?<hour>\\d{1,2})',
  minutes: '(?<minute>\\d{2})',
  SS: '(?<second>\\d{2})(?:[.,]\\d+)?',
  AM: '(?<half>[AaPp][Mm])',
  Z: offsetPattern,
}

/** No date and no date format is longer. Longer cells are rejected before a pattern is matched. */
const maxDateLength = 64

/**
 * Creates a reader of times in a format such as `DD.MM.YYYY`, `M/D/YY H:MM AM` or `YYYY-MM-DD HH:MM:SS Z`. A format without an hour also
 * reads a time of day after the date, and a format with an hour also reads a date alone. A two-digit year whose day is after `latest` is in
 * the century before. Throws if the format has no date, is too long, repeats a part or has unknown letters.
 */
export function createDateReader(format: string, latest = '9999-12-31'): ReadDateTime {
  if (format.length > maxDateLength) throw new Error(`A date format can have at most ${maxDateLength} characters.`)
  const hour = format.indexOf('H')
  const dayPattern = toPattern((hour < 0 ? format : format.slice(0, hour)).replace(/[\sT,]+$/, ''))
  if (!['year', 'month', 'day'].every(part => dayPattern.includes(`<${part}>`)))
    throw new Error(`${format} must have a year, a month and a day, such as DD.MM.YYYY, M/D/YYYY H:MM or DD-MMM-YY.`)
  const dayOnly = new RegExp(`^${dayPattern}$`)
  const complete =
    hour < 0 ? new RegExp(`^${dayPattern}[\\sT,]+(?<time>[^\\sT,].*)$`) : new RegExp(`^${toPattern(format)}$`)
  return text => {
    if (text.length > maxDateLength) return
    const groups = (complete.exec(text) ?? dayOnly.exec(text))?.groups
    if (!groups) return
    const time = groups.time === undefined ? toTime(groups) : parseTime(groups.time)
    if ((groups.time ?? groups.hour) !== undefined && time === undefined) return
    const monthAndDay = `${toMonth(groups.month)}-${groups.day?.padStart(2, '0')}`
    const day = parseDay(`${toYear(groups.year, monthAndDay, latest)}-${monthAndDay}`)
    return day === undefined ? undefined : { day, time, offset: groups.offset }
  }
}

/** The parts of a format: letters of `formatParts`, offsets, fractions of a second, blanks, and one other character. */
const formatPart = /YYYY|YY|MMMM|MMM|MM|M|DD|D|HH|H|SS|AM|PM|Z|[+-]\d{2}:?\d{2}|[.,]S+|\s+|./g

/** The remedies for letters of other notations. */
const otherLetters: Readonly<Record<string, string>> = {
  m: 'Write minutes as MM after the hour, and months as MM before it.',
  y: 'Write years as YYYY or YY.',
  d: 'Write days as DD or D.',
  h: 'Write hours as HH or H.',
  s: 'Write seconds as SS.',
  S: 'Write seconds as SS, and their fractions as .SSS.',
  a: 'Write AM for AM or PM.',
  x: 'Write Z for an offset such as +02:00.',
}

/**
 * Returns the pattern of a date format. A run of blanks becomes one `\s+`, and each part can occur once, so that no two quantifiers
 * compete for the same characters and matching takes linear time. Errors are explained in the letters of the format.
 */
function toPattern(format: string) {
  const hour = format.indexOf('H')
  const used = new Set<string>()
  return format.replace(formatPart, (letters, at: number) => {
    // `SS` reads fractions too.
    if (/^[.,]S/.test(letters)) return ''
    const isMinutes = letters === 'MM' && hour >= 0 && at > hour
    const name = isMinutes ? 'minutes' : letters === 'PM' ? 'AM' : /^[+-]\d/.test(letters) ? 'Z' : letters
    const pattern = formatParts[name]
    if (pattern === undefined) {
      if (/\s/.test(letters)) return '\\s+'
      if (/[A-Za-z]/.test(letters) && letters !== 'T') throw new Error(describeLetter(format, letters))
      return RegExp.escape(letters)
    }
    const group = pattern.slice(0, pattern.indexOf('>'))
    if (used.has(group))
      throw new Error(`${format} can have ${letters} only once${isMinutes ? ' after the hour' : ''}.`)
    used.add(group)
    return pattern
  })
}

function describeLetter(format: string, letter: string) {
  const letters = new RegExp(`${letter}+`).exec(format)?.[0] ?? letter
  const remedy = otherLetters[letter] ?? otherLetters[letter.toLowerCase()]
  return `${format} can't have ${letters}. ${remedy ?? 'Its letters can be YYYY, YY, MMM, MM, M, DD, D, HH, H, SS, AM, Z and T.'}`
}

/** A two-digit year is in 1970 to 2069, or a century earlier if its day would be after `latest`. */
function toYear(year = '', day: string, latest: string) {
  if (year.length === 4) return year
  const isOfLastCentury = Number(year) >= 70 || `20${year}-${day}` > latest
  return `${isOfLastCentury ? 19 : 20}${year}`
}

const toMonth = (month = '') =>
  (/^\d/.test(month) ? month : String(months.indexOf(month.slice(0, 3).toLowerCase()) + 1)).padStart(2, '0')

interface TimeParts {
  hour?: string
  minute?: string
  second?: string
  half?: string
}

function toTime({ hour, minute = '00', second = '00', half }: TimeParts): string | undefined {
  if (hour === undefined) return
  const number = Number(hour)
  if (half !== undefined && (number < 1 || number > 12)) return
  const hourOfDay = half === undefined ? number : (number % 12) + (/^p/i.test(half) ? 12 : 0)
  if (hourOfDay > 23 || Number(minute) > 59 || Number(second) > 59) return
  return `${String(hourOfDay).padStart(2, '0')}:${minute}:${second}`
}

const timePattern = /^(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:[.,]\d+)?)?\s*(?<half>[AaPp][Mm])?$/

/** Parses a time of day, also without seconds, or with AM or PM. Returns `HH:MM:SS`. */
const parseTime = (text: string) =>
  toTime((text.length > maxDateLength ? undefined : timePattern.exec(text.trim())?.groups) ?? {})

const notATimeOfDay = new RowError('must have a time in its time column: HH:MM:SS or HH:MM, also with AM or PM')

/** Replaces the time of day in `YYYY-MM-DD HH:MM:SS` by the time in another cell. An empty cell changes nothing. */
export function addTime(dateTime: unknown, cell: unknown): unknown {
  if (typeof dateTime !== 'string' || cell === undefined || cell === null || cell === '') return dateTime
  // Spreadsheets can add a date to a column of times. It has no meaning.
  const time = parseTime(String(cell).replace(/^\d{4}-\d{2}-\d{2}[ T]/, ''))
  return time === undefined ? notATimeOfDay : `${dateTime.slice(0, 10)} ${time}`
}

/**
 * Creates parsers of dates (`YYYY-MM-DD`) and times (`YYYY-MM-DD HH:MM:SS` in `timeZone`). A time with an offset is converted to the time
 * zone; without a time zone it is rejected. Default format: ISO 8601, also with a space, without seconds, or a date alone.
 */
export const createTimeParsers = (read: ReadDateTime = readIso, timeZone?: string) => ({
  /** The date as it is written: a birthday is the same day everywhere. */
  day: (text: string) => read(text)?.day,
  localDay: (text: string) => toLocal(read(text), timeZone)?.slice(0, 10),
  time: (text: string) => toLocal(read(text), timeZone),
})

function toLocal(dateTime: DateTime | undefined, timeZone: string | undefined): string | undefined {
  if (!dateTime) return
  const { day, time = '00:00:00', offset } = dateTime
  if (offset === undefined) return `${day} ${time}`
  if (timeZone === undefined) return
  const [, sign = '+', hours = '00', minutes = '00'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(offset) ?? []
  if (Number(hours) > 23 || Number(minutes) > 59) return
  const instant = Temporal.Instant.from(`${day}T${time}${sign}${hours}:${minutes}`)
  return instant.toZonedDateTimeISO(timeZone).toPlainDateTime().toString({ smallestUnit: 'second' }).replace('T', ' ')
}

const daysOfMonths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Returns the text if it is a date of the calendar. */
function parseDay(text: string): string | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []
  return isDay(Number(year), Number(month), Number(day)) ? text : undefined
}

function isDay(year: number, month: number, day: number) {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 && isLeap ? 29 : (daysOfMonths[month - 1] ?? 0)
  return year >= 1 && day >= 1 && day <= days
}

const isoTime = new RegExp(
  `^[ T\\u00a0\\u202f](?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d)(?::(?<second>[0-5]\\d)(?:[.,]\\d{1,9})?)?(?: ?${offsetPattern})?$`,
)

function readIso(text: string): DateTime | undefined {
  const day = parseDay(text.slice(0, 10))
  if (day === undefined || text.length === 10) return day === undefined ? undefined : { day }
  const {
    hour,
    minute,
    second = '00',
    offset,
  } = (text.length > maxDateLength ? undefined : isoTime.exec(text.slice(10))?.groups) ?? {}
  return hour === undefined ? undefined : { day, time: `${hour}:${minute}:${second}`, offset }
}
