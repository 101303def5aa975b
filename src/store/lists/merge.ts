import { raw, type Sql, sql } from '../../db.ts'
import type { Service } from '../../settings.ts'
import type { Change } from './change.ts'
import { anyService } from './statistics.ts'

/** A table that feeds' rows go into. */
export interface Table {
  name: string
  /** The primary key, `service_id` apart. */
  key: readonly string[]
  /** All that a row says, `service_id` and key included. */
  columns: readonly string[]
  /** What a new row says until it is told otherwise. */
  fresh?: object
}

/**
 * Rows merged over what is stored: a field that is missing keeps what is there, null clears it (docs/decisions/0005). For a
 * `from` clause, where an alias follows it.
 */
export const merged = (service: Service, { name, key, fresh = {} }: Table, rows: readonly object[]): Sql => sql`
  json_array_elements(${incoming(service, rows)}) i
  left join ${raw(name)} old on old.service_id = ${anyService(service)} and ${raw(key.map(column => `old.${column} = i->>'${column}'`).join(' and '))}
  cross join lateral json_populate_record(coalesce(old, (select json_populate_record(null::${raw(name)}, ${JSON.stringify(fresh)}))), i)`

/** Whether a row named `alias` of `merged` says anything else than what is stored: what does not need not be rendered. */
export const differs = ({ key, columns }: Table, alias: string): Sql => {
  const { of } = columnsOf({ columns: columns.filter(column => column !== 'service_id' && !key.includes(column)) })
  return sql`(old.service_id is null or (${of(alias)}) is distinct from (${of('old')}))`
}

/** A row that was merged: its key, and whether it is new. */
export type Merged<Key extends string> = Record<Key, string> & { inserted: boolean }

/**
 * Merges rows into a table that keeps no records. Its rows are those that are not what they were, as `Merged`; `change` stamps them,
 * where the table has stamps.
 */
export function merging(service: Service, table: Table, rows: readonly object[], change?: Change): Sql {
  const { list, of, excluded } = columnsOf(table)
  const name = raw(table.name)
  const stamp = change ? { list: sql`, changed_at`, at: sql`, ${change.at}::timestamptz` } : { list: sql``, at: sql`` }
  return sql`
    insert into ${name} (${list}${stamp.list})
    select ${of('given')}${stamp.at} from ${merged(service, table, rows)} given where ${differs(table, 'given')}
    on conflict (service_id, ${raw(table.key.join(', '))}) do update set (${list}${stamp.list}) = (${excluded}${stamp.at})
      where (${of(table.name)}) is distinct from (${excluded})
    returning ${raw(table.key.join(', '))}, (xmax = 0) as inserted`
}

/** The columns of a table for an upsert: as a list, of a row named `alias`, and as `excluded`. */
export const columnsOf = ({ columns }: Pick<Table, 'columns'>) => ({
  list: raw(columns.join(', ')),
  of: (alias: string) => raw(columns.map(column => `${alias}.${column}`).join(', ')),
  excluded: raw(columns.map(column => `excluded.${column}`).join(', ')),
})

/** Rows as JSON text with the columns' names. */
const incoming = (service: Service, rows: readonly object[]) =>
  JSON.stringify(
    rows.map(row => ({
      service_id: service.id,
      ...Object.fromEntries(Object.entries(row).map(([key, value]) => [snakeCase(key), value])),
    })),
  )

const snakeCase = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
