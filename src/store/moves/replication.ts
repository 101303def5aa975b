import { setTimeout as delay } from 'node:timers/promises'
import { type Db, raw, sql } from '../../database/db.ts'
import { tablesOfControl } from '../shards/control-tables.ts'
import type { Move } from './moves.ts'

/**
 * The tables that are not copied: those that stay in the control database, and those that are brought by themselves, jobs in the pause and
 * the request log after it.
 */
const apart = [...tablesOfControl, 'job', 'request_block', 'request_minute']

/** The tables whose rows are copied and followed. */
export async function movedTables(db: Db): Promise<string[]> {
  const rows = await db.rows<{ name: string; hasKey: boolean }>(sql`
    select c.oid::regclass::text as name, exists (select from pg_index where indrelid = c.oid and indisprimary) as "hasKey"
      from pg_class c
     where c.relkind = 'r' and not c.relispartition and c.relnamespace = current_schema()::regnamespace and c.relname <> all(${apart})
       and exists (select from pg_attribute s where s.attrelid = c.oid and s.attname = 'service_id' and not s.attisdropped)
     order by 1`)
  const keyless = rows.filter(({ hasKey }) => !hasKey)
  if (keyless.length) throw new Error(`Without a key nobody can follow ${keyless.map(({ name }) => name).join(', ')}.`)
  return rows.map(({ name }) => name)
}

/** The name of a move's publication, slot and subscription. The databases of a server share its slots, so the source's oid is in it. */
export async function nameOfMove(source: Db, { serviceId }: Pick<Move, 'serviceId'>): Promise<string> {
  const row = await source.row<{ oid: string }>(
    sql`select oid::text as oid from pg_database where datname = current_database()`,
  )
  return `tillbridge_move_${serviceId}_${row?.oid}`
}

/** The tables of a service by whether they have any row of it. Where there is none there is nothing to copy, which spares a worker each. */
export interface Published {
  filled: readonly string[]
  empty: readonly string[]
}

/** Publishes the rows of the service, and keeps all changes of them from now on. Waits for the transactions that are under way. */
export async function publish(
  source: Db,
  name: string,
  { serviceId }: Pick<Move, 'serviceId'>,
  { filled, empty }: Published,
) {
  for (const [each, tables] of [
    [`${name}_filled`, filled],
    [`${name}_empty`, empty],
  ] as const) {
    const rows = tables.map(table => `${table} where (service_id = ${serviceId})`)
    await source.run(raw(`create publication ${each} ${rows.length ? `for table ${rows.join(', ')}` : ''}`))
  }
  await source.rows(sql`select pg_create_logical_replication_slot(${name}, 'pgoutput')`)
}

/**
 * Has the target follow the tables that were published as empty; `copyFilled` adds the others. They have to be empty still, now that all
 * changes are kept. `at`: how the target's server reaches the source, as libpq takes it.
 */
export async function subscribe(target: Db, name: string, at: string) {
  await target.run(
    raw(`
    create subscription ${name} connection '${at.replaceAll("'", "''")}' publication ${name}_empty
      with (slot_name = ${name}, create_slot = false, copy_data = false, synchronous_commit = on)`),
  )
}

/** Has the target copy, and then follow, the tables that were published as filled. */
export const copyFilled = (target: Db, name: string) =>
  target.run(raw(`alter subscription ${name} add publication ${name}_filled with (copy_data = true)`))

const isOurs = (name: string) =>
  sql`subname = ${name} and subdbid = (select oid from pg_database where datname = current_database())`

/**
 * The names that PostgreSQL gives the slots by which a target copies tables, one each: a regular expression that fits no slot of another
 * subscription.
 */
export async function slotsOfCopy(target: Db, name: string): Promise<string> {
  const row = await target.row<{ names: string }>(sql`
    select '^pg_' || oid || '_sync_[0-9]+_' || system_identifier || '$' as names from pg_subscription, pg_control_system()
     where ${isOurs(name)}`)
  if (!row) throw new Error(`There is no subscription ${name}.`)
  return row.names
}

const faultsOf = sql`coalesce((select apply_error_count + sync_error_count from pg_stat_subscription_stats t where t.subid = s.oid), 0)::integer`

/** How far the copy is. */
export interface Copying {
  rows: number
  ready: number
  tables: number
  /** Attempts that failed. */
  faults: number
}

