import { checkOf } from '../pipeline/cells.ts'
import { columnsOf, type Field } from '../pipeline/columns.ts'
import { ImportError } from '../pipeline/import-error.ts'
import type { ImportType } from '../pipeline/import-type.ts'
import { RowError } from '../pipeline/row-error.ts'
import type { Dialect } from './dialect.ts'
import { isNear } from './spelling.ts'

/** What a rejected line has in front of it; reading it again passes over that. */
export const rejectedColumns = ['line', 'column', 'reason'] as const
/** Whether these are the columns of a file of rejected lines. */
export const isRejectedFile = (names: readonly string[]) => rejectedColumns.every((name, i) => names[i] === name)
/** The same of a record, whose fields have one name each: what the file itself calls so stays the file's. */
export const whyFields = (isOwn: (name: string) => boolean) => rejectedColumns.filter(name => !isOwn(name))

/** What the file is expected to call our columns. */
function headersOf(
  type: ImportType,
  { map = new Map(), set = new Map(), clocks = new Map(), ignore = [], withheld = [] }: Dialect,
  names: readonly string[] = [],
) {
  const columns = columnsOf(type).filter(({ name }) => !withheld.includes(name))
  for (const [option, given] of [
    ['map', map],
    ['set', set],
    ['time', clocks],
  ] as const)
    for (const [ours, value] of given) {
      if (withheld.includes(ours)) throw new ImportError(forAdmins(ours))
      if (ours !== '' && !columns.some(column => column.name === ours))
        throw new ImportError(`--${option} ${ours}=${value}: there is no column ${ours}. ${listOf(type)}`)
    }
  for (const ours of set.keys())
    if (map.has(ours)) throw new ImportError(`--map and --set both say what ${ours} is: leave one of them out.`)
  const read = names.filter(name => !ignore.includes(name))
  return columns.map(column => ({ ...column, header: map.get(column.name) ?? titleOf(type, column.name, read) }))
}

/** What a file calls a column of ours where nobody has said: its own name, or else one that exports of other systems have for it. */
function titleOf({ titles = {} }: ImportType, column: string, names: readonly string[]) {
  if (names.includes(column)) return column
  const known = [column, ...(titles[column] ?? [])].map(title => title.toLowerCase())
  return (titles[column] && names.find(name => known.includes(name.toLowerCase()))) ?? column
}

type Wanted = ReturnType<typeof headersOf>[number]

/** A column of ours, and where the file has it; it reads values as the file writes them. */
function fieldOf(column: Wanted, place: number, dialect: Dialect, currency: string): Field {
  const { decimal, set } = dialect
  const check = checkOf(column.shape, { ...column, currency, script: dialect })
  const field = { ...column, place, check, decimal }
  const constant = set?.get(column.name)
  if (constant === undefined) return field
  const value = check(constant)
  if (value instanceof RowError) throw new ImportError(`--set ${column.name}=${constant}: it ${value.text}.`)
  return { ...field, constant: { value } }
}

/** Gives the fields the places of their clocks in the header; of two clocks of one time the later one counts. */
function withClocks(fields: Field[], { clocks }: Dialect, header: readonly string[]): Field[] {
  if (!clocks) return fields
  const times = fields.filter(({ shape, constant }) => shape.format === 'local-time' && !constant)
  const named = new Map(
    [...clocks].map(([ours, theirs]) => {
      const required = times.filter(time => time.required)
      const [only, ...more] = ours ? times.filter(({ name }) => name === ours) : required.length ? required : times
      if (!only || more.length)
        throw new ImportError(
          `--time ${theirs}: say to which column it belongs, such as --time ${times[0]?.name ?? 'updateTimeStamp'}=${theirs}.`,
        )
      return [only.name, theirs] as const
    }),
  )
  return fields.map(field => {
    const theirs = named.get(field.name)
    if (theirs === undefined) return field
    const clock = header.indexOf(theirs)
    if (clock < 0) throw new ImportError(`The column ${theirs}, which --time names, is missing.`)
    return { ...field, clock }
  })
}

/** The columns of an NDJSON file: any of them may be in any line. */
export const everyField = (type: ImportType, dialect: Dialect, currency: string): Field[] => {
  const headers = headersOf(type, dialect)
  const { ignore = [], clocks = new Map() } = dialect
  const read = headers.filter(({ header, required }) => required || !ignore.includes(header))
  const places = [...new Set([...read.map(({ header }) => header), ...ignore, ...clocks.values()])]
  const fields = read.map(column => fieldOf(column, places.indexOf(column.header), dialect, currency))
  return withClocks(fields, dialect, places)
}

/**
 * Finds our columns in the header of a CSV file, or says all that is wrong with it. `skipped` is how many columns a `.rejected.csv`
 * has in front.
 */
