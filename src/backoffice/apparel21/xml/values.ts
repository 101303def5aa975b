import type { Xml } from './xml.ts'

/** Returns the first element at a path. Returns undefined if it doesn't exist. */
export function findElement(element: Xml | undefined, ...path: string[]): Xml | undefined {
  let current = element
  for (const name of path) current = current?.children.find(child => child.name === name)
  return current
}

/** Returns all elements at a path, for example `findElements(person, 'References', 'Reference')`. */
export function findElements(element: Xml | undefined, ...path: string[]): Xml[] {
  const name = path.pop()
  return findElement(element, ...path)?.children.filter(child => child.name === name) ?? []
}

/** Trims text and converts Windows line breaks. Returns null if nothing is left. */
export function normalizeText(text: string | undefined): string | null {
  const trimmed = text?.replaceAll(/\r\n?/g, '\n').trim()
  return trimmed ? trimmed : null
}

/** Returns the text at a path. Returns null if the element is missing, empty or nil. */
export function readText(element: Xml | undefined, ...path: string[]): string | null {
  const target = findElement(element, ...path)
  return target && !isNil(target) ? normalizeText(target.text) : null
}

const isNil = ({ attributes }: Xml) => /^(true|1)$/i.test(attributes['xsi:nil']?.trim() ?? '')

/** Reads `true` or `false`, not case-sensitive. Returns null for any other text. */
export function readBoolean(element: Xml | undefined, ...path: string[]): boolean | null {
  const word = readText(element, ...path)?.toLowerCase()
  return word === 'true' || word === 'false' ? word === 'true' : null
}

/** Reads an integer in PostgreSQL's range, also with zero decimals (`4.0`). Returns null for any other text. */
export const readInteger = (element: Xml | undefined, ...path: string[]) => parseInteger(readText(element, ...path))

export function parseInteger(text: string | null | undefined): number | null {
  const plain = parseDecimal(text)
  const value = plain === null || plain.includes('.') ? Number.NaN : Number(plain)
  return Math.abs(value) <= 2_147_483_647 ? value : null
}

/** Parses a decimal and rounds it down to an integer. Returns null if it isn't a number, or out of range. */
export function parseFlooredInteger(text: string | null | undefined): number | null {
  const plain = parseDecimal(text)
  return plain === null ? null : parseInteger(String(Math.floor(Number(plain))))
}

/** Reads a sold quantity, rounded to three decimals. Returns null if it isn't a number, or out of range. */
export function readQuantity(element: Xml | undefined, ...path: string[]): number | null {
  const quantity = roundDecimal(readText(element, ...path), 3)
  return quantity === null || Math.abs(Number(quantity)) > 2_147_483_647 ? null : Number(quantity)
}

/** Reads a decimal in its shortest form: `59.90` becomes `59.9`. Returns null if it isn't a number. */
export const readDecimal = (element: Xml | undefined, ...path: string[]) => parseDecimal(readText(element, ...path))

/** Parses a .NET decimal, which has at most 28 decimal places. */
function parseDecimal(text: string | null | undefined): string | null {
  const trimmed = text?.trim() ?? ''
  const [, sign, before = '', after = ''] = /^([+-]?)(\d{0,18})(?:\.(\d{0,28}))?$/.exec(trimmed) ?? []
  if (sign === undefined || before + after === '') return null
  const fraction = after.replace(/0+$/, '')
  const plain = `${before.replace(/^0+(?=\d)/, '') || '0'}${fraction && `.${fraction}`}`
  return sign === '-' && plain !== '0' ? `-${plain}` : plain
}

/** Reads an amount with `decimals` decimal places, rounded half away from zero. Returns null if it isn't a number. */
export const readAmount = (element: Xml | undefined, decimals: number, ...path: string[]) =>
  roundDecimal(readText(element, ...path), decimals)

