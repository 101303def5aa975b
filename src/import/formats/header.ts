import { createCellParser } from '../pipeline/cells.ts'
import { createCellCleaner } from '../pipeline/clean.ts'
import { type Field, getColumns } from '../pipeline/columns.ts'
import { ImportError } from '../pipeline/import-error.ts'
import type { ImportType } from '../pipeline/import-type.ts'
import { RowError } from '../pipeline/row-error.ts'
import { createDateCheck } from '../pipeline/rules.ts'
import type { Dialect } from './dialect.ts'
import { synonyms } from './synonyms.ts'

/** The columns in front of a rejected line. An import ignores them. */
export const rejectedColumns = ['line', 'column', 'reason'] as const
export const hasReasonColumns = (names: readonly string[]) => rejectedColumns.every((name, i) => names[i] === name)
/** The fields in front of a rejected record. A name that the file has itself stays the file's. */
export const getReasonFields = (isOwn: (name: string) => boolean) => rejectedColumns.filter(name => !isOwn(name))

/** Returns our columns with the names that the file is expected to have. Throws `ImportError` if an option names an unknown column. */
function resolveHeaders(
  type: ImportType,
  { map = new Map(), set = new Map(), timeColumns = new Map(), ignore = [], forbiddenColumns = [] }: Dialect,
  names: readonly string[] = [],
) {
  const columns = getColumns(type).filter(({ name }) => !forbiddenColumns.includes(name))
  for (const [option, values] of [
    ['map', map],
    ['set', set],
    ['time', timeColumns],
  ] as const)
    for (const [column, value] of values) {
      if (forbiddenColumns.includes(column)) throw new ImportError(describeForbidden(column))
      if (column !== '' && !columns.some(({ name }) => name === column))
        throw new ImportError(`--${option} ${column}=${value}: column ${column} doesn't exist. ${listColumns(type)}`)
    }
  for (const column of set.keys())
    if (map.has(column)) throw new ImportError(`Both --map and --set name ${column}. Remove one of them.`)
  const headers = names.filter(name => !ignore.includes(name))
  return columns.map(column => ({ ...column, header: map.get(column.name) ?? findTitle(type, column.name, headers) }))
}

/** Returns the file's name of a column: ours, or one that exports of other systems have. */
function findTitle({ columnAliases = {} }: ImportType, column: string, names: readonly string[]) {
  if (names.includes(column)) return column
  const aliases = columnAliases[column]
  const acceptedNames = [column, ...(aliases ?? [])].map(name => name.toLowerCase())
  return (aliases && names.find(name => acceptedNames.includes(name.toLowerCase()))) ?? column
}

type TitledColumn = ReturnType<typeof resolveHeaders>[number]

/** Creates the field of a column. Throws `ImportError` if its constant (`--set`) is invalid. */
function createField(column: TitledColumn, place: number, dialect: Dialect, currency: string): Field {
  const { decimal, set } = dialect
  const parseCell = createCellParser(column.shape, { ...column, currency, format: dialect })
  const values = dialect.values?.[column.name]
  const replacements =
    values && new Map(Object.entries(values).map(([original, replacement]) => [original.toLowerCase(), replacement]))
  const parse: typeof parseCell = replacements
    ? text => parseCell(replacements.get(text.trim().toLowerCase()) ?? text)
    : parseCell
  const clean = createCellCleaner(column, { currency, decimal })
  const describeDoubt = createDateCheck(column.name, column.shape.format, dialect.timeZone ?? 'UTC')
  const field = { ...column, place, parse, decimal, clean, describeDoubt }
  const constant = set?.get(column.name)
  if (constant === undefined) return field
  const value = parse(constant)
  if (value instanceof RowError)
    throw new ImportError(`--set ${column.name}=${constant}: it ${value.messageWithValue}.`)
  return { ...field, constant: { value } }
}

/** Adds the places of time columns to their date fields. If a date has two of them, the later option applies. */
function addTimePlaces(fields: Field[], { timeColumns }: Dialect, header: readonly string[]): Field[] {
  if (!timeColumns) return fields
  const dates = fields.filter(({ shape, constant }) => shape.format === 'local-time' && !constant)
  const timeColumnByDate = new Map(
    [...timeColumns].map(([column, timeColumn]) => {
      const required = dates.filter(date => date.required)
      const [only, ...more] = column ? dates.filter(({ name }) => name === column) : required.length ? required : dates
      if (!only || more.length)
        throw new ImportError(
          `--time ${timeColumn} must name its date column, such as --time ${dates[0]?.name ?? 'updateTimeStamp'}=${timeColumn}.`,
        )
      return [only.name, timeColumn] as const
    }),
  )
  return fields.map(field => {
    const timeColumn = timeColumnByDate.get(field.name)
    if (timeColumn === undefined) return field
    const timePlace = header.indexOf(timeColumn)
    if (timePlace < 0) throw new ImportError(`Column ${timeColumn} of --time is missing in the file.`)
    return { ...field, timePlace }
  })
}

