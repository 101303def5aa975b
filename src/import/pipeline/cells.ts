import { findForbiddenCharacter } from '../../domain/values/characters.ts'
import { isEmail } from '../../domain/values/email.ts'
import { type DecimalMark, moneyCheck, percentCheck, unitPriceCheck, unitsCheck, wholeCheck } from './numbers.ts'
import { RowError } from './row-error.ts'
import { momentsLike, timesBy } from './times.ts'

/** The value of a cell, or a `RowError` why it is rejected: null clears what is stored, undefined leaves it. */
export type Check = (text: string) => unknown

/** What the checks need of a column's shape. */
export interface ColumnShape {
  type?: 'string' | 'integer' | 'number' | 'boolean'
  enum?: readonly string[]
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  description: string
  examples: readonly unknown[]
}

/** How a source writes its values, where it is not as our own columns have them. */
export interface Script {
  decimal?: DecimalMark | undefined
  /** Such as `DD.MM.YYYY` (`momentsLike`). */
  dateFormat?: string | undefined
  /** The last day that a birthday can be; absent: it may be any. */
  today?: string
}

/** No column takes a longer text. Patterns never see longer cells. */
const maxCellLength = 64 * 1024
const tooLong = new RowError(`is longer than ${maxCellLength} characters`)

interface Conditions {
  currency: string
  script: Script
  /** The shape demands a value. */
  required: boolean
  /** The table demands a value, so that an empty cell leaves what is stored. */
  kept: boolean
  /** Where it is required, an empty cell is null all the same. */
  mayBeEmpty: boolean
  /** It is an identifier that the API has in paths. */
  inPath: boolean
}

/** Makes the check of a column, once an import. */
export function checkOf(
  shape: ColumnShape,
  { currency, script, required, kept, mayBeEmpty, inPath }: Conditions,
): Check {
  const valid = valueCheck(shape, currency, script)
  const check: Check = inPath ? text => pathOf(valid(text)) : valid
  const left = kept || shape.type === 'boolean' || shape.enum !== undefined
  const empty = required && !mayBeEmpty ? new RowError('is required') : left ? undefined : emptyOf(shape)
  return text => (text.length > maxCellLength ? tooLong : text === '' || text.trim() === '' ? empty : check(text))
}

const notInPath = new RowError('cannot stand in a path: it has no / or \\, and is neither . nor ..')
/** Proxies and clients take a path apart at what these are, also where they are encoded. */
const pathOf = (value: unknown) => (typeof value === 'string' && /[/\\]|^\.{1,2}$/.test(value) ? notInPath : value)

const emptyOf = ({ format }: ColumnShape) => (format === 'list' ? [] : format === 'reference-pairs' ? {} : null)

function valueCheck(shape: ColumnShape, currency: string, { decimal, dateFormat, today }: Script): Check {
  if (shape.enum) return wordCheck(shape.enum)
  if (shape.type === 'boolean') return flag
  if (shape.type === 'integer') return wholeCheck(shape, decimal)
  if (shape.type === 'number') return unitsCheck(shape, decimal)
  if (shape.format === 'money') return moneyCheck(currency, decimal)
  if (shape.format === 'unit-price') return unitPriceCheck(decimal)
  if (shape.format === 'percent') return percentCheck(decimal)
  if (shape.format === 'date' || shape.format === 'local-time') return timeCheck(shape.format, dateFormat)
  if (shape.format === 'birthday') return birthdayCheck(dateFormat, today)
  const check = textCheck(shape)
  if (shape.format === 'reference-pairs') return text => pairsIn(check(text))
  if (shape.format === 'list') return text => listIn(check(text))
  if (shape.format === 'email') return text => emailIn(check(text.trim()))
  return isIdentifier(shape) ? text => check(text.trim()) : check
}

/** A text that is never empty; of a PIN every character counts. */
const isIdentifier = ({ minLength = 0, format }: ColumnShape) => minLength > 0 && format === undefined

const notADate = new RowError('is no day of the calendar: YYYY-MM-DD')
const notATime = new RowError('is no time: YYYY-MM-DD HH:MM:SS, YYYY-MM-DD HH:MM or YYYY-MM-DD, without a time zone')

