import { synonyms } from 'tillbridge/import-types'
import { readBytes, readLines } from './lines.js'

/** @typedef {import('tillbridge/import-types').Column} Column */

/** Delimiters with their names. @type {[value: string, title: string][]} */
export const delimiters = [
  [',', 'comma'],
  [';', 'semicolon'],
  ['\t', 'tab'],
  ['|', 'pipe'],
]
export const encodings = [
  'utf-8',
  'windows-1252',
  'iso-8859-15',
  'utf-16le',
  'utf-16be',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'windows-1257',
  'macintosh',
  'shift_jis',
  'gb18030',
  'big5',
  'euc-kr',
]

const headBytes = 64 * 1024
const sampleRows = 20

/** Reads the first bytes of a file. @param {Blob} file */
async function readHead(file) {
  const reader = (await readBytes(file)).getReader()
  const head = new Uint8Array(headBytes)
  let size = 0
  while (size < headBytes) {
    const { value, done } = await reader.read()
    if (done) break
    const chunk = value.subarray(0, headBytes - size)
    head.set(chunk, size)
    size += chunk.length
  }
  await reader.cancel()
  return head.subarray(0, size)
}

/** The maximum bytes of a character in UTF-8. */
const maxUtf8Bytes = 4

/** Reads the first non-ASCII byte of a file and the bytes after it, as many as a UTF-8 character can have. @param {Blob} file */
async function readFirstNonAscii(file) {
  const reader = (await readBytes(file)).getReader()
  /** @type {number[]} */
  const character = []
  while (character.length < maxUtf8Bytes) {
    const { value, done } = await reader.read()
    if (done) break
    let at = 0
    if (!character.length) while (at < value.length && /** @type {number} */ (value[at]) < 0x80) at++
    character.push(...value.subarray(at, at + maxUtf8Bytes - character.length))
  }
  await reader.cancel()
  return new Uint8Array(character)
}

/** Detects the encoding like the server: UTF-8, unless the first non-ASCII character isn't valid UTF-8. @param {Blob} file @param {Uint8Array} head */
async function detectEncoding(file, head) {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  const character = await readFirstNonAscii(file)
  try {
    // With `stream`, a second character that is cut off at the end isn't an error.
    new TextDecoder('utf-8', { fatal: true }).decode(character, { stream: character.length === maxUtf8Bytes })
    return 'utf-8'
  } catch {
    return 'windows-1252'
  }
}

/** Detects the format of a file. @param {File} file @returns {Promise<import('./lines.js').FileFormat>} */
export async function detectFormat(file) {
  const isJson = /\.(ndjson|jsonl)(\.gz)?$/i.test(file.name)
  const head = await readHead(file)
  // A workbook is a zip archive.
  if (new TextDecoder('latin1').decode(head.subarray(0, 4)) === 'PK\x03\x04')
    throw new Error('This is an Excel workbook. Save it as CSV (UTF-8), then choose that file.')
  const encoding = await detectEncoding(file, head)
  const [header = ''] = new TextDecoder(encoding).decode(head).split('\n')
  const count = (/** @type {string} */ candidate) => header.split(candidate).length
  const [delimiter = ','] = delimiters.map(([candidate]) => candidate).sort((a, b) => count(b) - count(a))
  return { isJson, delimiter, encoding, isGuessed: encoding === 'windows-1252' }
}

/**
 * Reads the column names and the first rows of a file. `lines` is an estimate of its number of lines.
 * @param {Blob} file
 * @param {import('./lines.js').FileFormat} format
 */
export async function readSample(file, format) {
  const sample = []
  for await (const line of readLines(file, format)) if (sample.push(line) > sampleRows) break
  const size = sample.reduce((sum, { text }) => sum + text.length + 1, 0)
  const lines = sample.length > sampleRows ? Math.round((file.size * sample.length) / size) : sample.length
  if (!format.isJson) {
    const [header, ...rows] = sample.map(({ cells }) => cells)
    return { header: (header ?? []).map(name => name.trim()), rows, lines }
  }
  const records = sample.map(({ text }) => parseRecord(text))
  const header = [...new Set(records.flatMap(record => Object.keys(record)))]
  return { header, rows: records.map(record => header.map(name => toCellText(record[name]))), lines }
}

/** Parses a line of NDJSON. Returns an empty record if it isn't a JSON object. @param {string} text @returns {Record<string, unknown>} */
export function parseRecord(text) {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  } catch {
    return {}
  }
}

/** Formats a value of NDJSON for an input. @param {unknown} value */
export const toCellText = value =>
  value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)

const normalizeName = (/** @type {string} */ name) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** Returns the file's column for each of our columns: `{ storeNumber: 'Store number' }`. @param {Column[]} columns @param {string[]} header @returns {Record<string, string>} */
export const matchColumns = (columns, header) =>
  Object.fromEntries(
    columns.flatMap(({ name, aliases = [] }) => {
      const names = [name, ...aliases].map(normalizeName)
      const source =
        header.find(candidate => candidate === name) ??
        header.find(candidate => names.includes(normalizeName(candidate)))
      return source === undefined ? [] : [[name, source]]
    }),
  )

/** Values by which a column is recognised, by the name of our column. @type {Record<string, RegExp>} */
const valuePatterns = { email: /^[^@\s]+@[^@\s]+\.[^@\s]+$/, barcode: /^(\d{8}|\d{12,14})$/ }

/**
 * Like `matchColumns`. Recognises the remaining columns by names that other systems use, then by their values.
 * @param {Column[]} columns @param {{ header: string[], rows: string[][] }} sample
 */
