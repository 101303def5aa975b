import { readBytes, readLines } from './lines.js'

/** @typedef {import('tillbridge/import-types').Column} Column */

/** What people call it, with what the API takes for it. @type {[value: string, title: string][]} */
export const delimiters = [
  [',', 'comma'],
  [';', 'semicolon'],
  ['\t', 'tab'],
  ['|', 'bar'],
]
export const encodings = ['utf-8', 'windows-1252', 'iso-8859-15', 'utf-16le', 'utf-16be', 'macintosh', 'shift_jis']

const headBytes = 64 * 1024
const sampleRows = 20

/** The bytes that a file begins with. @param {Blob} file */
async function readHead(file) {
  const reader = (await readBytes(file)).getReader()
  const head = new Uint8Array(headBytes)
  let size = 0
  while (size < headBytes) {
    const { value, done } = await reader.read()
    if (done) break
    const some = value.subarray(0, headBytes - size)
    head.set(some, size)
    size += some.length
  }
  await reader.cancel()
  return head.subarray(0, size)
}

/** So many bytes has a letter in UTF-8 at most. */
const maxUtf8Bytes = 4

/** The bytes of the first letter beyond ASCII, wherever it stands, and some that follow. @param {Blob} file */
async function readFirstNonAscii(file) {
  const reader = (await readBytes(file)).getReader()
  /** @type {number[]} */
  const letter = []
  while (letter.length < maxUtf8Bytes) {
    const { value, done } = await reader.read()
    if (done) break
    let at = 0
    if (!letter.length) while (at < value.length && /** @type {number} */ (value[at]) < 0x80) at++
    letter.push(...value.subarray(at, at + maxUtf8Bytes - letter.length))
  }
  await reader.cancel()
  return new Uint8Array(letter)
}

/** As the server takes it: UTF-8, unless the first letter beyond ASCII is none. @param {Blob} file @param {Uint8Array} head */
async function detectEncoding(file, head) {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  const letter = await readFirstNonAscii(file)
  try {
    // What is cut at the end is no fault.
    new TextDecoder('utf-8', { fatal: true }).decode(letter, { stream: letter.length === maxUtf8Bytes })
    return 'utf-8'
  } catch {
    return 'windows-1252'
  }
}

/** How a file seems to be written. @param {File} file @returns {Promise<import('./lines.js').Reading>} */
export async function detectFormat(file) {
  const isJson = /\.(ndjson|jsonl)(\.gz)?$/i.test(file.name)
  const head = await readHead(file)
  const encoding = await detectEncoding(file, head)
  const [header = ''] = new TextDecoder(encoding).decode(head).split('\n')
  const often = (/** @type {string} */ mark) => header.split(mark).length
  const [delimiter = ','] = delimiters.map(([mark]) => mark).sort((a, b) => often(b) - often(a))
  return { isJson, delimiter, encoding }
}

/**
 * The names of a file's columns, and its first rows; `lines` is about how many there are.
 * @param {Blob} file
 * @param {import('./lines.js').Reading} reading
 */
export async function readSample(file, reading) {
  const found = []
  for await (const line of readLines(file, reading)) if (found.push(line) > sampleRows) break
  const size = found.reduce((sum, { text }) => sum + text.length + 1, 0)
  const lines = found.length > sampleRows ? Math.round((file.size * found.length) / size) : found.length
  if (!reading.isJson) {
    const [header, ...rows] = found.map(({ cells }) => cells)
    return { header: (header ?? []).map(name => name.trim()), rows, lines }
  }
  const records = found.map(({ text }) => parseRecord(text))
  const header = [...new Set(records.flatMap(record => Object.keys(record)))]
  return { header, rows: records.map(record => header.map(name => toCellText(record[name]))), lines }
}

/** What a line of NDJSON says; nothing where it cannot be read. @param {string} text @returns {Record<string, unknown>} */
export function parseRecord(text) {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  } catch {
    return {}
  }
}

/** A value of NDJSON as the text of a cell. @param {unknown} value */
export const toCellText = value =>
  value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)

const normalizeName = (/** @type {string} */ name) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** Which column of the file each of ours seems to be: `{ storeNumber: 'Store number' }`. @param {Column[]} columns @param {string[]} header */
export const matchColumns = (columns, header) =>
  Object.fromEntries(
    columns.flatMap(({ name, titles = [] }) => {
      const known = [name, ...titles].map(normalizeName)
      const found =
        header.find(theirs => theirs === name) ?? header.find(theirs => known.includes(normalizeName(theirs)))
      return found === undefined ? [] : [[name, found]]
    }),
  )

/**
 * What the rows of a file seem to be: by its name, unless columns that are needed are lacking then, and something else has all of its
 * own, in at least two. So `customers_export.csv` of another system is not taken for our customers.
 * @param {Record<string, { columns: Column[] }>} importTypes @param {string} name @param {string[]} header
 */
export function detectImportType(importTypes, name, header) {
  const known = Object.entries(importTypes).map(([type, { columns }]) => {
    const found = matchColumns(columns, header)
    const lacking = columns.filter(({ name, required }) => required && !(name in found)).length
    return { type, lacking, found: Object.keys(found).length }
  })
  const [likely] = known.toSorted((a, b) => b.found - 3 * b.lacking - (a.found - 3 * a.lacking))
  const [named] = known
    .filter(({ type }) => normalizeName(name).includes(normalizeName(type)))
    .sort((a, b) => b.type.length - a.type.length)
  const isLikelier = named && likely && named.lacking > 0 && likely.lacking === 0 && likely.found > 1
  return (isLikelier ? likely : (named ?? likely))?.type ?? ''
}

/** @param {Column} column */
const isNumber = ({ type, format }) =>
  type === 'integer' || type === 'number' || ['money', 'unit-price', 'percent'].includes(format ?? '')
/** @param {Column} column */
const isTime = ({ format }) => format === 'date' || format === 'local-time'

/** Formats of days, the likely ones first; which of two a day such as 03/04/2026 is, only another one tells. @type {[format: string, looks: RegExp][]} */
const dayFormats = [
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

/**
 * How numbers and days seem to be written, by the first rows.
 * @param {Column[]} columns
 * @param {Record<string, string>} from which column of the file each of ours is
 * @param {{ header: string[], rows: string[][] }} first
 */
export function detectValueFormats(columns, from, { header, rows }) {
  const cells = (/** @type {(column: Column) => boolean} */ wanted) =>
    columns
      .filter(column => wanted(column) && from[column.name] !== undefined)
      .flatMap(({ name }) => rows.map(row => (row[header.indexOf(from[name] ?? '')] ?? '').trim()))
      .filter(Boolean)
  const numbers = cells(isNumber)
  const decimal = numbers.some(text => /,\d{1,2}$/.test(text))
    ? ','
    : numbers.some(text => /\d,\d{3}\./.test(text))
      ? '.'
      : ''
  const days = cells(isTime)
  const [dateFormat = ''] = dayFormats.find(([, looks]) => days.every(text => looks.test(text))) ?? []
  return { decimal, dateFormat }
}
