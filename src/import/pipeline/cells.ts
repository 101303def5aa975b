import { ReferenceRow } from '../../domain/catalog/references.ts'
import { findForbiddenCharacter } from '../../domain/values/characters.ts'
import { isEmail } from '../../domain/values/email.ts'
import {
  createIntegerParser,
  createMoneyParser,
  createPercentParser,
  createQuantityParser,
  createUnitPriceParser,
  type DecimalMark,
} from './numbers.ts'
import { RowError } from './row-error.ts'
import { createDateReader, createTimeParsers } from './times.ts'

/** Returns the value of a cell, or a `RowError` if it is invalid. Null clears the stored value, undefined keeps it. */
export type ParseCell = (text: string) => unknown

/** Cleans a cell before it is parsed. Calls `addRemark` if it changes the text. */
export type CleanCell = (text: string, addRemark: (remark: string) => void) => string

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

/** The formats of a file's values, if they differ from the standard ones. */
export interface ValueFormat {
  decimal?: DecimalMark | undefined
  /** Such as `DD.MM.YYYY` (`createDateReader`). */
  dateFormat?: string | undefined
  /** Times with an offset are converted to it. Absent: they are rejected. */
  timeZone?: string
  /** The latest birthday. Absent: any. */
  today?: string
}

/** No column accepts a longer text, and no pattern is matched against one. */
const maxCellLength = 64 * 1024
const cellTooLong = new RowError(`must have at most ${maxCellLength} characters`)

interface ColumnOptions {
  currency: string
  format: ValueFormat
  required: boolean
  /** True if an empty cell keeps the stored value, because the column can't be null. */
  keepsIfEmpty: boolean
  /** True if an empty cell is null, even if the column is required. */
  isNullable: boolean
  /** True for an identifier that occurs in paths of the API. */
  isPathSegment: boolean
}

export function createCellParser(
  shape: ColumnShape,
  { currency, format, required, keepsIfEmpty, isNullable, isPathSegment }: ColumnOptions,
): ParseCell {
  const parseValue = createValueParser(shape, currency, format)
  const parse: ParseCell = isPathSegment ? text => rejectPathCharacters(parseValue(text)) : parseValue
  const isKept = keepsIfEmpty || shape.type === 'boolean' || shape.enum !== undefined
  const empty = required && !isNullable ? new RowError('is required') : isKept ? undefined : getEmptyValue(shape)
  return text => (text.length > maxCellLength ? cellTooLong : text === '' || text.trim() === '' ? empty : parse(text))
}

const notInPath = new RowError("can't contain / or \\, or be . or .., because it is part of a URL")
/** Proxies and clients split or shorten a path at these, even if they are encoded. */
const rejectPathCharacters = (value: unknown) =>
  typeof value === 'string' && /[/\\]|^\.{1,2}$/.test(value) ? notInPath : value

const getEmptyValue = ({ format }: ColumnShape) => (format === 'list' ? [] : format === 'reference-pairs' ? {} : null)

function createValueParser(shape: ColumnShape, currency: string, valueFormat: ValueFormat): ParseCell {
  const { decimal } = valueFormat
  if (shape.enum) return createEnumParser(shape.enum)
  if (shape.type === 'boolean') return parseFlag
  if (shape.type === 'integer') return createIntegerParser(shape, decimal)
  if (shape.type === 'number') return createQuantityParser(shape, decimal)
  if (shape.format === 'money') return createMoneyParser(currency, decimal)
  if (shape.format === 'unit-price') return createUnitPriceParser(decimal)
  if (shape.format === 'percent') return createPercentParser(decimal)
  if (shape.format === 'date' || shape.format === 'local-time') return createTimeParser(shape.format, valueFormat)
  if (shape.format === 'checked-currency') return createCurrencyParser(currency)
  if (shape.format === 'birthday') return createBirthdayParser(valueFormat)
  const parseText = createTextParser(shape)
  if (shape.format === 'reference-pairs')
    return text => (text.trimStart().startsWith('{') ? parseReferences(text) : parsePairs(parseText(text)))
  if (shape.format === 'list') return text => parseList(parseText(text))
  if (shape.format === 'email') return text => parseEmail(parseText(text.trim()))
  return isIdentifier(shape) ? text => parseText(text.trim()) : parseText
}

