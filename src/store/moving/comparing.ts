import { type Db, raw, sql } from '../../db.ts'
import type { Move } from './moves.ts'

/** What a table has of a service: how many rows, and a digest of all that is in them. */
interface Sum {
  rows: number
  digest: string
}
export type Sums = ReadonlyMap<string, Sum>

/** Counts and digests of what a service has in some tables. Rows have keys: no two cancel each other out. */
export async function sumsOf(db: Db, { serviceId }: Pick<Move, 'serviceId'>, tables: readonly string[]): Promise<Sums> {
  const columns = await columnsOf(db, tables)
  const summed = tables.map(async name => {
    const row = await db.row<Sum>(
      sql`select count(*)::float8 as rows, coalesce(bit_xor(hash_record_extended(row(${raw(columns.get(name) ?? '')}), 1)), 0)::text as digest from ${raw(name)} t where service_id = ${serviceId}`,
    )
    return [name, row ?? { rows: 0, digest: '' }] as const
  })
  return new Map(await Promise.all(summed))
}

/** The columns of tables, as SQL; json, which has no hash, as its text. */
async function columnsOf(db: Db, tables: readonly string[]) {
  const rows = await db.rows<{ name: string; columns: string }>(sql`
    select attrelid::regclass::text as name,
           string_agg(quote_ident(attname) || case when atttypid = 'json'::regtype then '::text' else '' end, ', ' order by attname) as columns
      from pg_attribute where attrelid = any(${tables}::text[]::regclass[]) and attnum > 0 and not attisdropped group by 1`)
  return new Map(rows.map(({ name, columns }) => [name, columns]))
}

/** How many rows a service has in each of some tables. */
export async function countsOf(db: Db, { serviceId }: Pick<Move, 'serviceId'>, tables: readonly string[]) {
  const counted = tables.map(async name => {
    const row = await db.row<{ rows: number }>(
      sql`select count(*)::float8 as rows from ${raw(name)} where service_id = ${serviceId}`,
    )
    return [name, row?.rows ?? 0] as const
  })
  return new Map(await Promise.all(counted))
}

/** The tables that differ. */
export const differences = (one: Sums, other: Sums): string[] =>
  [...one]
    .filter(([name, { rows, digest }]) => other.get(name)?.rows !== rows || other.get(name)?.digest !== digest)
    .map(([name]) => name)
