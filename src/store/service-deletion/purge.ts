import { setTimeout as delay } from 'node:timers/promises'
import { type Db, raw, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { materialized } from '../lists/planner-fences.ts'

/** A table with rows of services, and what its key consists of behind `service_id`; all of them as SQL writes them. */
interface Table {
  name: string
  columns: string[]
  types: string[]
}

/** Told as rows go: how many so far, and how many there were. */
export type Emptied = (progress: { rows: number; of: number }) => void

const rowsAtOnce = 1_000

/**
 * Deletes what a service has in all tables but the list of services, the accounts' assignments and those named: a thousand rows at a time, each
 * thousand for good, and with a pause as long as they took, so that others have the database for half of the time at least. Broken off
 * at any moment, it is gone on with by beginning anew.
 */
export async function empty(
  db: Db,
  service: Pick<Service, 'id'>,
  onRows: Emptied | undefined,
  signal: AbortSignal,
  but: readonly string[] = [],
): Promise<void> {
  const tables = (await tablesOf(db)).filter(({ name }) => !but.includes(name))
  let of = 0
  // Only for a command, whose statements may take as long as they need: of a large table it takes longer than one of a job may.
  if (onRows) for (const { name } of tables) of += await countOf(db, service, name)
  let rows = 0
  for (const table of tables)
    for (let last: string[] | undefined; ; ) {
      signal.throwIfAborted()
      const began = performance.now()
      const portion = await deletePortion(db, service, table, last)
      if (!portion) break
      rows += portion.rows
      onRows?.({ rows, of: Math.max(rows, of) })
      last = portion.last
      await delay(performance.now() - began)
    }
}

/** Tables that refer to others before these, so that no row takes others with it. Partitions stand for the table that they are of. */
async function tablesOf(db: Db): Promise<Table[]> {
  const left = await db.rows<Table & { targets: string[] }>(sql`
    select c.oid::regclass::text as name,
           coalesce(array_agg(quote_ident(attname) order by place) filter (where place > 1), '{}') as columns,
           coalesce(array_agg(format_type(atttypid, atttypmod) order by place) filter (where place > 1), '{}') as types,
           array(select distinct confrelid::regclass::text from pg_constraint where conrelid = c.oid and contype = 'f' and confrelid <> c.oid) as targets
      from pg_class c
      join lateral (select indkey from pg_index where indrelid = c.oid and indisunique order by indisprimary desc, indexrelid limit 1) i on true
     cross join unnest(i.indkey) with ordinality k (attnum, place)
      join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
     where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and c.relname not in ('service', 'account_service')
       and exists (select from pg_attribute s where s.attrelid = c.oid and s.attname = 'service_id' and not s.attisdropped)
     group by c.oid order by c.oid desc`)
  const ordered: Table[] = []
  while (left.length) {
    const free = left.findIndex(({ name }) => !left.some(each => each.targets.includes(name)))
    ordered.push(...left.splice(Math.max(0, free), 1))
  }
  return ordered
}

const countOf = async (db: Db, service: Pick<Service, 'id'>, table: string) =>
  (
    await db.row<{ rows: number }>(
      sql`select count(*)::float8 as rows from ${raw(table)} where service_id = ${service.id}`,
    )
  )?.rows ?? 0

/** The portion whose keys follow `last`, in the order of the key: so what is gone already is not walked again. Undefined: there is no more. */
async function deletePortion(
  db: Db,
  service: Pick<Service, 'id'>,
  { name, columns, types }: Table,
  last: string[] | undefined,
) {
  const key = columns.map(column => `, ${column}`).join('')
  const order = ['service_id', ...columns].join(', ')
  const after = last
    ? sql`and (service_id${raw(key)}) > (${service.id}${last.reduce((list, value, i) => sql`${list}, ${value}::${raw(types[i] ?? '')}`, sql``)})`
    : sql``
  const portion = await db.row<{ rows: number; last: string[] }>(sql`
    with portion as ${materialized(sql`
      select ctid as place${raw(key)} from ${raw(name)} where service_id = ${service.id} ${after} order by ${raw(order)} limit ${rowsAtOnce}`)},
    gone as (delete from ${raw(name)} where ctid = any(array(select place from portion)) and service_id = ${service.id})
    select (select count(*) from portion)::integer as rows, array[${raw(columns.map(each => `${each}::text`).join(', '))}]::text[] as last
      from portion order by ${raw(columns.map(each => `${each} desc`).join(', ') || '1')} limit 1`)
  return portion
}
