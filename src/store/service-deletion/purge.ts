import { setTimeout as delay } from 'node:timers/promises'
import { type Db, raw, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { materialized } from '../lists/planner-fences.ts'

/** A table with rows of services, and its key columns after `service_id`. Names are quoted for SQL. */
interface Table {
  name: string
  columns: string[]
  types: string[]
}

/** Receives the number of deleted rows and their total. */
export type OnPurged = (progress: { rows: number; total: number }) => void

const rowsPerBatch = 1_000

/**
 * Deletes the rows of a service in batches, each in its own transaction. Leaves out the tables `service`, `account_service` and `retained`.
 * Pauses after each batch for as long as the batch took, so that others can use the database at least half of the time. After an
 * interruption, call it again.
 */
export async function purgeRows(
  db: Db,
  service: Pick<Service, 'id'>,
  onRows: OnPurged | undefined,
  signal: AbortSignal,
  retained: readonly string[] = [],
): Promise<void> {
  const tables = (await listTables(db)).filter(({ name }) => !retained.includes(name))
  let total = 0
  // Only for commands, which have no statement timeout: counting a large table takes longer than a job's statement can.
  if (onRows) for (const { name } of tables) total += await countRows(db, service, name)
  let rows = 0
  for (const table of tables)
    for (let last: string[] | undefined; ; ) {
      signal.throwIfAborted()
      const began = performance.now()
      const batch = await deleteBatch(db, service, table, last)
      if (!batch) break
      rows += batch.rows
      onRows?.({ rows, total: Math.max(rows, total) })
      last = batch.last
      await delay(performance.now() - began)
    }
}

/** Lists tables, referring ones before the tables that they refer to, so that no deletion cascades. Partitions replace their parent table. */
async function listTables(db: Db): Promise<Table[]> {
  const remaining = await db.rows<Table & { targets: string[] }>(sql`
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
  while (remaining.length) {
    const free = remaining.findIndex(({ name }) => !remaining.some(table => table.targets.includes(name)))
    ordered.push(...remaining.splice(Math.max(0, free), 1))
  }
  return ordered
}

const countRows = async (db: Db, service: Pick<Service, 'id'>, table: string) =>
  (
    await db.row<{ rows: number }>(
      sql`select count(*)::float8 as rows from ${raw(table)} where service_id = ${service.id}`,
    )
  )?.rows ?? 0

/**
 * Deletes the batch after the key `last`, in the order of the key, so that deleted index entries are not read again. Returns undefined if no
 * row is left.
 */
async function deleteBatch(
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
  return db.row<{ rows: number; last: string[] }>(sql`
    with batch as ${materialized(sql`
      select ctid as place${raw(key)} from ${raw(name)} where service_id = ${service.id} ${after} order by ${raw(order)} limit ${rowsPerBatch}`)},
    gone as (delete from ${raw(name)} where ctid = any(array(select place from batch)) and service_id = ${service.id})
    select (select count(*) from batch)::integer as rows, array[${raw(columns.map(column => `${column}::text`).join(', '))}]::text[] as last
      from batch order by ${raw(columns.map(column => `${column} desc`).join(', ') || '1')} limit 1`)
}
