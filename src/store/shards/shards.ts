import { type Keys, seal, unseal } from '../../crypto/keys.ts'
import { type Database, type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

const place = (name: string) => `shard ${name}`

/** The data databases that the control database knows, with how many services are in each. */
export const listDatabases = (control: Db) =>
  control.rows<{ name: string; services: number; added: Date }>(sql`
    select d.name, added_at as added, count(service_id)::integer as services
      from shard d left join service on shard_name = d.name group by d.name order by d.name`)

/** How a data database is reached. Undefined: there is none of this name. Throws, with a way out, where another secret has encrypted it. */
export async function databaseUrl(control: Db, keys: Keys, name: string): Promise<string | undefined> {
  const row = await control.row<{ url: Buffer }>(sql`select url from shard where name = ${name}`)
  try {
    return row && unseal(keys.sealed, place(name), row.url)
  } catch (cause) {
    throw new Error(
      `Where the database ${name} is was encrypted with another SECRET_KEY. To say it anew: tillbridge shard add ${name}`,
      { cause },
    )
  }
}

/** Keeps how a data database is reached. */
export const keepDatabase = (control: Db, keys: Keys, name: string, url: string) =>
  control.run(sql`
    insert into shard (name, url) values (${name}, ${seal(keys.sealed, place(name), url)})
    on conflict (name) do update set url = excluded.url`)

/** Forgets a data database in which there are no services. False: there is none of this name. Throws where it has some. */
export const forgetDatabase = async (control: Db, name: string) =>
  (await control.run(sql`delete from shard where name = ${name}`)) > 0

/** What a database that has our tables says of whose it is. Undefined: nobody has started with it yet. */
interface Mark {
  /** Of the secret. */
  digest: Buffer
  /** The name by which a control database knows it. Null: it is a control database itself. */
  name: string | null
}

/** Undefined, too, of a database that does not have our tables yet. */
export async function readMark(db: Db): Promise<Mark | undefined> {
  const has = await db.row<{ table: string | null }>(sql`select to_regclass('installation')::text as "table"`)
  if (!has?.table) return
  return db.row<Mark>(sql`select secret_digest as digest, shard_name as name from installation`)
}

/** Marks a database that has no mark yet: as a data database of this name, or as a control database. */
export const mark = (db: Db, keys: Keys, name: Mark['name']) =>
  db.run(
    sql`insert into installation (secret_digest, shard_name) values (${keys.digest}, ${name}) on conflict do nothing`,
  )

/** Has a database go with the next secret that it sees. */
export const forgetMark = (db: Db) => db.run(sql`delete from installation`)

/** A service as both databases know it. */
export interface Entry extends Pick<Service, 'id' | 'name'> {
  deletionState: string | null
}

/** The services in a data database. */
export const entriesOf = (data: Db) =>
  data.rows<Entry>(sql`
    select service_id as id, name, deletion_state as "deletionState" from service where move_state is null or move_state not in ('incoming', 'moved_away') order by service_id`)

/**
 * Enters services of a data database that the control database does not know, which was restored from before they were made. Returns
 * those whose number or name is another service's.
 */
export async function adopt(control: Db, database: string, entries: readonly Entry[]): Promise<Entry[]> {
  const given = JSON.stringify(entries)
  await control.run(sql`
    insert into service (service_id, name, deletion_state, shard_name) overriding system value
    select id, name, "deletionState", ${database} from json_to_recordset(${given}) as e (id integer, name text, "deletionState" text)
    on conflict do nothing`)
  // No service gets a number that stands for another one in any database.
  await control.run(sql`
    select setval(pg_get_serial_sequence('service', 'service_id'), greatest(max(service_id), nextval(pg_get_serial_sequence('service', 'service_id')))) from service`)
  return strangers(control, entries)
}

/** Those of the services in a data database that the control database does not know, or knows otherwise: `copiesAmong` tells of others. */
export const strangers = (control: Db, entries: readonly Entry[]) =>
  control.rows<Entry>(sql`
    select id, name, "deletionState" from json_to_recordset(${JSON.stringify(entries)}) as e (id integer, name text, "deletionState" text)
     where not exists (select from service s where s.service_id = e.id and s.name = e.name)`)

/** Makes the row of a service in the data database that it is to be in; or it is there, or its number or name is another one's. */
export async function placeService(data: Db, { id, name }: Pick<Service, 'id' | 'name'>) {
  const made = await data.run(sql`
    insert into service (service_id, name) overriding system value values (${id}, ${name}) on conflict do nothing`)
  if (made) return 'made'
  return (await data.row(sql`select from service where service_id = ${id} and name = ${name}`)) ? 'there' : 'taken'
}

/** Takes back what was entered of a service that has found no place. */
export const forgetEntry = (control: Db, { id }: Pick<Service, 'id'>, database: string) =>
  control.run(sql`delete from service where service_id = ${id} and shard_name = ${database}`)

/**
 * The names of the services that the control database has in a data database, and that are not there; of one that moves the move knows
 * where it is.
 */
export async function missingFrom(control: Db, data: Db, database: string): Promise<string[]> {
  const placed = await control.rows<Pick<Entry, 'id' | 'name'>>(sql`
    select service_id as id, name from service s
     where shard_name = ${database} and deletion_state is null and not exists (select from service_move m where m.service_id = s.service_id)
     order by name`)
  const missing = await data.rows<{ name: string }>(sql`
    select name from json_to_recordset(${JSON.stringify(placed)}) as e (id integer, name text)
     where not exists (select from service s where s.service_id = e.id) order by name`)
  return missing.map(({ name }) => name)
}

/** A line of the audit that waits in the control database for being handed on. */
interface WaitingLine {
  id: string
  /** RFC 3339. */
  at: string
  record: string
}

/** The services whose audit has such lines, and where they are. */
export const servicesWithLines = (control: Db) =>
  control.rows<{ id: number; database: string }>(sql`
    select service_id as id, shard_name as database from service s
     where shard_name is not null and deletion_state is null and exists (select from audit a where a.service_id = s.service_id)`)

/** Lines that go out in one transaction. */
const linesAtOnce = 100

/** Hands all lines of a service on that wait. */
export async function handOnAll(control: Db, data: Database, serviceId: number, signal: AbortSignal) {
  for (;;) {
    signal.throwIfAborted()
    const lines = await waitingLines(control, serviceId)
    if (!lines.length) return
    await handOn(control, data, serviceId, lines)
  }
}

const waitingLines = (control: Db, serviceId: number) =>
  control.rows<WaitingLine>(sql`
    select id, changed_at::text as at, record from audit where service_id = ${serviceId} order by changed_at, id limit ${linesAtOnce}`)

/** Writes lines into the audit of the database in which the service is, each once, and then forgets them here. */
async function handOn(control: Db, data: Database, serviceId: number, lines: readonly WaitingLine[]) {
  await data.transaction(async tx => {
    // One after the other: a worker that was taken over may still be at it. Where the service is missing, the lines stay here.
    if (!(await tx.run(sql`select from service where service_id = ${serviceId} for no key update`)))
      throw new Error(`The service ${serviceId} is not in its data database: lines of its audit wait.`)
    for (const { id, at, record } of lines)
      await tx.run(sql`
        insert into audit (service_id, id, changed_at, record)
        select service_id, ${id}, changed_at, row_to_json(r)::text
          from service
         cross join lateral next_change_timestamp(service_id, (select max(changed_at) from audit where service_id = ${serviceId})) changed_at
         cross join lateral (
           select to_char(${at}::timestamptz at time zone coalesce(settings->>'timeZone', 'UTC'), 'YYYY-MM-DD HH24:MI:SS') as at, l.*
             from json_to_record(${record}) as l (username text, operation text, subject text, fields json, "requestId" text)) r
         where service_id = ${serviceId}
           and not exists (
                 select from audit a
                  where a.service_id = ${serviceId} and a.changed_at > ${at}::timestamptz - interval '1 day' and a.id = ${id})`)
  })
  await control.run(
    sql`delete from audit where service_id = ${serviceId} and id = any(${lines.map(({ id }) => id)}::text[])`,
  )
}