/** True for texts that can't be empty, except PINs, which can begin or end with a space. */
const isIdentifier = ({ minLength = 0, format }: ColumnShape) => minLength > 0 && format === undefined

const notADate = new RowError('must be an existing date: YYYY-MM-DD')
const notATime = new RowError(
  'must be a time: YYYY-MM-DD HH:MM:SS, YYYY-MM-DD HH:MM or YYYY-MM-DD, also with an offset such as Z or +02:00',
)

function createTimeParser(type: 'date' | 'local-time', { dateFormat, timeZone }: ValueFormat): ParseCell {
  const parsers = createTimeParsers(dateFormat === undefined ? undefined : createDateReader(dateFormat), timeZone)
  const error = createDateError(dateFormat)
  return type === 'date'
    ? text => parsers.localDay(text.trim()) ?? error ?? notADate
    : text => parsers.time(text.trim()) ?? error ?? notATime
}

const createDateError = (dateFormat: string | undefined) =>
  dateFormat === undefined ? undefined : new RowError(`must be an existing date in the format ${dateFormat}`)

/** Accepts only the currency of the service, in any case. */
function createCurrencyParser(currency: string): ParseCell {
  const otherCurrency = new RowError(`must be ${currency}, the currency of the service`)
  return text => (text.trim().toUpperCase() === currency ? currency : otherCurrency)
}

const inFuture = new RowError("can't be in the future")

function createBirthdayParser({ dateFormat, today }: ValueFormat): ParseCell {
  const parsers = createTimeParsers(dateFormat === undefined ? undefined : createDateReader(dateFormat, today))
  const error = createDateError(dateFormat)
  return text => {
    const day = parsers.day(text.trim()) ?? error ?? notADate
    return typeof day === 'string' && today !== undefined && day > today ? inFuture : day
  }
}

const notAFlag = new RowError('must be true, false, yes, no, y, n, 1 or 0')

/** Also yes and no, and the logical values of spreadsheets, in German, French, Spanish, Italian and Dutch. */
const yes = 'true yes y 1 ja oui sí si sì wahr vrai verdadero vero waar'.split(' ')
const no = 'false no n 0 nein non nee falsch faux falso onwaar'.split(' ')
const flags = new Map([...yes.map(word => [word, true] as const), ...no.map(word => [word, false] as const)])
const parseFlag: ParseCell = text => flags.get(text.trim().toLowerCase()) ?? notAFlag

function createEnumParser(words: readonly string[]): ParseCell {
  const allowed = new Set(words)
  const unknown = new RowError(`must be one of ${words.join(', ')}`)
  return text => (allowed.has(text.trim()) ? text.trim() : unknown)
}

/** Such as `6.47789E+12`: the original digits are lost, and different identifiers look the same. */
const scientificNotation = /^\s*\d([.,]\d+)?E\+\d+\s*$/
const digitsLost = new RowError(
  'was converted to a number by a spreadsheet. Format its column as text, and export the file again',
)

const spreadsheetErrorValue = /^\s*#(?:REF!|VALUE!|NAME\?|DIV\/0!|NUM!|NULL!|SPILL!|CALC!|#{3,})\s*$/
const spreadsheetError = new RowError('is an error of a spreadsheet. Correct its cell, and export the file again')

