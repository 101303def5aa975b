import { type Db, raw, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { kindOf, type List } from './change-timestamp.ts'

/** The first load of a list. */
export interface FirstLoad {
  /** Shows what it has brought. Waits for a transaction of it that is under way; later ones are ordinary. */
  end(): Promise<unknown>
}

/**
 * Opens a load of a list. A list's first load is many transactions that appear as one: the list shows nothing until the load ends, so that
 * records may have the times of their source, in whatever order they come (docs/decisions/0013). A first load that died is gone on with by
 * the next load. Undefined: the list has had something, and the load is an ordinary one.
 */
export async function beginLoad(db: Db, service: Service, list: List): Promise<FirstLoad | undefined> {
  const kind = kindOf[list]
  const mine = sql`service_id = ${service.id} and kind = ${kind}`
  const had = sql`
    (exists (select from ${raw(list)} where service_id = ${service.id}) or exists (select from removal where ${mine}))`
  await db.run(sql`
    insert into first_load (service_id, kind) select ${service.id}, ${kind} where not ${had} on conflict do nothing`)
  // Asked again now: from here on a walk that finds a record finds the load as well.
  await db.run(
    sql`update first_load set begun = true, alive_at = clock_timestamp() where ${mine} and (begun or not ${had})`,
  )
  await db.run(sql`delete from first_load where ${mine} and not begun`)
  const load = await db.row<{ begun: boolean }>(sql`select begun from first_load where ${mine} and begun`)
  return load && { end: () => db.run(sql`delete from first_load where ${mine}`) }
}

/**
 * Brings something into a list as a load, which ends with `bring`, also where that is stopped or fails: what has come until then is shown.
 */
export async function loading<T>(
  db: Db,
  service: Service,
  list: List,
  bring: (isFirst: boolean) => Promise<T>,
): Promise<T> {
  const first = await beginLoad(db, service, list)
  let brought: T
  try {
    brought = await bring(first !== undefined)
  } catch (error) {
    // Where the database is away, the load counts as one that has died.
    await first?.end().catch(() => {})
    throw error
  }
  await first?.end()
  return brought
}

/** Ends first loads that have brought nothing for a quarter of an hour: nobody goes on with them. */
export const endDeadLoads = (db: Db) =>
  db.run(sql`delete from first_load where alive_at < clock_timestamp() - interval '15 minutes'`)
