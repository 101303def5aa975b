import { type Db, sql } from '../../database/db.ts'
import { isPauseLongEnough, type Move } from './moves.ts'

type MovedService = Pick<Move, 'serviceId'>

/** Stops starting jobs of the service. Returns false if it doesn't exist or is already moving. */
export const startDraining = async (source: Db, { serviceId }: MovedService) =>
  (await source.run(
    sql`update service set move_state = 'draining' where service_id = ${serviceId} and move_state is null and deletion_state is null`,
  )) > 0

export const countRunningJobs = async (source: Db, { serviceId }: MovedService) =>
  (
    await source.row<{ count: number }>(
      sql`select count(*)::integer as count from job where service_id = ${serviceId} and leased_until > now()`,
    )
  )?.count ?? 0

/** Ends the leases of running jobs. Their workers abort them at the next renewal. */
export const abortJobs = (source: Db, { serviceId }: MovedService) =>
  source.run(sql`
    update job set lease = null, leased_until = null, unfinished_starts = greatest(unfinished_starts - 1, 0) where service_id = ${serviceId} and lease is not null`)

/** Lists the import types and syncs that are running for the service. */
export const listRunningImports = async (source: Db, { serviceId }: MovedService) =>
  (
    await source.rows<{ sync: string }>(sql`
      select distinct sync from sync_run where service_id = ${serviceId} and ended_at is null and heartbeat_at >= now() - interval '60 s' order by 1`)
  ).map(({ sync }) => sync)

/** Pauses writes for `ms`, even if this process dies. Returns the end of the pause, or undefined if the service was not draining. */
export const pauseWrites = async (source: Db, { serviceId }: MovedService, ms: number) =>
  (
    await source.row<{ until: string }>(sql`
      update service set move_state = 'paused', paused_until = clock_timestamp() + ${ms} * interval '1 ms'
       where service_id = ${serviceId} and move_state = 'draining' returning paused_until::text as until`)
  )?.until

/** Ends writes at the source permanently. Returns false if the pause is about to end, so the service may have been written. */
export const markMovedAway = async (source: Db, { serviceId }: MovedService, until: string) =>
  (await source.run(sql`
    update service set move_state = 'moved_away', paused_until = null where service_id = ${serviceId} and move_state = 'paused' and ${isPauseLongEnough(until)}`)) >
  0

/** True if writes at the source were ended permanently. */
export const isMovedAway = async (source: Db, { serviceId }: MovedService) =>
  Boolean(
    await source.row(
      sql`select true as "is" from service where service_id = ${serviceId} and move_state = 'moved_away'`,
    ),
  )

/** Allows writes at the source again. */
export const resumeAtSource = (source: Db, { serviceId }: MovedService) =>
  source.run(sql`
    update service set move_state = null, paused_until = null where service_id = ${serviceId} and move_state in ('draining', 'paused', 'moved_away')`)

/** Inserts the row of a service at the target. Returns false if its number or name belongs to another service, or it is served there. */
export const insertIncomingService = async (target: Db, { serviceId, name }: Pick<Move, 'serviceId' | 'name'>) =>
  (await target.run(sql`
    insert into service as s (service_id, name, move_state) overriding system value values (${serviceId}, ${name}, 'incoming')
    on conflict (service_id) do update set move_state = 'incoming' where s.name = excluded.name and s.move_state in ('incoming', 'read_only', 'moved_away')`)) >
  0

/** Allows reads at the target, but no writes yet. */
export const allowReads = (target: Db, { serviceId }: MovedService) =>
  target.run(
    sql`update service set move_state = 'read_only' where service_id = ${serviceId} and move_state = 'incoming'`,
  )

/** Allows writes and jobs at the target. */
export const allowWrites = (target: Db, { serviceId }: MovedService) =>
  target.run(sql`update service set move_state = null where service_id = ${serviceId} and move_state = 'read_only'`)

/** Rejects reads at the target again, because the move is undone. */
export const rejectReads = (target: Db, { serviceId }: MovedService) =>
  target.run(
    sql`update service set move_state = 'incoming' where service_id = ${serviceId} and move_state = 'read_only'`,
  )