function createTextParser({ maxLength = Infinity, pattern, format, examples }: ColumnShape): ParseCell {
  const overMaxLength = new RowError(`must have at most ${maxLength} characters`)
  // Long texts can have paragraphs.
  const hasLines = maxLength >= 1000 && format === undefined
  const regExp = pattern === undefined ? undefined : new RegExp(pattern, 'u')
  const mismatch = new RowError(`must look like ${examples[0]}`)
  return text => {
    const forbidden = findForbiddenCharacter(text, hasLines)
    if (forbidden) return new RowError(`can't contain ${forbidden.name}`, '', `character ${forbidden.place}`)
    if (scientificNotation.test(text)) return digitsLost
    if (spreadsheetErrorValue.test(text)) return spreadsheetError
    if (text.length > maxLength && [...text].length > maxLength) return overMaxLength
    return regExp && !regExp.test(text) ? mismatch : text
  }
}

function parsePairs(text: unknown) {
  if (typeof text !== 'string') return text
  const pairs = new Map<string, string>()
  for (const part of splitParts(text)) {
    const [type = '', value = '', ...more] = part.split('=').map(side => side.trim())
    if (type === '' || value === '' || more.length)
      return new RowError('must have parts of the form type=value', '', part)
    if (pairs.has(type)) return new RowError("can't have the same type twice", '', type)
    pairs.set(type, value)
  }
  return Object.fromEntries(pairs)
}

/** The value of a reference: its ID, or all of it. */
export type ReferenceValue = string | { referenceValueId: string; code: string | null; name: string }

const invalidReferences = new RowError('must be an object of references, as in the records of the API')
const referenceColumns = Object.entries(ReferenceRow.properties).map(
  ([name, shape]) => [name, createTextParser(shape as unknown as ColumnShape)] as const,
)

/** Parses references in the form of the API: `{ "brand": { "referenceValueId": "1", "code": "A", "name": "B" } }`. */
function parseReferences(text: string): Record<string, ReferenceValue> | RowError {
  let entries: [string, unknown][]
  try {
    entries = Object.entries(JSON.parse(text))
  } catch {
    return invalidReferences
  }
  const references = new Map<string, ReferenceValue>()
  for (const [type, value] of entries) {
    if (typeof value !== 'object' || value === null) return invalidReferences
    const { referenceValueId, code = null, name = null } = value as Record<string, unknown>
    const columns: Record<string, unknown> = { type, referenceValueId, code, name }
    for (const [column, parse] of referenceColumns) {
      const cell = columns[column]
      if (cell === null && (column === 'code' || column === 'name')) continue
      const parsed = typeof cell === 'string' && cell.trim() !== '' ? parse(cell) : invalidReferences
      if (parsed instanceof RowError) return parsed
    }
    const id = String(referenceValueId)
    references.set(type, typeof name === 'string' ? { referenceValueId: id, code: code as string | null, name } : id)
  }
  return Object.fromEntries(references)
}

const notAnEmail = new RowError('must be an email address')
const parseEmail = (value: unknown) => (typeof value === 'string' && !isEmail(value) ? notAnEmail : value)

const parseList = (text: unknown) => (typeof text === 'string' ? splitParts(text) : text)

const splitParts = (text: string) =>
  text
    .split(';')
    .map(part => part.trim())
    .filter(part => part !== '')

/** Converts a JSON value to the text of a cell. Rejects amounts that are JSON numbers with a fraction, because they are not exact. */
export function toCellText(
  value: unknown,
  { type, format }: ColumnShape,
  decimal: DecimalMark = '.',
): string | RowError {
  if (typeof value === 'string') return value
  if (value === null) return ''
  if (typeof value === 'number') {
    if (type === 'integer' || type === 'number') return String(value).replace('.', decimal)
    const isAmount = format === 'money' || format === 'unit-price'
    if (isAmount && Number.isSafeInteger(value)) return String(value)
    return new RowError('must be text: write the number in quotation marks')
  }
  if (typeof value === 'boolean')
    return type === 'boolean' ? String(value) : new RowError('must be text, not true or false')
  if (format === 'reference-pairs' && !Array.isArray(value)) return JSON.stringify(value)
  return new RowError('must be a single value, not an object or a list')
}