/** Returns the fields of an NDJSON file: each line can have any of them. */
export const createNdjsonFields = (type: ImportType, dialect: Dialect, currency: string): Field[] => {
  const headers = resolveHeaders(type, dialect)
  const { ignore = [], timeColumns = new Map() } = dialect
  const read = headers.filter(({ header, required }) => required || !ignore.includes(header))
  const places = [...new Set([...read.map(({ header }) => header), ...ignore, ...timeColumns.values()])]
  const fields = read.map(column => createField(column, places.indexOf(column.header), dialect, currency))
  return addTimePlaces(fields, dialect, places)
}

/**
 * Finds our columns in the header of a CSV file. Throws an `ImportError` with everything that is wrong. `skipped` is the number of columns
 * in front of a rejected line.
 */
export function findFields(header: readonly string[], type: ImportType, dialect: Dialect, currency: string) {
  requireHeader(header, dialect)
  const skipped = hasReasonColumns(header) ? rejectedColumns.length : 0
  const names = header.map((name, i) => (i < skipped ? '' : name.trim()))
  const columns = resolveHeaders(type, dialect, names)
  const { ignore = [], set = new Map(), timeColumns = new Map(), forbiddenColumns = [] } = dialect
  const { ignoredColumns = [] } = type
  const ignored = ignoredColumns === 'all' ? names : ignoredColumns
  const expectedHeaders = new Set([...columns.map(column => column.header), ...ignore, ...timeColumns.values()])
  // Without a header, the first line can be data with a secret, so it can't be repeated in messages.
  const hasSecret = columns.some(({ shape }) => shape.format === 'secret')
  const columnsNotInFile = columns.filter(column => !names.includes(column.header))
  const errors: string[] = []
  const unknown: UnknownColumn[] = []
  const [, delimiter] = (header.length === 1 && /([,;\t|])/.exec(names[0] ?? '')) || []
  if (delimiter)
    errors.push(
      `The columns are not separated by ${dialect.delimiter === undefined ? 'commas' : quoteDelimiter(dialect.delimiter)}. Try --delimiter ${quoteDelimiter(delimiter)}.`,
    )
  for (const [i, name] of names.entries()) {
    if (i < skipped) continue
    if (!expectedHeaders.has(name) && dialect.ignoreUnknown) continue
    if (name === '') errors.push(`Column ${i + 1} must have a name.`)
    else if (!expectedHeaders.has(name) && forbiddenColumns.includes(name)) errors.push(describeForbidden(name))
    else if (!expectedHeaders.has(name)) {
      if (!isReasonColumn(name) && !ignored.includes(name))
        unknown.push(
          hasSecret ? { column: i + 1 } : { column: i + 1, name, near: suggestColumns(name, columnsNotInFile) },
        )
    } else if (names.indexOf(name) < i) errors.push(`Column ${name} occurs twice. Rename or delete one of them.`)
  }
  const fields = columns.flatMap((column): Field[] => {
    const place = ignore.includes(column.header) ? -1 : names.indexOf(column.header)
    const isSet = set.has(column.name)
    if (place < 0 && !isSet && (column.required || (column.header !== column.name && !dialect.allowMissing)))
      errors.push(describeMissing(column))
    return place < 0 && !isSet ? [] : [createField(column, place, dialect, currency)]
  })
  if (errors.length || unknown.length) {
    // The columns come last, because an API response can be too short for all of them.
    const hints = [...errors, mapHint, listColumns(type)]
    throw new ImportError(
      [...unknown.map(describeUnknown), ...suggestOptions(unknown), ...hints].join('\n'),
      [...describeUnknownByNumber(unknown), ...hints].join('\n'),
    )
  }
  return { fields: addTimePlaces(fields, dialect, names), skipped }
}

/** Exports of shops have at most a few hundred columns. */
const maxColumns = 2_000

