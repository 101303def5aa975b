import { type Db, raw, sql } from '../../database/db.ts'
import type { Move } from './moves.ts'

interface Databases {
  source: Db
  target: Db
}
type MovedService = Pick<Move, 'serviceId'>

/** A table with rows of services. Names are quoted for SQL. */
export interface Table {
  name: string
  /** In the order of the table's columns, in which they are replicated. */
  key: string[]
  /** The types of the key's columns. */
  types: string[]
  columns: string
}

/** Keys of rows: the texts of the key columns as a JSON array. */
export type KeySet = Set<string>

/** Maximum keys per query. */
const keysPerQuery = 1_000
/** Number of parts into which the rows of a table are divided by a hash of their keys. Digests of parts are compared first. */
const partCount = 65_536

/** Loads the keys and column types of tables. `json` has no hash, so its text is compared. */
export const loadTables = (db: Db, names: readonly string[]) =>
  db.rows<Table>(sql`
    select c.oid::regclass::text as name, k.key, k.types,
           (select string_agg(quote_ident(attname) || case when atttypid = 'json'::regtype then '::text' else '' end, ', ' order by attname)
              from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped) as columns
      from pg_class c
      join pg_index i on indrelid = c.oid and indisprimary
     cross join lateral (
       select array_agg(quote_ident(attname) order by attnum) as key, array_agg(format_type(atttypid, null) order by attnum) as types
         from pg_attribute where attrelid = c.oid and attnum = any(indkey)) k
     where c.oid = any(${names}::text[]::regclass[]) order by 1`)

const selectDigest = ({ columns }: Table) => sql`hash_record_extended(row(${raw(columns)}), 1)`
const selectPart = ({ key }: Table) =>
  sql`(hash_record_extended(row(${raw(key.join(', '))}), 2) & ${partCount - 1})::integer`

/** Returns a digest of each part that has rows. Keys are unique, so no two rows cancel each other out. */
async function digestParts(db: Db, { serviceId }: MovedService, table: Table) {
  const rows = await db.rows<{ part: number; sum: string }>(sql`
    select ${selectPart(table)} as part, count(*)::text || ' ' || bit_xor(${selectDigest(table)})::text as sum
      from ${raw(table.name)} where service_id = ${serviceId} group by 1`)
  return new Map(rows.map(({ part, sum }) => [part, sum]))
}

/** Returns key and digest of each row in some parts of a table. */
async function digestRows(db: Db, { serviceId }: MovedService, table: Table, parts: readonly number[]) {
  const key = table.key.map(column => `${column}::text`).join(', ')
  const rows = await db.rows<{ key: string[]; digest: string }>(sql`
    select array[${raw(key)}] as key, ${selectDigest(table)}::text as digest
      from ${raw(table.name)} where service_id = ${serviceId} and ${selectPart(table)} = any(${parts})`)
  return new Map(rows.map(({ key: values, digest }) => [JSON.stringify(values), digest]))
}

/** Returns the keys of different rows. A few may have been written between the two queries. Many mean that something is wrong. */
export async function findDifferences(
  { source, target }: Databases,
  move: MovedService,
  table: Table,
): Promise<KeySet> {
  const readBoth = <T>(read: (db: Db) => Promise<Map<T, string>>) => Promise.all([read(source), read(target)])
  const parts = findDifferentKeys(...(await readBoth(db => digestParts(db, move, table))))
  return new Set(parts.length ? findDifferentKeys(...(await readBoth(db => digestRows(db, move, table, parts)))) : [])
}

/** Returns the keys whose digests differ, or that only one of the maps has. */
const findDifferentKeys = <T>(source: ReadonlyMap<T, string>, target: ReadonlyMap<T, string>) => [
  ...[...source].filter(([key, value]) => target.get(key) !== value).map(([key]) => key),
  ...[...target.keys()].filter(key => !source.has(key)),
]

/** Removes keys whose rows are equal, a batch at a time. If one row of a batch differs, all its keys stay. */
export async function removeEqual({ source, target }: Databases, table: Table, keys: KeySet): Promise<void> {
  const allKeys = [...keys]
  for (let from = 0; from < allKeys.length; from += keysPerQuery) {
    const batch = allKeys.slice(from, from + keysPerQuery)
    const [expected, actual] = await Promise.all([digestKeys(source, table, batch), digestKeys(target, table, batch)])
    if (expected === actual) for (const key of batch) keys.delete(key)
  }
}

/** Returns count and digest of the rows with these keys. */
async function digestKeys(db: Db, table: Table, keys: readonly string[]) {
  const same = table.key.map((column, i) => `t.${column} = (k.key ->> ${i})::${table.types[i]}`).join(' and ')
  const row = await db.row<{ sum: string }>(sql`
    select count(*)::text || ' ' || coalesce(bit_xor(t.digest), 0)::text as sum
      from json_array_elements(${`[${keys.join(',')}]`}::json) k (key)
     cross join lateral (select ${selectDigest(table)} as digest from ${raw(table.name)} t where ${raw(same)}) t`)
  return row?.sum
}

/** Counts the rows of a service in each table. */
export async function countRows(db: Db, { serviceId }: MovedService, tables: readonly string[]) {
  const counted = tables.map(async name => {
    const row = await db.row<{ rows: number }>(
      sql`select count(*)::float8 as rows from ${raw(name)} where service_id = ${serviceId}`,
    )
    return [name, row?.rows ?? 0] as const
  })
  return new Map(await Promise.all(counted))
}
