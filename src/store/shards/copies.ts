import { type Database, type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { Entry } from './shards.ts'

/** A service in a data database that the control database has in another one, by the same number and name. */
export interface Copy extends Pick<Service, 'id' | 'name'> {
  /** Where the control database has it. Null: in itself. */
  place: string | null
}

/** Those of the services in a data database that are such; of one that moves the move knows which is which. */
export const copiesAmong = (control: Db, database: string, entries: readonly Pick<Entry, 'id' | 'name'>[]) =>
  control.rows<Copy>(sql`
    select e.id, e.name, shard_name as place
      from json_to_recordset(${JSON.stringify(entries)}) as e (id integer, name text) join service s on s.service_id = e.id and s.name = e.name
     where shard_name is distinct from ${database} and not exists (select from service_move m where m.service_id = e.id)
     order by 2`)

/** Those in a data database that have one of these names, whether anything is done for them or not. */
export const entriesNamed = (data: Db, names: readonly string[]) =>
  data.rows<Pick<Entry, 'id' | 'name'>>(sql`
    select service_id as id, name from service where name = any(${names}::text[]) and move_state is distinct from 'incoming'`)

/** Whether it is in a data database, other than as what a move or a backup has left. */
export const isThere = async (data: Db, { id, name }: Copy) =>
  Boolean(
    await data.row(sql`
      select true as "is" from service where service_id = ${id} and name = ${name} and (move_state is null or move_state not in ('incoming', 'moved_away'))`),
  )

/** Whether a data database has it as one for which nothing is done. */
export const hasCopy = async (data: Db, { id, name }: Pick<Service, 'id' | 'name'>) =>
  Boolean(
    await data.row(
      sql`select true as "is" from service where service_id = ${id} and name = ${name} and move_state = 'moved_away'`,
    ),
  )

/** Has nothing done for it in a data database, where nobody could settle its alerts. */
export const leaveAlone = (data: Database, { id }: Copy) =>
  data.transaction(async tx => {
    await tx.run(sql`
      update service set move_state = 'moved_away' where service_id = ${id} and (move_state is null or move_state in ('draining', 'paused'))`)
    await tx.run(sql`delete from alert where service_id = ${id}`)
  })

/** Has it served from a data database. What the control database has of its audit is there, or is of before. */
export async function serveFrom(control: Database, data: Db, database: string, { id, place }: Copy) {
  await data.run(sql`update service set move_state = null where service_id = ${id} and move_state = 'moved_away'`)
  await control.transaction(async tx => {
    await tx.run(sql`
      update service set shard_name = ${database}, move_state = null, paused_until = null where service_id = ${id}`)
    if (place === null) await tx.run(sql`delete from audit where service_id = ${id}`)
  })
}
