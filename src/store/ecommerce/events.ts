import { type Db, sql } from '../../database/db.ts'
import { mainConnection } from '../../domain/ecommerce/connection-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { isInMainConnection } from './main-connection.ts'

/**
 * The inbox of platform events.
 * Guarantees: an event is stored once; nothing of its payload is stored except for IDs.
 */

/** An event to store. `target`: the sync that reads the subject, or `stock`. */
interface NewEvent {
  id: string
  target: string
  subjectId: string
  successorId?: string
}

/** Seconds from an event to the work that it causes, so that many events cause one run. */
const delaySeconds = 3
/** The platform repeats a delivery for hours. */
const retentionDays = 7

/** Stores an event. Returns when the work that it causes is due, or undefined if the delivery was stored and handled before. */
export async function storeEvent(
  tx: Db,
  service: Service,
  { id, target, subjectId, successorId }: NewEvent,
): Promise<string | undefined> {
  const [, row] = await Promise.all([
    tx.run(sql`
      insert into ecommerce_event (service_id, connection_id, event_id, target, subject_id, successor_id)
      values (${service.id}, ${mainConnection}, ${id}, ${target}, ${subjectId}, ${successorId ?? null}) on conflict do nothing`),
    tx.row<{ dueAt: string }>(sql`
      select (now() + ${delaySeconds} * interval '1 s')::text as "dueAt" from ecommerce_event
       where ${isInMainConnection(service)} and event_id = ${id} and handled_at is null`),
  ])
  return row?.dueAt
}

/** Returns the oldest events of a target whose records were not read yet. */
export const listOpenEvents = (db: Db, service: Service, target: string, limit: number) =>
  db.rows<{ id: string; subjectId: string }>(sql`
    select event_id as id, subject_id as "subjectId" from ecommerce_event
     where ${isInMainConnection(service)} and target = ${target} and handled_at is null order by received_at limit ${limit}`)

/** The job that reads the levels that events named. */
export const checkLevelsJob = 'check-levels'

/** A level of an event, with the quantity that shoppers can buy. */
interface ReportedLevel {
  itemId: string
  locationId: string
  available: number
}

/** True if a level is as it is stored, or as it is being set: most events of stock are caused by our own pushes. */
export const isExpectedLevel = async (tx: Db, service: Service, { itemId, locationId, available }: ReportedLevel) =>
  (await tx.run(sql`
    select from ecommerce_level
     where ${isInMainConnection(service)} and item_id = ${itemId} and location_id = ${locationId}
       and coalesce(desired_on_hand, known_on_hand) - coalesce(observed_committed, 0) - coalesce(observed_held_back, 0) = ${available}`)) >
  0

/** Marks events as handled. */
export const endEvents = (tx: Db, service: Service, ids: readonly string[]) =>
  tx.run(sql`
    update ecommerce_event set handled_at = clock_timestamp()
     where ${isInMainConnection(service)} and event_id = any(${ids}) and handled_at is null`)

/** Returns the merged customers of recent events, each with the customer that was kept. */
export const listMerges = (db: Db, service: Service) =>
  db.rows<{ id: string; subjectId: string; successorId: string }>(sql`
    select event_id as id, subject_id as "subjectId", successor_id as "successorId" from ecommerce_event
     where ${isInMainConnection(service)} and successor_id is not null order by received_at`)

/** Deletes events that are too old to be delivered again. */
export const purgeEvents = (db: Db) =>
  db.run(sql`delete from ecommerce_event where received_at < now() - ${retentionDays} * interval '1 day'`)
