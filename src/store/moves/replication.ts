import { setTimeout as delay } from 'node:timers/promises'
import { type Db, raw, sql } from '../../database/db.ts'
import { controlTables } from '../shards/control-tables.ts'
import type { Move } from './moves.ts'

/**
 * Tables that logical replication doesn't copy: the control database's tables, the jobs, which are copied during the pause, and the request
 * log, which is copied after it.
 */
const excludedTables = [...controlTables, 'job', 'request_block', 'request_minute']

/** Lists the tables whose rows are replicated. Throws if one has no primary key. */
export async function listMovedTables(db: Db): Promise<string[]> {
  const rows = await db.rows<{ name: string; hasKey: boolean }>(sql`
    select c.oid::regclass::text as name, exists (select from pg_index where indrelid = c.oid and indisprimary) as "hasKey"
      from pg_class c
     where c.relkind = 'r' and not c.relispartition and c.relnamespace = current_schema()::regnamespace and c.relname <> all(${excludedTables})
       and exists (select from pg_attribute s where s.attrelid = c.oid and s.attname = 'service_id' and not s.attisdropped)
     order by 1`)
  const keyless = rows.filter(({ hasKey }) => !hasKey)
  if (keyless.length)
    throw new Error(`Tables without a primary key can't be replicated: ${keyless.map(({ name }) => name).join(', ')}.`)
  return rows.map(({ name }) => name)
}

/** Returns the name of a move's publication, slot and subscription. It contains the source's OID, because all databases of a server share its slots. */
export async function getMoveName(source: Db, { serviceId }: Pick<Move, 'serviceId'>): Promise<string> {
  const row = await source.row<{ oid: string }>(
    sql`select oid::text as oid from pg_database where datname = current_database()`,
  )
  return `tillbridge_move_${serviceId}_${row?.oid}`
}

/** The moved tables, divided by whether they have rows of the service. Empty tables need no copy, which saves a worker each. */
export interface MovedTables {
  filled: readonly string[]
  empty: readonly string[]
}

/** Publishes the rows of the service, and creates the slot that keeps all later changes. Waits for running transactions. */
export async function publish(
  source: Db,
  name: string,
  { serviceId }: Pick<Move, 'serviceId'>,
  { filled, empty }: MovedTables,
) {
  for (const [publication, tables] of [
    [`${name}_filled`, filled],
    [`${name}_empty`, empty],
  ] as const) {
    const rows = tables.map(table => `${table} where (service_id = ${serviceId})`)
    await source.run(raw(`create publication ${publication} ${rows.length ? `for table ${rows.join(', ')}` : ''}`))
  }
  await createSlot(source, name)
}

/** True if slots of a server can be copied to its standbys, so that they survive a failover: from PostgreSQL 17. */
const hasFailoverSlots = async (db: Db) =>
  Boolean(await db.row(sql`select true as "is" where current_setting('server_version_num')::integer >= 170000`))

/** Creates a logical replication slot that survives a failover if PostgreSQL supports that. */
export async function createSlot(source: Db, name: string) {
  const failover = (await hasFailoverSlots(source)) ? sql`, failover => true` : sql``
  await source.rows(sql`select pg_create_logical_replication_slot(${name}, 'pgoutput'${failover})`)
}

/**
 * Subscribes the target to the tables that were published as empty. `startCopy` adds the others. They must still be empty, now that all
 * changes are kept. `connectionString`: the source as the target's server reaches it, for libpq.
 */
export async function subscribe(source: Db, target: Db, name: string, connectionString: string) {
  // A subscription resets the property of its slot to its own.
  const haveFailover = (await hasFailoverSlots(source)) && (await hasFailoverSlots(target))
  await target.run(
    raw(`
    create subscription ${name} connection '${connectionString.replaceAll("'", "''")}' publication ${name}_empty
      with (slot_name = ${name}, create_slot = false, copy_data = false, synchronous_commit = on${haveFailover ? ', failover = true' : ''})`),
  )
}

/** Subscribes the target to the tables that were published as filled, and starts to copy them. */
export const startCopy = (target: Db, name: string) =>
  target.run(raw(`alter subscription ${name} add publication ${name}_filled with (copy_data = true)`))

const isSubscription = (name: string) =>
  sql`subname = ${name} and subdbid = (select oid from pg_database where datname = current_database())`

/**
 * Returns a regular expression for the names of the slots that PostgreSQL creates to copy each table. It matches no slot of another
 * subscription.
 */
export async function readCopySlots(target: Db, name: string): Promise<string> {
  const row = await target.row<{ names: string }>(sql`
    select '^pg_' || oid || '_sync_[0-9]+_' || system_identifier || '$' as names from pg_subscription, pg_control_system()
     where ${isSubscription(name)}`)
  if (!row) throw new Error(`Subscription ${name} not found.`)
  return row.names
}

const selectErrorCount = sql`coalesce((select apply_error_count + sync_error_count from pg_stat_subscription_stats t where t.subid = s.oid), 0)::integer`

export interface CopyProgress {
  rows: number
  ready: number
  tables: number
  /** Failed attempts. */
  errors: number
}