export function fieldsIn(header: readonly string[], type: ImportType, dialect: Dialect, currency: string) {
  requireHeader(header, dialect)
  const skipped = isRejectedFile(header) ? rejectedColumns.length : 0
  const names = header.map((name, i) => (i < skipped ? '' : name.trim()))
  const wanted = headersOf(type, dialect, names)
  const { ignore = [], set = new Map(), clocks = new Map(), withheld = [] } = dialect
  const { passesOver = [] } = type
  const besides = passesOver === 'all' ? names : passesOver
  const known = new Set([...wanted.map(column => column.header), ...ignore, ...clocks.values()])
  // What is taken for the names of the columns may be a line with its secret: it is not repeated.
  const hasSecret = wanted.some(({ shape }) => shape.format === 'secret')
  const wrong: string[] = []
  const strange: Strange[] = []
  const [, delimiter] = (header.length === 1 && /([,;\t|])/.exec(names[0] ?? '')) || []
  if (delimiter)
    wrong.push(
      `The columns are not separated by ${dialect.delimiter === undefined ? 'commas' : nameOf(dialect.delimiter)}: --delimiter ${nameOf(delimiter)}?`,
    )
  for (const [i, name] of names.entries()) {
    if (i < skipped) continue
    if (!known.has(name) && dialect.ignoresUnknown) continue
    if (name === '') wrong.push(`Column ${i + 1} has no name.`)
    else if (!known.has(name) && withheld.includes(name)) wrong.push(forAdmins(name))
    else if (!known.has(name)) {
      if (!isOurs(name) && !besides.includes(name))
        strange.push(hasSecret ? { column: i + 1 } : { column: i + 1, name, near: nearTo(name, wanted) })
    } else if (names.indexOf(name) < i) wrong.push(`The column ${name} is there twice.`)
  }
  const fields = wanted.flatMap((column): Field[] => {
    // One of ours by its name may be passed over too.
    const place = ignore.includes(column.header) ? -1 : names.indexOf(column.header)
    const isSet = set.has(column.name)
    if (place < 0 && !isSet && (column.required || column.header !== column.name)) wrong.push(missing(column))
    return place < 0 && !isSet ? [] : [fieldOf(column, place, dialect, currency)]
  })
  if (wrong.length || strange.length) {
    const hints = [...wrong, listOf(type), mapHint]
    throw new ImportError([...strange.map(told), ...hints].join('\n'), [...byPlace(strange), ...hints].join('\n'))
  }
  return { fields: withClocks(fields, dialect, names), skipped }
}

/** Throws where the first line names no columns, whatever they are called, and says what to do about it. */
function requireHeader(header: readonly string[], { delimiter = ',' }: Dialect) {
  if (header.some(name => /\r(?!\n)/.test(name.trim())))
    throw new ImportError('The lines of the file end with CR alone: save it with LF or CRLF at their ends.')
  // Excel writes and reads such a line in front of the header.
  const [, told] = /^sep=(.)$/i.exec(header.join(delimiter)) ?? []
  if (told)
    throw new ImportError(
      `The first line of the file is no header, but tells spreadsheets what separates the cells: delete it${told === ',' ? '' : `, and say --delimiter ${nameOf(told)}`}.`,
    )
}

/** A delimiter as it is typed. */
const nameOf = (delimiter: string) => (delimiter === '\t' ? 'tab' : `"${delimiter}"`)

const isOurs = (name: string) => (rejectedColumns as readonly string[]).includes(name)

const forAdmins = (name: string) => `A column that maps or configures is for admins: ${name}.`

const missing = ({ name, header }: { name: string; header: string }) =>
  header === name
    ? `The column ${name} is missing.`
    : `The column ${header}, which --map names for ${name}, is missing.`

/** A column that is not known: its number, and where it may be repeated its name, with names of ours that it is like. */
interface Strange {
  column: number
  name?: string
  near?: string
}

const nearTo = (strange: string, columns: readonly Wanted[]) =>
  columns
    .filter(({ name, header }) => isNear(strange, header) || isNear(strange, name))
    .map(({ name }) => name)
    .join(' or ')

const told = ({ column, name, near }: Strange) =>
  name === undefined
    ? `The name of column ${column} is not known.`
    : `The column ${JSON.stringify(name)} is not known.${near ? ` Is it ${near}?` : ''}`

/** What is taken for the names of columns is the first line of somebody's data where a file has no header. */
const byPlace = (strange: readonly Strange[]) =>
  strange.length
    ? [
        `Columns that are not known: ${strange.map(({ column, near }) => (near ? `${column} (${near}?)` : column)).join(', ')}.`,
      ]
    : []

const mapHint =
  'A column that is called otherwise in the file: --map ours=theirs (such as --map sku=StockCode). One that is not needed: --ignore theirs, or "*" for all such. One that the file lacks, and that is the same in all lines: --set ours=value.'

/** All columns of a type in a sentence, the required ones marked. */
const listOf = (type: ImportType) =>
  `The columns (* is required): ${columnsOf(type)
    .map(({ name, required }) => (required ? `${name}*` : name))
    .join(', ')}.`
