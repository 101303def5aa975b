import { type Database, type Db, raw, sql } from '../../database/db.ts'
import type { Move } from './moves.ts'

interface Both {
  source: Database
  target: Database
}

/** Blocks of the log that go over at a time, of as many as 500 lines each. */
const blocksAtOnce = 100

/** Brings, in the pause, what the service is set to, its jobs, and the numbers that count by themselves. */
export async function carryRest({ source, target }: Both, { serviceId }: Move): Promise<void> {
  const mine = sql`service_id = ${serviceId}`
  const [own, jobs, counters] = await Promise.all([
    source.row<{ row: string }>(sql`select row_to_json(s)::text as row from service s where ${mine}`),
    source.row<{ rows: string }>(sql`select coalesce(json_agg(j), '[]')::text as rows from job j where ${mine}`),
    lastNumbers(source),
  ])
  await target.transaction(async tx => {
    await tx.run(sql`
      update service s set (settings, created_at, restored_at) = (select settings, created_at, restored_at from json_populate_record(null::service, ${own?.row ?? '{}'}::json))
       where ${mine}`)
    await tx.run(sql`delete from job where ${mine}`)
    await tx.run(sql`
      insert into job select j.* from json_populate_recordset(null::job, ${jobs?.rows ?? '[]'}::json) j`)
    await tx.run(sql`update job set lease = null, leased_until = null where ${mine} and lease is not null`)
    for (const { sequence, last } of counters)
      await tx.rows(
        sql`select setval(${sequence}, ${last}::bigint) where (select last_value from ${raw(sequence)}) < ${last}::bigint`,
      )
  })
}

/** The last number of each column that counts by itself, of any service: entries at the target get later ones. */
async function lastNumbers(source: Db) {
  const columns = await source.rows<{ sequence: string }>(sql`
    select pg_get_serial_sequence(c.oid::regclass::text, attname) as sequence
      from pg_attribute a join pg_class c on c.oid = a.attrelid
     where a.attidentity <> '' and c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and c.relname <> 'service'`)
  const found: { sequence: string; last: string }[] = []
  for (const { sequence } of columns) {
    const row = await source.row<{ last: string }>(sql`select last_value::text as last from ${raw(sequence)}`)
    if (row) found.push({ sequence, last: row.last })
  }
  return found
}

/** Brings the request log over, once nobody is served at the source any more; harmless to do twice. */
export async function carryLog({ source, target }: Both, { serviceId }: Move, signal: AbortSignal): Promise<void> {
  // Of the partitions: to ask the lines takes longer than a statement may.
  const days = await source.rows<{ day: string }>(sql`
    select right(inhrelid::regclass::text, 8) as day from pg_inherits where inhparent = 'request_block'::regclass order by 1`)
  for (const { day } of days) await target.run(sql`select request_block_day(${day}::date)`)
  let last = { at: '-infinity', id: '' }
  for (;;) {
    signal.throwIfAborted()
    const portion = await source.row<{ rows: string; at: string | null; id: string }>(sql`
      with portion as (
        select * from request_block
         where service_id = ${serviceId} and (second, block_id) > (${last.at}::timestamptz, ${last.id})
         order by second, block_id limit ${blocksAtOnce})
      select coalesce(json_agg(p), '[]')::text as rows, max(second)::text as at,
             coalesce((select block_id from portion order by second desc, block_id desc limit 1), '') as id from portion p`)
    if (!portion?.at) break
    await target.run(sql`
      insert into request_block select * from json_populate_recordset(null::request_block, ${portion.rows}::json) on conflict do nothing`)
    last = { at: portion.at, id: portion.id }
  }
  const minutes = await source.row<{ rows: string }>(
    sql`select coalesce(json_agg(m), '[]')::text as rows from request_minute m where service_id = ${serviceId}`,
  )
  // In the minute of the switch both databases have requests. The greater figure is kept, so that this may be done again.
  await target.run(sql`
    insert into request_minute as m select * from json_populate_recordset(null::request_minute, ${minutes?.rows ?? '[]'}::json)
    on conflict (service_id, minute) do update
      set (answered, rejected, failed) = (greatest(m.answered, excluded.answered), greatest(m.rejected, excluded.rejected), greatest(m.failed, excluded.failed))`)
}