/** `counts`: how many rows each table had at the source. */
export async function copying(target: Db, name: string, counts: ReadonlyMap<string, number>): Promise<Copying> {
  const rows = await target.rows<{ table: string; state: string; copied: number; faults: number }>(sql`
    select srrelid::regclass::text as "table", srsubstate::text as state, coalesce(c.tuples_processed, 0)::float8 as copied,
           ${faultsOf} as faults
      from pg_subscription s join pg_subscription_rel r on srsubid = s.oid left join pg_stat_progress_copy c on c.relid = srrelid
     where ${isOurs(name)}`)
  const isCopied = ({ state }: { state: string }) => 'fsr'.includes(state)
  return {
    rows: rows.reduce((sum, each) => sum + (isCopied(each) ? (counts.get(each.table) ?? 0) : each.copied), 0),
    ready: rows.filter(({ state }) => state === 'r').length,
    tables: rows.length,
    faults: rows[0]?.faults ?? 0,
  }
}

/** The name, at the source, of the publication and the slot that keep which rows are written. */
export const keysOf = (name: string) => `${name}_keys`

/** Where the log of the source is now. */
async function logPosition(source: Db): Promise<string> {
  const row = await source.row<{ lsn: string }>(sql`select pg_current_wal_insert_lsn()::text as lsn`)
  return row?.lsn ?? '0/0'
}

/** Whether the target has, on its disk, all that was written up to a position. */
const hasApplied = async (source: Db, name: string, lsn: string) =>
  Boolean(
    await source.row(
      sql`select true as "is" from pg_replication_slots where slot_name = ${name} and confirmed_flush_lsn >= ${lsn}::pg_lsn`,
    ),
  )

/** How often the target could not apply what it was sent. */
export const applyFaults = async (target: Db, name: string) =>
  (await target.row<{ faults: number }>(sql`select ${faultsOf} as faults from pg_subscription s where ${isOurs(name)}`))
    ?.faults ?? 0

/** Of the looks, which are 10 ms apart, every so manyth is also at whether the target can apply what it is sent. Once it may have failed for a moment. */
const looksBetween = 100

/** Waits until the target has all that was written so far; returns up to where. Throws where it cannot apply it. */
export async function caughtUp(
  { source, target }: { source: Db; target: Db },
  name: string,
  signal: AbortSignal,
): Promise<string> {
  const lsn = await logPosition(source)
  let before: number | undefined
  for (let looks = 1; !(await hasApplied(source, name, lsn)); looks++) {
    if (looks % looksBetween === 0) {
      const now = await applyFaults(target, name)
      if (now - (before ?? now) > 1)
        throw new Error('PostgreSQL of the target cannot apply what is written at the source; its log says why.')
      before ??= now
    }
    await delay(10, undefined, { signal })
  }
  return lsn
}

/** Ends what the target follows, and what the source keeps for it; where the source is away only the former. */
export async function unsubscribe(target: Db, name: string) {
  const find = sql`
    select oid::text as oid from pg_subscription where ${isOurs(name)}`
  if (!(await target.row(find))) return
  await target.run(raw(`alter subscription ${name} disable`))
  await target.run(raw(`drop subscription ${name}`)).catch(async () => {
    await target.run(raw(`alter subscription ${name} set (slot_name = none)`))
    await target.run(raw(`drop subscription ${name}`))
  })
}

/**
 * Ends what the source publishes and keeps. `copies`: the names of the slots by which the target copies, some of which it may have left.
 */
export async function unpublish(source: Db, name: string, copies?: string) {
  await source.run(raw(`drop publication if exists ${name}_filled, ${name}_empty, ${keysOf(name)}`))
  for (const each of [name, keysOf(name)]) await dropSlot(source, each)
  // Now that the target follows nothing, it begins no further copy.
  if (copies !== undefined) for (const each of await slotsLike(source, copies)) await dropSlot(source, each)
}

const slotsLike = async (source: Db, names: string) =>
  (
    await source.rows<{ name: string }>(
      sql`select slot_name as name from pg_replication_slots where database = current_database() and slot_name ~ ${names}`,
    )
  ).map(({ name }) => name)

async function dropSlot(source: Db, name: string) {
  const find = sql`select active_pid as pid from pg_replication_slots where slot_name = ${name}`
  for (let looks = 0; ; looks++) {
    const slot = await source.row<{ pid: number | null }>(find)
    if (!slot) return
    if (looks > 50) throw new Error(`The slot ${name} is in use at the source.`)
    await source.rows(
      slot.pid
        ? sql`select pg_terminate_backend(${slot.pid})`
        : sql`select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = ${name} and not active`,
    )
    await delay(slot.pid ? 100 : 0)
  }
}