function timeCheck(format: 'date' | 'local-time', written: string | undefined, latest?: string): Check {
  const times = timesBy(written === undefined ? undefined : momentsLike(written, latest))
  const told = written === undefined ? undefined : new RowError(`is no day of the calendar that is written ${written}`)
  return format === 'date'
    ? text => times.day(text.trim()) ?? told ?? notADate
    : text => times.time(text.trim()) ?? told ?? notATime
}

const toCome = new RowError('is in the future')

function birthdayCheck(written: string | undefined, today: string | undefined): Check {
  const check = timeCheck('date', written, today)
  return text => {
    const day = check(text)
    return typeof day === 'string' && today !== undefined && day > today ? toCome : day
  }
}

const notAFlag = new RowError('is neither true nor false: true, false, yes, no, y, n, 1 or 0')

const flags = new Map([
  ...['true', 'yes', 'y', '1'].map(word => [word, true] as const),
  ...['false', 'no', 'n', '0'].map(word => [word, false] as const),
])
const flag: Check = text => flags.get(text.trim().toLowerCase()) ?? notAFlag

function wordCheck(words: readonly string[]): Check {
  const known = new Set(words)
  const unknown = new RowError(`is none of ${words.join(', ')}`)
  return text => (known.has(text.trim()) ? text.trim() : unknown)
}

/** Such as `6.47789E+12`: the digits that it had are lost, and many texts look like it. */
const rounded = /^\s*\d([.,]\d+)?E\+\d+\s*$/
const wasRounded = new RowError('was made a number by a spreadsheet: format the column as text there, and export again')

function textCheck({ maxLength = Infinity, pattern, format, examples }: ColumnShape): Check {
  const overMaxLength = new RowError(`is longer than ${maxLength} characters`)
  // A long text may have paragraphs.
  const hasLines = maxLength >= 1000 && format === undefined
  const shaped = pattern === undefined ? undefined : new RegExp(pattern, 'u')
  const misshapen = new RowError(`does not look like ${examples[0]}`)
  return text => {
    const forbidden = findForbiddenCharacter(text, hasLines)
    if (forbidden) return new RowError(`has ${forbidden.name}`, '', `character ${forbidden.place}`)
    if (rounded.test(text)) return wasRounded
    if (text.length > maxLength && [...text].length > maxLength) return overMaxLength
    return shaped && !shaped.test(text) ? misshapen : text
  }
}

function pairsIn(text: unknown) {
  if (typeof text !== 'string') return text
  const pairs = new Map<string, string>()
  for (const part of partsOf(text)) {
    const [type = '', value = '', ...more] = part.split('=').map(side => side.trim())
    if (type === '' || value === '' || more.length) return new RowError('has a part that is no type=value', '', part)
    if (pairs.has(type)) return new RowError('has a type twice', '', type)
    pairs.set(type, value)
  }
  return Object.fromEntries(pairs)
}

const notAnEmail = new RowError('is no e-mail address')
const emailIn = (value: unknown) => (typeof value === 'string' && !isEmail(value) ? notAnEmail : value)

const listIn = (text: unknown) => (typeof text === 'string' ? partsOf(text) : text)

const partsOf = (text: string) =>
  text
    .split(';')
    .map(part => part.trim())
    .filter(part => part !== '')

/** A JSON value as the text that a cell would have; money as a JSON number with a fraction has no exact value. */
export function textOf(value: unknown, { type, format }: ColumnShape, decimal: DecimalMark = '.'): string | RowError {
  if (typeof value === 'string') return value
  if (value === null) return ''
  if (typeof value === 'number') {
    if (type === 'integer' || type === 'number') return String(value).replace('.', decimal)
    const amount = format === 'money' || format === 'unit-price'
    if (amount && Number.isSafeInteger(value)) return String(value)
    return new RowError('is a number: write it in quotation marks')
  }
  if (typeof value === 'boolean')
    return type === 'boolean' ? String(value) : new RowError('is true or false where text is expected')
  return new RowError('is an object or a list where a single value is expected')
}
