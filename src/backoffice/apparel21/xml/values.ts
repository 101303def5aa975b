import type { Xml } from './xml.ts'

/** The first element at a path. */
export function at(element: Xml | undefined, ...path: string[]): Xml | undefined {
  let found = element
  for (const name of path) found = found?.children.find(child => child.name === name)
  return found
}

/** All elements of a name at a path, e.g. `every(person, 'References', 'Reference')`. */
export function every(element: Xml | undefined, ...path: string[]): Xml[] {
  const name = path.pop()
  return at(element, ...path)?.children.filter(child => child.name === name) ?? []
}

/** Text as this system leaves it: with blanks at its end, and Windows' line breaks. Null where there is none. */
export function clean(text: string | undefined): string | null {
  const trimmed = text?.replaceAll(/\r\n?/g, '\n').trim()
  return trimmed ? trimmed : null
}

/** The text at a path; null where the element is absent, empty or nil. */
export function text(element: Xml | undefined, ...path: string[]): string | null {
  const found = at(element, ...path)
  return found && !isNil(found) ? clean(found.text) : null
}

const isNil = ({ attributes }: Xml) => /^(true|1)$/i.test(attributes['xsi:nil']?.trim() ?? '')

/** `true` and `false` in any case; null for anything else. */
export function flag(element: Xml | undefined, ...path: string[]): boolean | null {
  const word = text(element, ...path)?.toLowerCase()
  return word === 'true' || word === 'false' ? word === 'true' : null
}

/** A whole number that a PostgreSQL integer holds, also when written with decimals (`4.0`). */
export const whole = (element: Xml | undefined, ...path: string[]) => wholeIn(text(element, ...path))

export function wholeIn(given: string | null | undefined): number | null {
  const plain = decimalIn(given)
  const value = plain === null || plain.includes('.') ? Number.NaN : Number(plain)
  return Math.abs(value) <= 2_147_483_647 ? value : null
}

/** The whole number that is not above a given one. */
export function flooredIn(given: string | null | undefined): number | null {
  const plain = decimalIn(given)
  return plain === null ? null : wholeIn(String(Math.floor(Number(plain))))
}

/** How much was sold, with three decimals at most. */
export function units(element: Xml | undefined, ...path: string[]): number | null {
  const told = rounded(text(element, ...path), 3)
  return told === null || Math.abs(Number(told)) > 2_147_483_647 ? null : Number(told)
}

/** A decimal number as text in its shortest form: `59.90` is `59.9`. */
export const decimal = (element: Xml | undefined, ...path: string[]) => decimalIn(text(element, ...path))

/** A .NET decimal has 28 digits at most behind its point. */
function decimalIn(given: string | null | undefined): string | null {
  const trimmed = given?.trim() ?? ''
  const [, sign, before = '', after = ''] = /^([+-]?)(\d{0,18})(?:\.(\d{0,28}))?$/.exec(trimmed) ?? []
  if (sign === undefined || before + after === '') return null
  const fraction = after.replace(/0+$/, '')
  const plain = `${before.replace(/^0+(?=\d)/, '') || '0'}${fraction && `.${fraction}`}`
  return sign === '-' && plain !== '0' ? `-${plain}` : plain
}

/** An amount with at most so many decimals, rounded half away from zero. */
export const money = (element: Xml | undefined, decimals: number, ...path: string[]) =>
  rounded(text(element, ...path), decimals)

function rounded(given: string | null, decimals: number): string | null {
  const plain = decimalIn(given)
  const [, sign = '', before = '', after = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(plain ?? '') ?? []
  if (!before || before.length > 12) return null
  const up = Number(after[decimals] ?? '0') >= 5 ? 1n : 0n
  const units = String(BigInt(before + after.slice(0, decimals).padEnd(decimals, '0')) + up).padStart(decimals + 1, '0')
  const amount = decimals ? `${units.slice(0, -decimals)}.${units.slice(-decimals)}` : units
  return sign && units !== '0'.repeat(units.length) ? `-${amount}` : amount
}

/** A percentage, where it is one that has a meaning: 0 to 999.9999, rounded to so many decimals. */
export function percent(element: Xml | undefined, ...path: string[]): string | null {
  const plain = decimalIn(rounded(text(element, ...path), 4))
  return plain !== null && /^\d{1,3}(\.\d+)?$/.test(plain) ? plain : null
}

/** A day as `YYYY-MM-DD`, of a date with or without time; null for one that the calendar does not have, and .NET's "no date". */
export function day(element: Xml | undefined, ...path: string[]): string | null {
  const moment = wallIn(text(element, ...path))
  return moment ? moment.slice(0, 10) : null
}

/** A time as `YYYY-MM-DD HH:MM:SS` on the wall of the head office. */
export const localTime = (element: Xml | undefined, ...path: string[]) =>
  wallIn(text(element, ...path))?.replace('T', ' ') ?? null

const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?)?$/
const australian =
  /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})(?:,?\s+(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?\s*(?:([ap])\.?m\.?)?)?$/i

/**
 * `YYYY-MM-DDTHH:MM:SS` of a time in one of this system's forms: ISO, perhaps with fractions, and `d/MM/yyyy h:mm:ss tt`, which is
 * what .NET writes in Australia. A server set to another culture puts the month first: that shows where there is no such month.
 */
export function wallIn(given: string | null | undefined): string | null {
  const trimmed = given?.replaceAll(/[\u00a0\u202f]/g, ' ').trim() ?? ''
  const written = iso.exec(trimmed)
  if (written) return wall(written[1], written[2], written[3], written.slice(4, 7))
  const [all, first, second, year, hour, ...rest] = australian.exec(trimmed) ?? []
  if (all === undefined) return null
  const half = rest[2]?.toLowerCase()
  const hours = half === undefined ? hour : String((Number(hour) % 12) + (half === 'p' ? 12 : 0))
  const time = [hours, rest[0], rest[1]]
  return wall(year, second, first, time) ?? wall(year, first, second, time)
}

function wall(year = '', month = '', date = '', time: readonly (string | undefined)[]): string | null {
  const [hour = 0, minute = 0, second = 0] = time.map(part => Number(part ?? 0))
  if (Number(year) <= 1) return null
  try {
    const parts = { year: Number(year), month: Number(month), day: Number(date), hour, minute, second }
    return Temporal.PlainDateTime.from(parts, { overflow: 'reject' }).toString({ smallestUnit: 'second' })
  } catch {
    return null
  }
}
