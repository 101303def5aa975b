import { checkOf } from '../rows/cells.ts'
import { columnsOf, type Field } from '../rows/columns.ts'
import { ImportError } from '../rows/import-error.ts'
import type { Kind } from '../rows/kind.ts'

/** The columns that a `.rejected.csv` begins with; reading it again passes over them. */
export const rejectedColumns = ['line', 'column', 'reason'] as const
export const isRejectedFile = (header: readonly string[]) => rejectedColumns.every((name, i) => header[i] === name)

export interface Naming {
  /** Our column names with those of the file, where these differ. */
  map?: ReadonlyMap<string, string>
  /** Columns of the file to be passed over. */
  ignore?: readonly string[]
}

/** What the file is expected to call our columns. */
function headersOf(kind: Kind, { map = new Map() }: Naming) {
  const columns = columnsOf(kind)
  for (const ours of map.keys())
    if (!columns.some(column => column.name === ours))
      throw new ImportError(`--map ${ours}=${map.get(ours)}: there is no column ${ours}. ${listOf(kind)}`)
  return columns.map(column => ({ ...column, header: map.get(column.name) ?? column.name }))
}

/** The columns of an NDJSON file: any of them may be in any line. */
export const everyField = (kind: Kind, naming: Naming, currency: string): Field[] => {
  const headers = headersOf(kind, naming)
  const places = [...new Set([...headers.map(({ header }) => header), ...(naming.ignore ?? [])])]
  return headers.map(column => ({
    ...column,
    place: places.indexOf(column.header),
    check: checkOf(column.shape, { ...column, currency }),
  }))
}

/**
 * Finds our columns in the header of a CSV file, or says all that is wrong with it. `skipped` is how many columns a `.rejected.csv`
 * has in front.
 */
export function fieldsIn(header: readonly string[], kind: Kind, naming: Naming, currency: string) {
  const skipped = isRejectedFile(header) ? rejectedColumns.length : 0
  const names = header.map((name, i) => (i < skipped ? '' : name.trim()))
  const wanted = headersOf(kind, naming)
  const known = new Set([...wanted.map(column => column.header), ...(naming.ignore ?? [])])
  // What is taken for the names of the columns may be a line with its secret: it is not repeated.
  const hasSecret = wanted.some(({ shape }) => shape.format === 'secret')
  const wrong: string[] = []
  if (header.length === 1 && /[;\t|]/.test(names[0] ?? '')) wrong.push('The columns are not separated by commas.')
  for (const [i, name] of names.entries()) {
    if (i < skipped) continue
    if (name === '') wrong.push(`Column ${i + 1} has no name.`)
    else if (!known.has(name)) wrong.push(...(isOurs(name) ? [] : [unknown(hasSecret ? undefined : name, i, wanted)]))
    else if (names.indexOf(name) < i) wrong.push(`The column ${name} is there twice.`)
  }
  const fields = wanted.flatMap((column): Field[] => {
    const place = names.indexOf(column.header)
    if (place < 0 && (column.required || column.header !== column.name)) wrong.push(missing(column))
    return place < 0 ? [] : [{ ...column, place, check: checkOf(column.shape, { ...column, currency }) }]
  })
  if (wrong.length) throw new ImportError([...wrong, listOf(kind), mapHint].join('\n'))
  return { fields, skipped }
}

const isOurs = (name: string) => (rejectedColumns as readonly string[]).includes(name)

const missing = ({ name, header }: { name: string; header: string }) =>
  header === name
    ? `The column ${name} is missing.`
    : `The column ${header}, which --map names for ${name}, is missing.`

function unknown(name: string | undefined, place: number, columns: readonly { name: string; header: string }[]) {
  if (name === undefined) return `The name of column ${place + 1} is not known.`
  const near = columns.filter(column => isNear(name, column.header) || isNear(name, column.name))
  const guess = near.length ? ` Is it ${near.map(column => column.name).join(' or ')}?` : ''
  return `The column ${JSON.stringify(name)} is not known.${guess}`
}

const mapHint =
  'A column that is called otherwise in the file: --map ours=theirs (such as --map sku=StockCode). One that is not needed: --ignore theirs.'

/** All columns of a kind in a sentence, the required ones marked. */
const listOf = (kind: Kind) =>
  `The columns (* is required): ${columnsOf(kind)
    .map(({ name, required }) => (required ? `${name}*` : name))
    .join(', ')}.`

/** Whether two names are the same but for case and punctuation, one begins the other, or two letters differ at most. */
function isNear(a: string, b: string) {
  const [x, y] = [a, b].map(name => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')) as [string, string]
  if (Math.min(x.length, y.length) < 3) return x === y
  return x.startsWith(y) || y.startsWith(x) || distance(x, y) <= Math.min(2, Math.floor(y.length / 3))
}

/** How many letters must be put in, taken out or changed (Levenshtein 1966). */
function distance(a: string, b: string) {
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