/** Reads the progress of the copy. `counts`: the rows of each table at the source. */
export async function readCopyProgress(
  target: Db,
  name: string,
  counts: ReadonlyMap<string, number>,
): Promise<CopyProgress> {
  const rows = await target.rows<{ table: string; state: string; copied: number; errors: number }>(sql`
    select srrelid::regclass::text as "table", srsubstate::text as state, coalesce(c.tuples_processed, 0)::float8 as copied,
           ${selectErrorCount} as errors
      from pg_subscription s join pg_subscription_rel r on srsubid = s.oid left join pg_stat_progress_copy c on c.relid = srrelid
     where ${isSubscription(name)}`)
  const isCopied = ({ state }: { state: string }) => 'fsr'.includes(state)
  return {
    rows: rows.reduce((sum, table) => sum + (isCopied(table) ? (counts.get(table.table) ?? 0) : table.copied), 0),
    ready: rows.filter(({ state }) => state === 'r').length,
    tables: rows.length,
    errors: rows[0]?.errors ?? 0,
  }
}

/** Returns the name of the publication and the slot that record the keys of written rows. */
export const getKeysName = (name: string) => `${name}_keys`

async function readLsn(source: Db): Promise<string> {
  const row = await source.row<{ lsn: string }>(sql`select pg_current_wal_insert_lsn()::text as lsn`)
  return row?.lsn ?? '0/0'
}

/** True if the target has flushed everything up to an LSN to its disk. Throws if the source has lost the slot. */
async function hasApplied(source: Db, name: string, lsn: string): Promise<boolean> {
  const slot = await source.row<{ isApplied: boolean | null }>(sql`
    select confirmed_flush_lsn >= ${lsn}::pg_lsn as "isApplied"
      from pg_replication_slots
     where slot_name = ${name}`)
  if (!slot) throw slotLost()
  return slot.isApplied ?? false
}

/** Throws if the source has lost the slot of a move: a standby has it after a failover only if it synchronizes slots. */
export async function requireSlot(source: Db, name: string) {
  if (!(await source.row(sql`select true as "is" from pg_replication_slots where slot_name = ${name}`)))
    throw slotLost()
}

const slotLost = () =>
  new Error("The source's PostgreSQL has lost the replication slot of the move, for example in a failover. Try again.")

/** Returns how often the target failed to apply changes. */
export const countApplyErrors = async (target: Db, name: string) =>
  (
    await target.row<{ errors: number }>(
      sql`select ${selectErrorCount} as errors from pg_subscription s where ${isSubscription(name)}`,
    )
  )?.errors ?? 0

/** Polls, 10 ms apart, between two checks for apply errors. A single error can be temporary. */
const pollsPerErrorCheck = 100

/** Waits until the target has everything that was written so far. Returns that LSN. Throws if the target can't apply changes. */
export async function waitUntilCaughtUp(
  { source, target }: { source: Db; target: Db },
  name: string,
  signal: AbortSignal,
): Promise<string> {
  const lsn = await readLsn(source)
  let firstErrors: number | undefined
  for (let polls = 1; !(await hasApplied(source, name, lsn)); polls++) {
    if (polls % pollsPerErrorCheck === 0) {
      const errors = await countApplyErrors(target, name)
      firstErrors ??= errors
      if (errors - firstErrors > 1)
        throw new Error("The target's PostgreSQL can't apply changes of the source. Its log has the cause.")
    }
    await delay(10, undefined, { signal })
  }
  return lsn
}

/** Drops the subscription, and its slot at the source if the source is available. */
export async function unsubscribe(target: Db, name: string) {
  const find = sql`
    select oid::text as oid from pg_subscription where ${isSubscription(name)}`
  if (!(await target.row(find))) return
  await target.run(raw(`alter subscription ${name} disable`))
  await target.run(raw(`drop subscription ${name}`)).catch(async () => {
    await target.run(raw(`alter subscription ${name} set (slot_name = none)`))
    await target.run(raw(`drop subscription ${name}`))
  })
}

/**
 * Drops the publications and slots at the source. `copySlots`: a regular expression for slots that the target may have left behind.
 */
export async function unpublish(source: Db, name: string, copySlots?: string) {
  await source.run(raw(`drop publication if exists ${name}_filled, ${name}_empty, ${getKeysName(name)}`))
  for (const slot of [name, getKeysName(name)]) await dropSlot(source, slot)
  // Without a subscription, the target starts no further copy.
  if (copySlots !== undefined) for (const slot of await listSlots(source, copySlots)) await dropSlot(source, slot)
}

const listSlots = async (source: Db, names: string) =>
  (
    await source.rows<{ name: string }>(
      sql`select slot_name as name from pg_replication_slots where database = current_database() and slot_name ~ ${names}`,
    )
  ).map(({ name }) => name)

async function dropSlot(source: Db, name: string) {
  const find = sql`select active_pid as pid from pg_replication_slots where slot_name = ${name}`
  for (let attempt = 0; ; attempt++) {
    const slot = await source.row<{ pid: number | null }>(find)
    if (!slot) return
    if (attempt > 50) throw new Error(`Replication slot ${name} can't be dropped, because it is in use at the source.`)
    await source.rows(
      slot.pid
        ? sql`select pg_terminate_backend(${slot.pid})`
        : sql`select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = ${name} and not active`,
    )
    await delay(slot.pid ? 100 : 0)
  }
}
