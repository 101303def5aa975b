import { GraphQLError } from 'graphql'
import type { Random } from '../shop/random.ts'
import { type SearchValues, search } from './search.ts'

export interface PageArguments {
  first?: number | null
  last?: number | null
  after?: string | null
  before?: string | null
  query?: string | null
  reverse?: boolean | null
}

/** The conditions under which a request reads its lists. */
export interface ListConditions {
  /** True in a bulk operation, which lists all records without pages. */
  isBulk: boolean
  isRepeated: boolean
  isShuffled: boolean
  isFilterIgnored: boolean
  hasForeignCursor: boolean
  random: Random
  warnings: { path: string[]; query: string; warnings: object[] }[]
}

interface List<T> {
  /** Names the list. A cursor of another list is rejected. */
  name: string
  records: readonly T[]
  getId(record: T): number
  /** The value that orders the list. Default: the ID. */
  getSortValue?(record: T): number
  getSearchValues?(record: T): SearchValues
  toNode(record: T): unknown
}

interface Cursor {
  list: string
  value: number
  id: number
}

const maxPageSize = 250

const encodeCursor = (cursor: Cursor) => Buffer.from(JSON.stringify(cursor)).toString('base64')

function decodeCursor(text: string, list: string): Cursor {
  try {
    const cursor = JSON.parse(Buffer.from(text, 'base64').toString()) as Cursor
    if (cursor.list === list) return cursor
  } catch {}
  throw new GraphQLError('Invalid cursor for current pagination sort.', { extensions: { code: 'BAD_REQUEST' } })
}

/** Returns one page of a list in the form of a connection. */
export function connect<T>(list: List<T>, args: PageArguments, conditions: ListConditions) {
  const size = args.first ?? args.last ?? undefined
  if (size === undefined && !conditions.isBulk)
    throw new GraphQLError('you must provide one of first or last', { extensions: { code: 'BAD_REQUEST' } })
  if (size !== undefined && (size < 1 || size > maxPageSize))
    throw new GraphQLError(`first must be from 1 to ${maxPageSize}`, { extensions: { code: 'BAD_REQUEST' } })
  const { getId, getSortValue = getId, getSearchValues = record => ({ id: getId(record) }) } = list
  const query = conditions.isFilterIgnored ? undefined : args.query
  const { records, warning } = search(list.records, query, getSearchValues)
  if (warning && args.query) conditions.warnings.push({ path: [list.name], query: args.query, warnings: [warning] })
  const direction = args.reverse ? -1 : 1
  const sorted = records.toSorted((a, b) => direction * (getSortValue(a) - getSortValue(b) || getId(a) - getId(b)))
  const cursor = args.after && !conditions.isRepeated ? decodeCursor(args.after, list.name) : undefined
  const start = cursor
    ? sorted.findIndex(record => direction * (getSortValue(record) - cursor.value || getId(record) - cursor.id) > 0)
    : 0
  const remaining = start < 0 ? [] : sorted.slice(start)
  const page = conditions.isBulk ? remaining : remaining.slice(0, size)
  const lastRecord = page.at(-1)
  const shownRecords = conditions.isShuffled ? conditions.random.shuffle(page) : page
  const nodes = shownRecords.map(record => list.toNode(record))
  return {
    nodes,
    edges: nodes.map(node => ({ node })),
    pageInfo: {
      hasNextPage: page.length < remaining.length,
      endCursor: lastRecord
        ? encodeCursor({
            list: conditions.hasForeignCursor ? `other ${list.name}` : list.name,
            value: getSortValue(lastRecord),
            id: getId(lastRecord),
          })
        : null,
    },
  }
}
