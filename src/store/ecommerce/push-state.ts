import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { isInMainConnection } from './main-connection.ts'

/** The job that pushes stock to the platform of a service. */
export const pushStockJob = 'push-stock'

interface PushState {
  cursor: string | null
  isStopped: boolean
}

/** Returns the state of the stock push, or undefined without a connection. */
export const findPushState = (db: Db, service: Service) =>
  db.row<PushState>(sql`
    select push_cursor as cursor, push_stopped_at is not null as "isStopped" from ecommerce_connection where ${isInMainConnection(service)}`)

/** Moves the cursor, unless the connection has changed since. */
export const movePushCursor = (db: Db, service: Service, from: string | null, to: string) =>
  db.run(
    sql`update ecommerce_connection set push_cursor = ${to} where ${isInMainConnection(service)} and push_cursor is not distinct from ${from}::text`,
  )

/** Stops the push until a person approves it. Returns false if it was stopped already. */
export const stopPush = async (db: Db, service: Service): Promise<boolean> =>
  (await db.run(
    sql`update ecommerce_connection set push_stopped_at = clock_timestamp() where ${isInMainConnection(service)} and push_stopped_at is null`,
  )) > 0

/** Lets the push continue with the levels that are due now, although many fall to zero. */
export const approvePush = (db: Db, service: Service) =>
  db.run(
    sql`update ecommerce_connection set (push_stopped_at, push_approved_at) = (null, clock_timestamp()) where ${isInMainConnection(service)}`,
  )

/** Sets `stockPush` to `on` and approves the levels that are due now: a person has reviewed the dry run. */
export const startPush = (db: Db, service: Service) =>
  db.run(sql`
    update ecommerce_connection
       set (settings, push_stopped_at, push_approved_at) = (settings || '{"stockPush": "on"}', null, clock_timestamp()) where ${isInMainConnection(service)}`)

/** Returns the services whose connection pushes stock, with their cursors. */
export const listPushes = (db: Db) =>
  db.rows<{ serviceId: number; cursor: string | null; hasDueLevels: boolean }>(sql`
    select c.service_id as "serviceId", push_cursor as cursor,
           exists (select from ecommerce_level l where (l.service_id, l.connection_id) = (c.service_id, c.connection_id) and l.due_at is not null) as "hasDueLevels"
      from ecommerce_connection c where settings->>'stockPush' = 'on' and push_stopped_at is null order by 1`)

/** Returns the services whose connection compares stock: with a dry run, or to push it. */
export const listStockComparisons = (db: Db) =>
  db.rows<{ serviceId: number }>(
    sql`select service_id as "serviceId" from ecommerce_connection where settings->>'stockPush' in ('dryRun', 'on') order by 1`,
  )