function roundDecimal(text: string | null, decimals: number): string | null {
  const plain = parseDecimal(text)
  const [, sign = '', before = '', after = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(plain ?? '') ?? []
  if (!before || before.length > 12) return null
  const up = Number(after[decimals] ?? '0') >= 5 ? 1n : 0n
  const units = String(BigInt(before + after.slice(0, decimals).padEnd(decimals, '0')) + up).padStart(decimals + 1, '0')
  const amount = decimals ? `${units.slice(0, -decimals)}.${units.slice(-decimals)}` : units
  return sign && units !== '0'.repeat(units.length) ? `-${amount}` : amount
}

/** Reads a percentage from 0 to 999.9999, rounded to four decimals. Returns null for any other text. */
export function readPercentage(element: Xml | undefined, ...path: string[]): string | null {
  const plain = parseDecimal(roundDecimal(readText(element, ...path), 4))
  return plain !== null && /^\d{1,3}(\.\d+)?$/.test(plain) ? plain : null
}

/** Reads a date, with or without a time, as `YYYY-MM-DD`. Returns null for an invalid date and for .NET's empty date (year 1). */
export function readDate(element: Xml | undefined, ...path: string[]): string | null {
  const localTime = parseLocalTime(readText(element, ...path))
  return localTime ? localTime.slice(0, 10) : null
}

/** Reads a local time of the back office as `YYYY-MM-DD HH:MM:SS`. Returns null if it is invalid. */
export const readLocalTime = (element: Xml | undefined, ...path: string[]) =>
  parseLocalTime(readText(element, ...path))?.replace('T', ' ') ?? null

const isoPattern =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i
const australianPattern =
  /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})(?:,?\s+(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?\s*(?:([ap])\.?m\.?)?)?$/i

/**
 * Parses a local time in the back office's formats: ISO 8601, possibly with fractions and an offset, and `d/MM/yyyy h:mm:ss tt`, the format
 * of .NET in Australia. Returns `YYYY-MM-DDTHH:MM:SS`, or null if it is invalid.
 * A time with an offset is converted to `timeZone`. Without `timeZone`, it is read as written, because .NET writes dates as local midnights.
 * A server with another culture writes the month first; this is assumed if the day first isn't a valid date.
 */
export function parseLocalTime(text: string | null | undefined, timeZone?: string): string | null {
  const trimmed = text?.replaceAll(/[\u00a0\u202f]/g, ' ').trim() ?? ''
  const iso = isoPattern.exec(trimmed)
  if (iso) {
    const local = toLocalTime(iso[1], iso[2], iso[3], iso.slice(4, 7))
    const offset = iso[7]
    return local === null || offset === undefined || timeZone === undefined
      ? local
      : convertToZone(`${local}${offset.toUpperCase()}`, timeZone)
  }
  const [match, first, second, year, hour, minute, seconds, period] = australianPattern.exec(trimmed) ?? []
  if (match === undefined) return null
  const isPm = period?.toLowerCase() === 'p'
  const hour24 = period === undefined ? hour : String((Number(hour) % 12) + (isPm ? 12 : 0))
  const time = [hour24, minute, seconds]
  return toLocalTime(year, second, first, time) ?? toLocalTime(year, first, second, time)
}

function convertToZone(text: string, timeZone: string): string | null {
  try {
    return formatTime(Temporal.Instant.from(text).toZonedDateTimeISO(timeZone).toPlainDateTime())
  } catch {
    return null
  }
}

const formatTime = (time: Temporal.PlainDateTime) => time.toString({ smallestUnit: 'second' })

function toLocalTime(year = '', month = '', date = '', time: readonly (string | undefined)[]): string | null {
  const [hour = 0, minute = 0, second = 0] = time.map(part => Number(part ?? 0))
  if (Number(year) <= 1) return null
  try {
    const parts = { year: Number(year), month: Number(month), day: Number(date), hour, minute, second }
    return formatTime(Temporal.PlainDateTime.from(parts, { overflow: 'reject' }))
  } catch {
    return null
  }
}
