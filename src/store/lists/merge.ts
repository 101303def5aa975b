import { raw, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { Change } from './change-timestamp.ts'
import { opaqueServiceId } from './statistics.ts'

/** A table that feeds' rows go into. */
export interface MergeTable {
  name: string
  /** The primary key, `service_id` apart. */
  key: readonly string[]
  /** All that a row says, `service_id` and key included. */
  columns: readonly string[]
  /** What a new row says until it is told otherwise. */
  fresh?: object
  /** What follows from other columns of the row, as SQL that names them. */
  derived?: Readonly<Record<string, string>>
}

/**
 * Rows merged over what is stored: a field that is missing keeps what is there, null clears it (docs/decisions/0005). For a
 * `from` clause: a merged row is `alias`, with `told_at` where it says when it changed, and `old` is what is stored.
 */
export function mergeRows(service: Service, table: MergeTable, rows: readonly object[], alias: string): Sql {
  const { name, key, columns, fresh = {}, derived = {} } = table
  const { text, told, times } = encodeRows(columns, rows)
  // An array with nulls is walked from its front for each row: where no row tells a time there is none.
  const toldAt = times.some(Boolean) ? sql`(${times}::timestamp[])[new.ordinality]` : sql`null::timestamp`
  const given = columns.map((column, i) => {
    if (column === 'service_id') return sql`${service.id}::integer as service_id`
    if (key.includes(column)) return raw(`new.${column}`)
    return raw(
      `case when old.service_id is null or told.mask & ${2 ** i} <> 0 then new.${column} else old.${column} end as ${column}`,
    )
  })
  const following = columns.map(column => (column in derived ? `${derived[column]} as ${column}` : column))
  return sql`
    json_populate_recordset((select json_populate_record(null::${raw(name)}, ${JSON.stringify(fresh)})), ${text}) with ordinality new
    left join ${raw(name)} old on old.service_id = ${opaqueServiceId(service)} and ${raw(key.map(column => `old.${column} = new.${column}`).join(' and '))}
    cross join lateral (select (${told}::bigint[])[new.ordinality] as mask, ${toldAt} as told_at offset 0) told
    cross join lateral (select ${raw(following.join(', '))} from (select ${listed(given)} offset 0) whole) ${raw(alias)}`
}

/** A row whose key is not there yet, for a `from` clause: what it does not say is as `fresh` says, or null. */
export function newRow(
  service: Service,
  { name, columns, fresh, derived = {} }: MergeTable,
  row: object,
  alias: string,
): Sql {
  const whole = { ...fresh, ...columnValues(columns, row), service_id: service.id }
  const following = columns.map(column => (column in derived ? `${derived[column]} as ${column}` : column))
  return sql`
    (select ${raw(following.join(', '))} from json_populate_record(null::${raw(name)}, ${JSON.stringify(whole)})) ${raw(alias)}`
}

/** What a row says, by the names of columns. */
const columnValues = (columns: readonly string[], row: object) =>
  Object.fromEntries(
    Object.entries(row)
      .map(([key, value]) => [snakeCase(key), value] as const)
      .filter(([column, value]) => value !== undefined && columns.includes(column)),
  )

const listed = (items: readonly Sql[]) => items.reduce((all, one) => sql`${all}, ${one}`)

/** Whether a merged row, named `alias`, differs from what is stored: one that does not need not be rendered. */
export const isDifferent = (table: MergeTable, alias: string): Sql => {
  const { of } = columnLists({ columns: valueColumns(table) })
  return sql`(old.service_id is null or (${of(alias)}) is distinct from (${of('old')}))`
}

/** A row that was merged: its key, and whether it is new. */
export type Merged<Key extends string> = Record<Key, string> & { inserted: boolean }

/**
 * Merges rows into a table that keeps no records. The statement returns the rows that have changed, as `Merged`. `change` stamps them,
 * where the table has stamps.
 */
export function upsertMerged(service: Service, table: MergeTable, rows: readonly object[], change?: Change): Sql {
  const { list, of } = columnLists(table)
  const stamp = change ? { list: sql`, changed_at`, at: sql`, ${change.at}::timestamptz` } : { list: sql``, at: sql`` }
  return sql`
    insert into ${raw(table.name)} (${list}${stamp.list})
    select ${of('given')}${stamp.at} from ${mergeRows(service, table, rows, 'given')} where ${isDifferent(table, 'given')}
    ${onConflictUpdate(table, change ? ['changed_at'] : [])}
    returning ${raw(table.key.join(', '))}, (xmax = 0) as inserted`
}

/** How a merged row takes the place of the one that is stored: with all columns, and those of `also`, unless it says the same. */
export function onConflictUpdate(table: MergeTable, also: readonly string[]): Sql {
  const written = columnLists({ columns: [...valueColumns(table), ...also] })
  const compared = columnLists({ columns: valueColumns(table) })
  return sql`
    on conflict (service_id, ${raw(table.key.join(', '))}) do update set (${written.list}) = row(${written.excluded})
      where (${compared.of(table.name)}) is distinct from (${compared.excluded})`
}

/** The columns that say something, rather than whose row it is. */
const valueColumns = ({ key, columns }: MergeTable) => columns.filter(column => column !== 'service_id' && !key.includes(column))

/** The columns of a table for an upsert: as a list, of a row named `alias`, and as `excluded`. */
export const columnLists = ({ columns }: Pick<MergeTable, 'columns'>) => ({
  list: raw(columns.join(', ')),
  of: (alias: string) => raw(columns.map(column => `${alias}.${column}`).join(', ')),
  excluded: raw(columns.map(column => `excluded.${column}`).join(', ')),
})

/** Rows as JSON text with the columns' names; of each row, which columns it tells, as a bit for each, and when it says that it changed. */
function encodeRows(columns: readonly string[], rows: readonly object[]) {
  const bits = new Map(columns.map((column, i) => [column, 2 ** i]))
  const told: number[] = []
  const times: (string | null)[] = []
  const given = rows.map(row => {
    const named: Record<string, unknown> = {}
    let mask = 0
    for (const [key, value] of Object.entries(row)) {
      if (value === undefined) continue
      const column = snakeCase(key)
      const bit = bits.get(column)
      if (bit === undefined) continue
      named[column] = value
      mask += bit
    }
    told.push(mask)
    times.push((row as { updateTimeStamp?: string | null }).updateTimeStamp ?? null)
    return named
  })
  return { text: JSON.stringify(given), told, times }
}

const names = new Map<string, string>()
function snakeCase(name: string) {
  const known = names.get(name)
  if (known !== undefined) return known
  const made = name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
  names.set(name, made)
  return made
}