export function recognizeColumns(columns, { header, rows }) {
  const map = matchColumns(columns, header)
  const isFree = (/** @type {string} */ candidate) => candidate && !Object.values(map).includes(candidate)
  for (const { name } of columns) {
    if (name in map) continue
    const byName = header.find(fileColumn => isFree(fileColumn) && synonyms[name]?.includes(normalizeName(fileColumn)))
    const pattern = valuePatterns[name]
    const source =
      byName ?? (pattern && header.find((fileColumn, i) => isFree(fileColumn) && isMostly(rows, i, pattern)))
    if (source !== undefined) map[name] = source
  }
  return map
}

/** True if most values of a column have this pattern. @param {string[][]} rows @param {number} index @param {RegExp} pattern */
function isMostly(rows, index, pattern) {
  const values = rows.map(row => (row[index] ?? '').trim()).filter(Boolean)
  return values.length > 0 && values.filter(value => pattern.test(value)).length > 0.8 * values.length
}

/**
 * Detects the import type of a file by its name. Another type wins if the named type lacks required columns, and the other one has all of
 * its own and at least two columns. So `customers_export.csv` of another system isn't taken for our customers.
 * @param {Record<string, { columns: Column[] }>} importTypes @param {string} name @param {string[]} header
 */
export function detectImportType(importTypes, name, header) {
  const candidates = Object.entries(importTypes).map(([type, { columns }]) => {
    const map = matchColumns(columns, header)
    const missing = columns.filter(({ name: column, required }) => required && !(column in map)).length
    return { type, missing, matched: Object.keys(map).length }
  })
  const [best] = candidates.toSorted((a, b) => b.matched - 3 * b.missing - (a.matched - 3 * a.missing))
  const [named] = candidates
    .filter(({ type }) => normalizeName(name).includes(normalizeName(type)))
    .sort((a, b) => b.type.length - a.type.length)
  const isBestBetter = named && best && named.missing > 0 && best.missing === 0 && best.matched > 1
  return (isBestBetter ? best : (named ?? best))?.type ?? ''
}

/** @param {Column} column */
const isNumber = ({ type, format }) =>
  type === 'integer' || type === 'number' || ['money', 'unit-price', 'percent'].includes(format ?? '')
/** @param {Column} column */
const isTime = ({ format }) => ['date', 'birthday', 'local-time'].includes(format ?? '')

/** Date formats, the most likely ones first. A date such as 03/04/2026 fits several, so the format that most dates have is used. @type {[format: string, pattern: RegExp][]} */
export const dateFormats = [
  ['', /^\d{4}-\d\d-\d\d/],
  ['DD.MM.YYYY', /^\d\d\.\d\d\.\d{4}/],
  ['D.M.YYYY', /^\d{1,2}\.\d{1,2}\.\d{4}/],
  ['DD/MM/YYYY', /^(0[1-9]|[12]\d|3[01])\/(0[1-9]|1[0-2])\/\d{4}/],
  ['MM/DD/YYYY', /^(0[1-9]|1[0-2])\/(0[1-9]|[12]\d|3[01])\/\d{4}/],
  ['D/M/YYYY', /^([1-9]|[12]\d|3[01])\/([1-9]|1[0-2])\/\d{4}/],
  ['M/D/YYYY', /^([1-9]|1[0-2])\/([1-9]|[12]\d|3[01])\/\d{4}/],
  ['YYYY/MM/DD', /^\d{4}\/\d\d\/\d\d/],
  ['DD-MMM-YYYY', /^\d\d-[A-Za-z]{3}-\d{4}/],
  ['YYYYMMDD', /^\d{8}$/],
]

const timeNames = ['time', 'timeofday', 'uhrzeit', 'zeit', 'heure', 'hora']
const timePattern = /^\d{1,2}:\d\d(:\d\d)?$/

/** Returns our first mapped column that has a time of day. @param {Column[]} columns @param {Record<string, string>} map */
export const findTimedColumn = (columns, map) =>
  columns.find(({ name, format }) => format === 'local-time' && name in map)?.name

/** Returns the file's column with the time of day of a date in another column. @param {Record<string, string>} map @param {{ header: string[], rows: string[][] }} sample */
export const findTimeColumn = (map, { header, rows }) =>
  header.find(
    (name, i) =>
      !Object.values(map).includes(name) && timeNames.includes(normalizeName(name)) && isMostly(rows, i, timePattern),
  )

/**
 * Detects the decimal separator and the date format from the first rows.
 * @param {Column[]} columns
 * @param {Record<string, string>} map the file's column for each of our columns
 * @param {{ header: string[], rows: string[][] }} sample
 */
export function detectValueFormats(columns, map, { header, rows }) {
  const readCells = (/** @type {(column: Column) => boolean} */ isIncluded) =>
    columns
      .filter(column => isIncluded(column) && map[column.name] !== undefined)
      .flatMap(({ name }) => rows.map(row => (row[header.indexOf(map[name] ?? '')] ?? '').trim()))
      .filter(Boolean)
  const numbers = readCells(isNumber)
  const decimal = numbers.some(text => /,\d{1,2}$/.test(text))
    ? ','
    : numbers.some(text => /\d,\d{3}\./.test(text))
      ? '.'
      : ''
  const dates = readCells(isTime)
  const counts = dateFormats.map(([format, pattern]) => ({
    format,
    fitting: dates.filter(text => pattern.test(text)).length,
  }))
  const [best] = counts.toSorted((a, b) => b.fitting - a.fitting)
  // One impossible date must not hide the format of the others.
  const dateFormat = best && best.fitting > dates.length / 2 ? best.format : ''
  return { decimal, dateFormat }
}
