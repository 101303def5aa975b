import { type Db, raw, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { ignoreError } from '../../telemetry/ignored-errors.ts'
import { type List, recordKinds } from './change-timestamp.ts'

export interface InitialLoad {
  /** Ends the load, which makes its records visible. Waits for a running transaction of the load. */
  end(): Promise<unknown>
}

/**
 * Opens a load of a list. An initial load consists of many transactions that appear as one: the list shows nothing until the load ends. So
 * records can carry the times of their source in any order (contributing/decisions/0013). The next load resumes an initial load that died.
 * Returns undefined if the list has had a record before: the load is an ordinary one.
 */
export async function beginInitialLoad(db: Db, service: Service, list: List): Promise<InitialLoad | undefined> {
  const kind = recordKinds[list]
  const ownRow = sql`service_id = ${service.id} and kind = ${kind}`
  const hasHadRecords = sql`
    (exists (select from ${raw(list)} where service_id = ${service.id}) or exists (select from tombstone where ${ownRow}))`
  await db.run(sql`
    insert into initial_load (service_id, kind) select ${service.id}, ${kind} where not ${hasHadRecords} on conflict do nothing`)
  // Checked again after the row is committed: from now on, a page that finds a record finds the load as well.
  await db.run(
    sql`update initial_load set is_started = true, heartbeat_at = clock_timestamp() where ${ownRow} and (is_started or not ${hasHadRecords})`,
  )
  await db.run(sql`delete from initial_load where ${ownRow} and not is_started`)
  const load = await db.row<{ isStarted: boolean }>(
    sql`select is_started as "isStarted" from initial_load where ${ownRow} and is_started`,
  )
  return load && { end: () => db.run(sql`delete from initial_load where ${ownRow}`) }
}

/**
 * Runs `load` as a load of a list. The load ends when `load` returns or throws: the records written until then become visible.
 */
export async function withInitialLoad<T>(
  db: Db,
  service: Service,
  list: List,
  load: (isInitial: boolean) => Promise<T>,
): Promise<T> {
  const initialLoad = await beginInitialLoad(db, service, list)
  let result: T
  try {
    result = await load(initialLoad !== undefined)
  } catch (error) {
    // If the database is unavailable, reapStaleLoads ends the load later.
    if (initialLoad) await ignoreError(initialLoad.end(), 'stale loads are reaped later')
    throw error
  }
  await initialLoad?.end()
  return result
}

/** Ends initial loads without a heartbeat for 15 minutes: their loader has died. */
export const reapStaleLoads = (db: Db) =>
  db.run(sql`delete from initial_load where heartbeat_at < clock_timestamp() - interval '15 minutes'`)
