import { type Database, type Db, raw, sql } from '../../database/db.ts'
import type { Move } from './moves.ts'

interface Databases {
  source: Database
  target: Database
}

/** Blocks of the request log that are copied at a time, with up to 500 entries each. */
const blocksPerQuery = 100

/** Copies settings, jobs and sequences during the pause. */
export async function copyRemainingRows({ source, target }: Databases, { serviceId }: Move): Promise<void> {
  const isMoved = sql`service_id = ${serviceId}`
  const [service, jobs, sequences] = await Promise.all([
    source.row<{ row: string }>(sql`select row_to_json(s)::text as row from service s where ${isMoved}`),
    source.row<{ rows: string }>(sql`select coalesce(json_agg(j), '[]')::text as rows from job j where ${isMoved}`),
    readSequences(source),
  ])
  await target.transaction(async tx => {
    await tx.run(sql`
      update service s set (settings, created_at, restored_at) = (select settings, created_at, restored_at from json_populate_record(null::service, ${service?.row ?? '{}'}::json))
       where ${isMoved}`)
    await tx.run(sql`delete from job where ${isMoved}`)
    await tx.run(sql`
      insert into job select j.* from json_populate_recordset(null::job, ${jobs?.rows ?? '[]'}::json) j`)
    await tx.run(sql`update job set lease = null, leased_until = null where ${isMoved} and lease is not null`)
    for (const { sequence, last } of sequences)
      await tx.rows(
        sql`select setval(${sequence}, ${last}::bigint) where (select last_value from ${raw(sequence)}) < ${last}::bigint`,
      )
  })
}

/** Reads the last value of each identity column's sequence, so that later rows at the target get higher numbers. */
async function readSequences(source: Db) {
  const columns = await source.rows<{ sequence: string }>(sql`
    select pg_get_serial_sequence(c.oid::regclass::text, attname) as sequence
      from pg_attribute a join pg_class c on c.oid = a.attrelid
     where a.attidentity <> '' and c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and c.relname <> 'service'`)
  const sequences: { sequence: string; last: string }[] = []
  for (const { sequence } of columns) {
    const row = await source.row<{ last: string }>(sql`select last_value::text as last from ${raw(sequence)}`)
    if (row) sequences.push({ sequence, last: row.last })
  }
  return sequences
}

/** Copies the request log, after the last request at the source has ended. Running it twice is harmless. */
export async function copyRequestLog(
  { source, target }: Databases,
  { serviceId }: Move,
  signal: AbortSignal,
): Promise<void> {
  // Days are read from the partitions: reading them from the entries would exceed the statement timeout.
  const days = await source.rows<{ day: string }>(sql`
    select right(inhrelid::regclass::text, 8) as day from pg_inherits where inhparent = 'request_block'::regclass order by 1`)
  for (const { day } of days) await target.run(sql`select request_block_day(${day}::date)`)
  let last = { at: '-infinity', id: '' }
  for (;;) {
    signal.throwIfAborted()
    const batch = await source.row<{ rows: string; at: string | null; id: string }>(sql`
      with batch as (
        select * from request_block
         where service_id = ${serviceId} and (second, block_id) > (${last.at}::timestamptz, ${last.id})
         order by second, block_id limit ${blocksPerQuery})
      select coalesce(json_agg(p), '[]')::text as rows, max(second)::text as at,
             coalesce((select block_id from batch order by second desc, block_id desc limit 1), '') as id from batch p`)
    if (!batch?.at) break
    await target.run(sql`
      insert into request_block select * from json_populate_recordset(null::request_block, ${batch.rows}::json) on conflict do nothing`)
    last = { at: batch.at, id: batch.id }
  }
  const minutes = await source.row<{ rows: string }>(
    sql`select coalesce(json_agg(m), '[]')::text as rows from request_minute m where service_id = ${serviceId}`,
  )
  // Both databases have requests in the minute of the switch. The higher count is kept, so that the copy can be repeated.
  await target.run(sql`
    insert into request_minute as m select * from json_populate_recordset(null::request_minute, ${minutes?.rows ?? '[]'}::json)
    on conflict (service_id, minute) do update
      set (answered, rejected, failed, durations) = (greatest(m.answered, excluded.answered), greatest(m.rejected, excluded.rejected), greatest(m.failed, excluded.failed),
                                                     case when excluded.answered > m.answered then excluded.durations else m.durations end)`)
}
