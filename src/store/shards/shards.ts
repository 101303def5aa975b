import { type Keys, seal, unseal } from '../../crypto/keys.ts'
import { type Database, type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** The context that the encrypted URL of a shard is bound to. */
export const getShardUrlContext = (name: string) => `shard ${name}`

/** Lists the shards with the number of their services. */
export const listShards = (control: Db) =>
  control.rows<{ name: string; services: number; added: Date }>(sql`
    select d.name, added_at as added, count(service_id)::integer as services
      from shard d left join service on shard_name = d.name group by d.name order by d.name`)

/** Returns the URL of a shard. Returns undefined if the shard doesn't exist. Throws, with a remedy, if it was encrypted with another secret. */
export async function findShardUrl(control: Db, keys: Keys, name: string): Promise<string | undefined> {
  const row = await control.row<{ url: Buffer }>(sql`select url from shard where name = ${name}`)
  try {
    return row && unseal(keys, getShardUrlContext(name), row.url)
  } catch (cause) {
    throw new Error(
      `The URL of shard ${name} was encrypted with another SECRET_KEY. Enter it again: tillbridge shard add ${name}`,
      { cause },
    )
  }
}

/** Stores the URL of a shard, encrypted. */
export const storeShard = (control: Db, keys: Keys, name: string, url: string) =>
  control.run(sql`
    insert into shard (name, url) values (${name}, ${seal(keys, getShardUrlContext(name), url)})
    on conflict (name) do update set url = excluded.url`)

/** Deletes a shard without services from the list. Returns false if it doesn't exist. Throws if it has services. */
export const deleteShard = async (control: Db, name: string) =>
  (await control.run(sql`delete from shard where name = ${name}`)) > 0

export interface DatabaseMark {
  /** Digest of the installation's secret. */
  digest: Buffer
  /** The name of the shard. Null: the database is a control database. */
  name: string | null
  /** The secret of `Keys.lookup`, encrypted (`sealLookup`). Null: it is derived from the secret. */
  lookup: Buffer | null
  /** Digest of the previous secret while values may still need it. */
  previousDigest: Buffer | null
}

/** Returns the mark of a database. Returns undefined if it has no tables, or no process has marked it yet. */
export async function readMark(db: Db): Promise<DatabaseMark | undefined> {
  const has = await db.row<{ table: string | null }>(sql`select to_regclass('installation')::text as "table"`)
  if (!has?.table) return
  return db.row<DatabaseMark>(sql`
    select secret_digest as digest, shard_name as name, lookup_secret as lookup, previous_digest as "previousDigest" from installation`)
}

const lookupContext = 'lookup secret'

/** Encrypts the secret for lookups, which a rotation keeps. */
export const sealLookup = (keys: Keys) => seal(keys, lookupContext, keys.lookup.toString('hex'))

/** Decrypts the secret for lookups (`sealLookup`). */
export const unsealLookup = (keys: Keys, sealed: Buffer) => Buffer.from(unseal(keys, lookupContext, sealed), 'hex')

/** Marks an unmarked database as a shard of this name, or as a control database. */
export const markDatabase = (db: Db, keys: Keys, name: DatabaseMark['name']) =>
  db.run(
    sql`
      insert into installation (secret_digest, lookup_secret, shard_name)
      values (${keys.digest}, ${sealLookup(keys)}, ${name}) on conflict do nothing`,
  )

/** Deletes the mark. The next process marks the database with its secret. */
export const deleteMark = (db: Db) => db.run(sql`delete from installation`)

export interface ShardService extends Pick<Service, 'id' | 'name'> {
  deletionState: string | null
}

/** Lists the services that are served from a shard. */
export const listServicesIn = (data: Db) =>
  data.rows<ShardService>(sql`
    select service_id as id, name, deletion_state as "deletionState" from service where move_state is null or move_state not in ('incoming', 'moved_away') order by service_id`)

/**
 * Registers services of a shard that the control database doesn't have, because it was restored from an older backup. Returns the services
 * whose number or name belongs to another service.
 */
export async function registerServices(
  control: Db,
  database: string,
  entries: readonly ShardService[],
): Promise<ShardService[]> {
  await control.run(sql`
    insert into service (service_id, name, deletion_state, shard_name) overriding system value
    select id, name, "deletionState", ${database} from json_to_recordset(${JSON.stringify(entries)}) as e (id integer, name text, "deletionState" text)
    on conflict do nothing`)
  // A new service must not get the number of a registered one.
  await control.run(sql`
    select setval(pg_get_serial_sequence('service', 'service_id'), greatest(max(service_id), nextval(pg_get_serial_sequence('service', 'service_id')))) from service`)
  return findConflicts(control, entries)
}

/** Returns the services of a shard that the control database doesn't have with the same number and name. */
export const findConflicts = (control: Db, entries: readonly ShardService[]) =>
  control.rows<ShardService>(sql`
    select id, name, "deletionState" from json_to_recordset(${JSON.stringify(entries)}) as e (id integer, name text, "deletionState" text)
     where not exists (select from service s where s.service_id = e.id and s.name = e.name)`)

/** Inserts the row of a service in its shard. Returns `conflict` if its number or name belongs to another service. */
export async function insertService(data: Db, { id, name }: Pick<Service, 'id' | 'name'>) {
  const inserted = await data.run(sql`
    insert into service (service_id, name) overriding system value values (${id}, ${name}) on conflict do nothing`)
  if (inserted) return 'inserted'
  return (await data.row(sql`select from service where service_id = ${id} and name = ${name}`)) ? 'exists' : 'conflict'
}

/** Deletes the registration of a service that could not be inserted in its shard. */
export const unregisterService = (control: Db, { id }: Pick<Service, 'id'>, database: string) =>
  control.run(sql`delete from service where service_id = ${id} and shard_name = ${database}`)

/**
 * Returns the names of services that the control database assigns to a shard which doesn't have them. Leaves out moving services.
 */
export async function findMissingServices(control: Db, data: Db, database: string): Promise<string[]> {
  const placed = await control.rows<Pick<ShardService, 'id' | 'name'>>(sql`
    select service_id as id, name from service s
     where shard_name = ${database} and deletion_state is null and not exists (select from service_move m where m.service_id = s.service_id)
     order by name`)
  const missing = await data.rows<{ name: string }>(sql`
    select name from json_to_recordset(${JSON.stringify(placed)}) as e (id integer, name text)
     where not exists (select from service s where s.service_id = e.id) order by name`)
  return missing.map(({ name }) => name)
}

/** An audit entry in the control database that must be forwarded to a shard. */
interface PendingEntry {
  id: string
  /** RFC 3339. */
  at: string
  record: string
  isAdministrative: boolean
}

/** Lists the services with such entries, and their shards. */
export const listServicesWithPendingAudit = (control: Db) =>
  control.rows<{ id: number; database: string }>(sql`
    select service_id as id, shard_name as database from service s
     where shard_name is not null and deletion_state is null and exists (select from audit a where a.service_id = s.service_id)`)

/** Entries that are forwarded in one transaction. */
const entriesPerTransaction = 100

/** Forwards all pending audit entries of a service. */
export async function forwardAuditEntries(control: Db, data: Database, serviceId: number, signal: AbortSignal) {
  for (;;) {
    signal.throwIfAborted()
    const entries = await readPendingEntries(control, serviceId)
    if (!entries.length) return
    await forwardEntries(control, data, serviceId, entries)
  }
}

const readPendingEntries = (control: Db, serviceId: number) =>
  control.rows<PendingEntry>(sql`
    select id, changed_at::text as at, record, is_administrative as "isAdministrative" from audit where service_id = ${serviceId} order by changed_at, id limit ${entriesPerTransaction}`)

/** Inserts audit entries in the service's shard, each once, and then deletes them in the control database. */
async function forwardEntries(control: Db, data: Database, serviceId: number, entries: readonly PendingEntry[]) {
  await data.transaction(async tx => {
    // The row lock serializes this with a worker that has lost its lease. If the service is missing, the entries stay.
    if (!(await tx.run(sql`select from service where service_id = ${serviceId} for no key update`)))
      throw new Error(`Service ${serviceId} is missing in its shard, so its audit entries can't be forwarded.`)
    for (const { id, at, record, isAdministrative } of entries)
      await tx.run(sql`
        insert into audit (service_id, id, changed_at, record, is_administrative)
        select service_id, ${id}, changed_at, row_to_json(r)::text, ${isAdministrative}::boolean
          from service
         cross join lateral next_change_timestamp(service_id, (select max(changed_at) from audit where service_id = ${serviceId})) changed_at
         cross join lateral (
           select to_char(${at}::timestamptz at time zone coalesce(settings->>'timeZone', 'UTC'), 'YYYY-MM-DD HH24:MI:SS') as at, l.*
             from json_to_record(${record}) as l (username text, operation text, subject text, fields json, changes json, "requestId" text, agent text, "apiKey" text)) r
         where service_id = ${serviceId}
           and not exists (
                 select from audit a
                  where a.service_id = ${serviceId} and a.changed_at > ${at}::timestamptz - interval '1 day' and a.id = ${id})`)
  })
  await control.run(
    sql`delete from audit where service_id = ${serviceId} and id = any(${entries.map(({ id }) => id)}::text[])`,
  )
}
