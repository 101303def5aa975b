import { type Db, raw, sql } from '../../database/db.ts'
import type { Move } from './moves.ts'

interface Both {
  source: Db
  target: Db
}
type Of = Pick<Move, 'serviceId'>

/** A table of a service; its key and all its columns, as SQL writes them. */
export interface Table {
  name: string
  /** In the order of the table's columns, in which they are replicated. */
  key: string[]
  /** The types of the key's columns. */
  types: string[]
  columns: string
}

/** Rows by their keys: the texts of its columns, as a JSON array. */
export type Keys = Set<string>

/** Keys that are told at a time. */
const keysAtOnce = 1_000
/** Rows are compared by what falls into the same of so many parts. */
const parts = 65_536

/** What is known of tables. Of json, which has no hash, the text is compared. */
export const tablesNamed = (db: Db, names: readonly string[]) =>
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

const digestOf = ({ columns }: Table) => sql`hash_record_extended(row(${raw(columns)}), 1)`
const partOf = ({ key }: Table) => sql`(hash_record_extended(row(${raw(key.join(', '))}), 2) & ${parts - 1})::integer`

/** The digest of all rows in each part of a table that has any. Rows have keys: no two cancel each other out. */
async function partsOf(db: Db, { serviceId }: Of, table: Table) {
  const found = await db.rows<{ part: number; sum: string }>(sql`
    select ${partOf(table)} as part, count(*)::text || ' ' || bit_xor(${digestOf(table)})::text as sum
      from ${raw(table.name)} where service_id = ${serviceId} group by 1`)
  return new Map(found.map(({ part, sum }) => [part, sum]))
}

/** Each row in some parts of a table: its key, and its digest. */
async function rowsIn(db: Db, { serviceId }: Of, table: Table, some: readonly number[]) {
  const key = table.key.map(column => `${column}::text`).join(', ')
  const found = await db.rows<{ key: string[]; digest: string }>(sql`
    select array[${raw(key)}] as key, ${digestOf(table)}::text as digest
      from ${raw(table.name)} where service_id = ${serviceId} and ${partOf(table)} = any(${some})`)
  return new Map(found.map(({ key: values, digest }) => [JSON.stringify(values), digest]))
}

/** The keys of rows that differ. Some may have been written between two looks; there are many only where something is wrong. */
export async function differing({ source, target }: Both, move: Of, table: Table): Promise<Keys> {
  const looks = <T>(look: (db: Db) => Promise<Map<T, string>>) => Promise.all([look(source), look(target)])
  const some = unlike(...(await looks(db => partsOf(db, move, table))))
  return new Set(some.length ? unlike(...(await looks(db => rowsIn(db, move, table, some)))) : [])
}

const unlike = <T>(here: ReadonlyMap<T, string>, there: ReadonlyMap<T, string>) => [
  ...[...here].filter(([key, value]) => there.get(key) !== value).map(([key]) => key),
  ...[...there.keys()].filter(key => !here.has(key)),
]

/** Forgets those of the keys whose rows are alike, a thousand at a time: where one of a thousand differs, all thousand stay. */
export async function forgetAlike({ source, target }: Both, table: Table, keys: Keys): Promise<void> {
  const all = [...keys]
  for (let from = 0; from < all.length; from += keysAtOnce) {
    const some = all.slice(from, from + keysAtOnce)
    const [here, there] = await Promise.all([sumOf(source, table, some), sumOf(target, table, some)])
    if (here === there) for (const key of some) keys.delete(key)
  }
}

/** The count and the digest of the rows with some keys. */
async function sumOf(db: Db, table: Table, keys: readonly string[]) {
  const same = table.key.map((column, i) => `t.${column} = (k.key ->> ${i})::${table.types[i]}`).join(' and ')
  const row = await db.row<{ sum: string }>(sql`
    select count(*)::text || ' ' || coalesce(bit_xor(t.digest), 0)::text as sum
      from json_array_elements(${`[${keys.join(',')}]`}::json) k (key)
     cross join lateral (select ${digestOf(table)} as digest from ${raw(table.name)} t where ${raw(same)}) t`)
  return row?.sum
}

/** How many rows a service has in each of some tables. */
export async function countsOf(db: Db, { serviceId }: Of, tables: readonly string[]) {
  const counted = tables.map(async name => {
    const row = await db.row<{ rows: number }>(
      sql`select count(*)::float8 as rows from ${raw(name)} where service_id = ${serviceId}`,
    )
    return [name, row?.rows ?? 0] as const
  })
  return new Map(await Promise.all(counted))
}
