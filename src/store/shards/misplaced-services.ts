import { type Database, type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { ShardService } from './shards.ts'

/** A service in a shard, with the number and name of one that the control database assigns to another database. */
export interface MisplacedService extends Pick<Service, 'id' | 'name'> {
  /** The shard that the control database assigns. Null: the control database. */
  assignedShard: string | null
}

/** Returns the misplaced services of a shard. Leaves out moving services, which are in two databases. */
export const findMisplaced = (control: Db, database: string, entries: readonly Pick<ShardService, 'id' | 'name'>[]) =>
  control.rows<MisplacedService>(sql`
    select e.id, e.name, shard_name as "assignedShard"
      from json_to_recordset(${JSON.stringify(entries)}) as e (id integer, name text) join service s on s.service_id = e.id and s.name = e.name
     where shard_name is distinct from ${database} and not exists (select from service_move m where m.service_id = e.id)
     order by 2`)

/** Returns the services of a shard with these names, also retired ones. */
export const findByName = (data: Db, names: readonly string[]) =>
  data.rows<Pick<ShardService, 'id' | 'name'>>(sql`
    select service_id as id, name from service where name = any(${names}::text[]) and move_state is distinct from 'incoming'`)

/** True if a shard has the service, and not only a row that is left from a move or a backup. */
export const isServedIn = async (data: Db, { id, name }: MisplacedService) =>
  Boolean(
    await data.row(sql`
      select true as "is" from service where service_id = ${id} and name = ${name} and (move_state is null or move_state not in ('incoming', 'moved_away'))`),
  )

/** True if a shard has a retired copy of the service. */
export const hasCopy = async (data: Db, { id, name }: Pick<Service, 'id' | 'name'>) =>
  Boolean(
    await data.row(
      sql`select true as "is" from service where service_id = ${id} and name = ${name} and move_state = 'moved_away'`,
    ),
  )

/** Retires the copy of a service in a shard: no request is served and no job runs. Deletes its alerts, which could not be resolved. */
export const retireService = (data: Database, { id }: MisplacedService) =>
  data.transaction(async tx => {
    await tx.run(sql`
      update service set move_state = 'moved_away' where service_id = ${id} and (move_state is null or move_state in ('draining', 'paused'))`)
    await tx.run(sql`delete from alert where service_id = ${id}`)
  })

/** Serves a service from a shard. The audit entries in the control database are deleted, because the shard has them or they are outdated. */
export async function serveFromShard(
  control: Database,
  data: Db,
  database: string,
  { id, assignedShard }: MisplacedService,
) {
  await data.run(sql`update service set move_state = null where service_id = ${id} and move_state = 'moved_away'`)
  await control.transaction(async tx => {
    await tx.run(sql`
      update service set shard_name = ${database}, move_state = null, paused_until = null where service_id = ${id}`)
    if (assignedShard === null) await tx.run(sql`delete from audit where service_id = ${id}`)
  })
}
