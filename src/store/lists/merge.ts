import { raw, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { SourceDated } from './back-date.ts'
import type { Change } from './change-timestamp.ts'
import { materialized, opaqueServiceId } from './planner-fences.ts'

export interface MergeTable {
  name: string
  /** Primary key without `service_id`. */
  key: readonly string[]
  /** All merged columns, including `service_id` and the key. At most 53 (`maxColumns`). */
  columns: readonly string[]
  /** Defaults of a new row. */
  defaults?: object
  /** Columns computed from other columns of the merged row, as SQL that names those without an alias. */
  derived?: Readonly<Record<string, string>>
}

/** Values by column name in camelCase. `updateTimeStamp` is the change time in the source. */
type MergeRow = object & SourceDated

/**
 * Rows merged over the stored rows, for a `from` clause: a missing field keeps the stored value, null clears it (contributing/decisions/0005). The
 * merged row is named `alias`, the stored row `old`. `source.source_changed_at` is the change time in the source, or null.
 */
export function mergeRows(service: Service, table: MergeTable, rows: readonly MergeRow[], alias: string): Sql {
  const { name, key, columns, defaults = {}, derived = {} } = table
  const { json, masks, times } = encodeRows(columns, rows)
  // To find an element of an array with nulls, PostgreSQL scans it from its start, for each row. So omit the array if no row has a time.
  const sourceChangedAt = times.some(Boolean) ? sql`(${times}::timestamp[])[new.ordinality]` : sql`null::timestamp`
  const values = columns.map((column, i) => {
    if (column === 'service_id') return sql`${service.id}::integer as service_id`
    if (key.includes(column)) return raw(`new.${column}`)
    return raw(
      `case when old.service_id is null or source.mask & ${2 ** i} <> 0 then new.${column} else old.${column} end as ${column}`,
    )
  })
  const outputColumns = columns.map(column => (column in derived ? `${derived[column]} as ${column}` : column))
  // In this order: new rows over their defaults, stored rows, masks and times, and the merged row with its derived columns.
  return sql`
    json_populate_recordset((select json_populate_record(null::${raw(name)}, ${JSON.stringify(defaults)})), ${json}) with ordinality new
    left join ${raw(name)} old on old.service_id = ${opaqueServiceId(service)} and ${raw(key.map(column => `old.${column} = new.${column}`).join(' and '))}
    cross join lateral ${materialized(sql`select (${masks}::bigint[])[new.ordinality] as mask, ${sourceChangedAt} as source_changed_at`)} source
    cross join lateral (select ${raw(outputColumns.join(', '))} from ${materialized(sql`select ${joinSql(values)}`)} merged_row) ${raw(alias)}`
}

/** A row with a new key, for a `from` clause. Missing columns have the default of `defaults`, or null. */
export function newRow(
  service: Service,
  { name, columns, defaults, derived = {} }: MergeTable,
  row: object,
  alias: string,
): Sql {
  const fullRow = { ...defaults, ...getColumnValues(columns, row), service_id: service.id }
  const outputColumns = columns.map(column => (column in derived ? `${derived[column]} as ${column}` : column))
  return sql`
    (select ${raw(outputColumns.join(', '))} from json_populate_record(null::${raw(name)}, ${JSON.stringify(fullRow)})) ${raw(alias)}`
}

/** The values of a row by column name. */
const getColumnValues = (columns: readonly string[], row: object) =>
  Object.fromEntries(
    Object.entries(row)
      .map(([key, value]) => [toSnakeCase(key), value] as const)
      .filter(([column, value]) => value !== undefined && columns.includes(column)),
  )

const joinSql = (items: readonly Sql[]) => items.reduce((all, item) => sql`${all}, ${item}`)

/** SQL condition: true if a merged row, named `alias`, is new or differs from the stored row. */
export const isDifferent = (table: MergeTable, alias: string): Sql => {
  const { qualify } = buildColumnLists({ columns: listValueColumns(table) })
  return sql`(old.service_id is null or (${qualify(alias)}) is distinct from (${qualify('old')}))`
}

/** A written row: its key, and whether it is new. */
export type Merged<Key extends string> = Record<Key, string> & { inserted: boolean }

/**
 * Merges rows into a table without a `record` column (the JSON of the record). The statement returns the changed rows as `Merged`. `change`:
 * the change timestamp, if the table has one.
 */
export function upsertMerged(service: Service, table: MergeTable, rows: readonly MergeRow[], change?: Change): Sql {
  const { list, qualify } = buildColumnLists(table)
  const timestamp = change
    ? { list: sql`, changed_at`, at: sql`, ${change.at}::timestamptz` }
    : { list: sql``, at: sql`` }
  return sql`
    insert into ${raw(table.name)} (${list}${timestamp.list})
    select ${qualify('merged_row')}${timestamp.at} from ${mergeRows(service, table, rows, 'merged_row')} where ${isDifferent(table, 'merged_row')}
    ${onConflictUpdate(table, change ? ['changed_at'] : [])}
    returning ${raw(table.key.join(', '))}, (xmax = 0) as inserted`
}

/** The `on conflict` clause: if any value column differs, overwrites all value columns and the columns in `alsoWritten`. */
export function onConflictUpdate(table: MergeTable, alsoWritten: readonly string[]): Sql {
  const written = buildColumnLists({ columns: [...listValueColumns(table), ...alsoWritten] })
  const compared = buildColumnLists({ columns: listValueColumns(table) })
  return sql`
    on conflict (service_id, ${raw(table.key.join(', '))}) do update set (${written.list}) = row(${written.excluded})
      where (${compared.qualify(table.name)}) is distinct from (${compared.excluded})`
}

/** The value columns: those other than `service_id` and the key. */
const listValueColumns = ({ key, columns }: MergeTable) =>
  columns.filter(column => column !== 'service_id' && !key.includes(column))

/** The columns of a table for an upsert: as a list, qualified by an alias (`qualify`), and qualified by `excluded`. */
export const buildColumnLists = ({ columns }: Pick<MergeTable, 'columns'>) => ({
  list: raw(columns.join(', ')),
  qualify: (alias: string) => raw(columns.map(column => `${alias}.${column}`).join(', ')),
  excluded: raw(columns.map(column => `excluded.${column}`).join(', ')),
})

/** Columns in a mask: a double has 53 integer bits, so a further column would be lost without an error. */
export const maxColumns = 53

/**
 * Encodes rows for `mergeRows`: the rows as JSON by column name, a mask per row with the bits of its present columns, and the change time of
 * its source. Throws if the table has more than `maxColumns` columns.
 */
function encodeRows(columns: readonly string[], rows: readonly MergeRow[]) {
  if (columns.length > maxColumns)
    throw new Error(`a merged table can have at most ${maxColumns} columns, not ${columns.length}`)
  const bits = new Map(columns.map((column, i) => [column, 2 ** i]))
  const masks: number[] = []
  const times: (string | null)[] = []
  const encoded = rows.map(row => {
    const values: Record<string, unknown> = {}
    let mask = 0
    for (const [key, value] of Object.entries(row)) {
      if (value === undefined) continue
      const column = toSnakeCase(key)
      const bit = bits.get(column)
      if (bit === undefined) continue
      values[column] = value
      mask += bit
    }
    masks.push(mask)
    times.push(row.updateTimeStamp ?? null)
    return values
  })
  return { json: JSON.stringify(encoded), masks, times }
}

const columnNames = new Map<string, string>()
function toSnakeCase(name: string) {
  const cached = columnNames.get(name)
  if (cached !== undefined) return cached
  const column = name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
  columnNames.set(name, column)
  return column
}
