import { type Db, type Sql, sql } from '../../database/db.ts'
import { defaultSettings, type Service, type Settings } from '../../domain/tenancy/service-settings.ts'

/** A service as it is stored. */
export interface ServiceRow {
  id: number
  name: string
  settings: Partial<Settings>
  restoredAt: string | null
  database: string | null
}
/** SQL for the columns of a `ServiceRow`. */
export const serviceColumns = sql`service_id as id, name, settings, restored_at::text as "restoredAt", shard_name as database`

export const toService = ({ id, name, settings, restoredAt, database }: ServiceRow): Service => ({
  id,
  name,
  ...(restoredAt !== null && { restoredAt }),
  ...(database !== null && { database }),
  settings: { ...defaultSettings, ...settings },
})

/** Adds a service. Returns undefined if the name is taken. With `database`, the service is only registered here: see `insertService`. */
export async function addService(
  db: Db,
  name: string,
  settings: Partial<Settings> = {},
  database?: string,
): Promise<Service | undefined> {
  const row = await db.row<ServiceRow>(sql`
    insert into service (name, settings, shard_name) values (${name}, ${JSON.stringify(settings)}, ${database ?? null})
    on conflict do nothing returning ${serviceColumns}`)
  return row && toService(row)
}

export const renameService = (db: Db, service: Service, name: string) =>
  db.run(sql`update service set name = ${name} where service_id = ${service.id}`)

/** Lists the services whose rows are in this database. Leaves out those in shards, moving ones and those that are being deleted. */
export async function listServices(db: Db): Promise<Service[]> {
  const rows = await db.rows<ServiceRow>(
    sql`select ${serviceColumns} from service where deletion_state is null and shard_name is null and move_state is null order by name`,
  )
  return rows.map(toService)
}

/** Lists all services of the installation that are not being deleted. The settings of services in shards are missing. */
export const listAllServices = async (control: Db): Promise<Service[]> =>
  (
    await control.rows<ServiceRow>(
      sql`select ${serviceColumns} from service where deletion_state is null order by name`,
    )
  ).map(toService)

/** The stage of a deletion (`store/service-deletion/`): the service is locked, or its rows are being deleted. */
export type DeletionState = 'locked' | 'purging'

/** Returns the current shard of a service. Returns undefined if it is in the control database. */
export const readCurrentShard = async (control: Db, id: number): Promise<string | undefined> =>
  (
    await control.row<{ database: string | null }>(
      sql`select shard_name as database from service where service_id = ${id}`,
    )
  )?.database ?? undefined

/** Lists the services that are being deleted. */
export async function listDeleting(db: Db): Promise<{ service: Service; deletionState: DeletionState }[]> {
  const rows = await db.rows<ServiceRow & { deletionState: DeletionState }>(
    sql`select ${serviceColumns}, deletion_state as "deletionState" from service where deletion_state is not null order by name`,
  )
  return rows.map(row => ({ service: toService(row), deletionState: row.deletionState }))
}

/** Returns a service of this database. Returns undefined if it doesn't exist, is still arriving, or is being deleted. */
export const readService = (db: Db, id: number) => readWhere(db, id, sql`move_state is distinct from 'incoming'`)

/** Returns a service whose jobs run in this database. Returns undefined otherwise. */
export const readServiceOfJob = (db: Db, id: number) => readWhere(db, id, sql`move_state is null`)

async function readWhere(db: Db, id: number, condition: Sql): Promise<Service | undefined> {
  const row = await db.row<ServiceRow>(
    sql`select ${serviceColumns} from service where service_id = ${id} and deletion_state is null and shard_name is null and ${condition}`,
  )
  return row && toService(row)
}