/** Throws `ImportError` if the first line can't be a header. */
function requireHeader(header: readonly string[], { delimiter = ',' }: Dialect) {
  if (header.length > maxColumns)
    throw new ImportError(
      `The file can have at most ${maxColumns.toLocaleString('en')} columns, but has ${header.length.toLocaleString('en')}.`,
    )
  if (header.some(name => /\r(?!\n)/.test(name.trim())))
    throw new ImportError('The lines of the file end with CR only. Save it with LF or CRLF line ends.')
  // Excel writes and reads such a line in front of the header.
  // The separator can also split the line, whose empty end is ignored.
  const match = /^sep=(.?)$/i.exec(header.join(delimiter))
  const separator = match?.[1] || delimiter
  if (match)
    throw new ImportError(
      `The first line of the file must be the header, not a separator for spreadsheets. Delete the line${separator === ',' ? '' : `, and use --delimiter ${quoteDelimiter(separator)}`}.`,
    )
}

/** Returns a delimiter as it is typed in a command. */
const quoteDelimiter = (delimiter: string) => (delimiter === '\t' ? 'tab' : `"${delimiter}"`)

const isReasonColumn = (name: string) => (rejectedColumns as readonly string[]).includes(name)

const describeForbidden = (name: string) => `Column ${name} requires the role admin, because it maps or configures.`

const describeMissing = ({ name, header }: { name: string; header: string }) =>
  header === name ? `Column ${name} is missing.` : `Column ${header}, which --map names for ${name}, is missing.`

/** A column that isn't in the import type: its number and, if it can be repeated, its name and our similar names. */
interface UnknownColumn {
  column: number
  name?: string
  near?: readonly string[]
}

/** Returns our columns that have this name or a synonym of it, otherwise those with a similar name. */
function suggestColumns(unknown: string, columns: readonly TitledColumn[]) {
  const normalized = normalizeName(unknown)
  const same = columns.filter(({ name }) => normalizeName(name) === normalized || synonyms[name]?.includes(normalized))
  const near = columns.filter(({ name, header }) => isNear(unknown, header) || isNear(unknown, name))
  return (same.length ? same : near).map(({ name }) => name)
}

const describeUnknown = ({ column, name, near }: UnknownColumn) =>
  name === undefined
    ? `Column ${column} is unknown.`
    : `Column ${JSON.stringify(name)} is unknown.${near?.length ? ` Is it ${near.join(' or ')}?` : ''}`

/** Returns the options that map the unknown columns whose name has one meaning. Two columns can't have the same meaning. */
function suggestOptions(unknown: readonly UnknownColumn[]) {
  const meanings = unknown.map(({ near = [] }) => near.join())
  const options = unknown.flatMap(({ name, near = [] }, i) =>
    name !== undefined &&
    near.length === 1 &&
    meanings.indexOf(meanings[i] ?? '') === meanings.lastIndexOf(meanings[i] ?? '')
      ? [`--map ${near[0]}=${quoteArgument(name)}`]
      : [],
  )
  return options.length ? [`Suggested options: ${options.join(' ')}`] : []
}

/** Quotes an argument for a POSIX shell, if necessary. */
const quoteArgument = (text: string) => (/^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** Describes unknown columns without their names: if the file has no header, the names are the data of its first line. */
const describeUnknownByNumber = (unknown: readonly UnknownColumn[]) =>
  unknown.length
    ? [
        `Unknown columns: ${unknown.map(({ column, near }) => (near?.length ? `${column} (${near.join(' or ')}?)` : column)).join(', ')}.`,
      ]
    : []

const mapHint =
  'To use a column with another name: --map name=column, such as --map sku=StockCode. To ignore a column: --ignore column, or "*" for all unknown columns. To set a value for all lines: --set name=value.'

/** Lists all columns of a type. The required ones are marked. */
const listColumns = (type: ImportType) =>
  `Columns (* is required): ${getColumns(type)
    .map(({ name, required }) => (required ? `${name}*` : name))
    .join(', ')}.`

const normalizeName = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** True if two names differ only in case and punctuation, one begins with the other, or at most two letters differ. */
function isNear(a: string, b: string) {
  const [x, y] = [normalizeName(a), normalizeName(b)]
  if (Math.min(x.length, y.length) < 3) return x === y
  return x.startsWith(y) || y.startsWith(x) || computeDistance(x, y) <= Math.min(2, Math.floor(y.length / 3))
}

/** Returns the number of letters to insert, delete or change (Levenshtein 1966). */
function computeDistance(a: string, b: string) {
  let row = [...Array(b.length + 1).keys()]
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next.push(
        Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)),
      )
    row = next
  }
  return row[b.length] ?? 0
}
