import { type Database, type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** A move of a service to a shard, or a restore of a service in place from a backup. The row is in the control database. */
export interface Move<Target extends string | null = string> {
  serviceId: number
  name: string
  /** Null: the control database. */
  source: string | null
  /** Null: a restore in place. */
  target: Target
  /** The service is served at the source (`copying`) or at the target (`switched`). */
  state: 'copying' | 'switched'
  /** Token of the process that executes the move. */
  owner: string
}

/** Seconds without a heartbeat after which the owner counts as dead. A living owner sends one every second. */
const ownerTimeoutSeconds = 6
export const heartbeatIntervalMs = 1_000

const moveColumns = sql`m.service_id as "serviceId", s.name, m.source, m.target, m.state, m.owner::text as owner`
const isDead = sql`m.heartbeat_at < clock_timestamp() - ${ownerTimeoutSeconds} * interval '1 s'`

/** A move or a restore in place, for functions that only need its service and owner. */
type OwnedMove = Pick<Move, 'serviceId' | 'owner'>

/** Begins a move, or a restore in place if the target is null. Returns undefined if the service is already moving or being restored. */
export const beginMove = <Target extends string | null>(
  control: Db,
  { id, database }: Pick<Service, 'id' | 'database'>,
  target: Target,
) =>
  control.row<Move<string | null>>(sql`
    with m as (
      insert into service_move (service_id, source, target, owner) values (${id}, ${database ?? null}, ${target}, gen_random_uuid())
      on conflict do nothing returning *)
    select ${moveColumns} from m join service s using (service_id)`) as Promise<Move<Target> | undefined>

/** Returns the move or the restore of a service. Returns undefined if it is neither moving nor being restored. */
export const findMove = (control: Db, serviceId: number) =>
  control.row<Move<string | null>>(
    sql`select ${moveColumns} from service_move m join service s using (service_id) where service_id = ${serviceId}`,
  )

/** Lists the moves and restores whose owner has died. */
export const listAbandonedMoves = (control: Db) =>
  control.rows<Move<string | null>>(
    sql`select ${moveColumns} from service_move m join service s using (service_id) where ${isDead} order by 1`,
  )

/** Lists all moves and restores with the seconds since their last heartbeat. */
export const listMoves = (control: Db) =>
  control.rows<Move<string | null> & { isDead: boolean; silentSeconds: number }>(sql`
    select ${moveColumns}, ${isDead} as "isDead", extract(epoch from clock_timestamp() - m.heartbeat_at)::float8 as "silentSeconds"
      from service_move m join service s using (service_id) order by s.name`)

/** Takes over a move whose owner has died. Returns undefined if the owner is alive. */
export const takeOverMove = <Target extends string | null>(control: Db, { serviceId, owner }: Move<Target>) =>
  control.row<Move<string | null>>(sql`
    update service_move m set owner = gen_random_uuid(), heartbeat_at = clock_timestamp() from service s
     where s.service_id = m.service_id and m.service_id = ${serviceId} and m.owner = ${owner}::uuid and ${isDead}
    returning ${moveColumns}`) as Promise<Move<Target> | undefined>

/** Sends a heartbeat. Returns false if another process has taken over. */
export const sendHeartbeat = async (control: Db, { serviceId, owner }: OwnedMove) =>
  (await control.run(sql`
    update service_move set heartbeat_at = clock_timestamp() where service_id = ${serviceId} and owner = ${owner}::uuid`)) >
  0

/** Returns the state of a move, after waiting for a concurrent update of it. Returns undefined if another process has taken over. */
export const readMoveState = async (control: Db, { serviceId, owner }: OwnedMove) =>
  (
    await control.row<Pick<Move, 'state'>>(sql`
      update service_move set heartbeat_at = clock_timestamp() where service_id = ${serviceId} and owner = ${owner}::uuid returning state`)
  )?.state

/** Deletes the row of a move or a restore, unless another process has taken it over. */
export const endMove = (control: Db, { serviceId, owner }: OwnedMove) =>
  control.run(sql`delete from service_move where service_id = ${serviceId} and owner = ${owner}::uuid`)

/** Records that the service is served at the target. Returns false if another process has taken over or has already recorded it. */
export const switchToTarget = (control: Database, move: Move) =>
  control.transaction(async tx => {
    const { serviceId, source, target } = move
    if (!(await recordSwitch(tx, move))) return false
    await tx.run(sql`
      update service set shard_name = ${target} where service_id = ${serviceId} and shard_name = ${source}`)
    return true
  })

/**
 * Records the switch like `switchToTarget`, for a service whose source is the control database, and ends the write pause in the same
 * transaction. `until`: the end of the pause, as the text of a `timestamptz`. Returns false if the pause is not long enough, because the
 * source could then accept writes, or if another process has taken over.
 */
export const switchFromControl = (control: Database, move: Move, until: string) =>
  control.transaction(async tx => {
    if (!(await recordSwitch(tx, move))) return false
    const switchedCount = await tx.run(sql`
      update service set shard_name = ${move.target}, move_state = null, paused_until = null
       where service_id = ${move.serviceId} and shard_name is null and move_state = 'paused' and ${isPauseLongEnough(until)}`)
    if (!switchedCount)
      await tx.run(sql`update service_move set state = 'copying' where service_id = ${move.serviceId}`)
    return switchedCount > 0
  })

const recordSwitch = async (tx: Db, { serviceId, owner }: Move) =>
  (await tx.run(sql`
    update service_move set state = 'switched', switched_at = clock_timestamp()
     where service_id = ${serviceId} and owner = ${owner}::uuid and state = 'copying'`)) > 0

/**
 * Undoes a switch that came too late, before anything was written at the target. Returns false if another process has taken over: it may have
 * finished the move, and the target may have been written.
 */
export const undoSwitch = (control: Database, { serviceId, owner, source, target }: Move) =>
  control.transaction(async tx => {
    const undoneCount = await tx.run(sql`
      update service_move set state = 'copying', switched_at = null
       where service_id = ${serviceId} and owner = ${owner}::uuid and state = 'switched'`)
    if (undoneCount > 0)
      await tx.run(sql`
        update service set shard_name = ${source} where service_id = ${serviceId} and shard_name = ${target}`)
    return undoneCount > 0
  })

/** Returns the milliseconds since the switch, by the clock of the control database. */
export async function getMsSinceSwitch(control: Db, { serviceId }: Move): Promise<number> {
  const row = await control.row<{ ms: number | null }>(sql`
    select extract(epoch from clock_timestamp() - switched_at)::float8 * 1000 as ms from service_move where service_id = ${serviceId}`)
  return row?.ms ?? 0
}

/** Returns the time of the switch as the text of a `timestamptz`. */
export const findSwitchTime = async (control: Db, { serviceId }: Move) =>
  (
    await control.row<{ at: string }>(
      sql`select switched_at::text as at from service_move where service_id = ${serviceId}`,
    )
  )?.at

/** Records the pattern of the names of the target's copy slots (`readCopySlots`), so that the slots can be dropped even if the target is lost. */
export const recordCopySlots = (control: Db, { serviceId, owner }: Move, pattern: string) =>
  control.run(sql`
    update service_move set copy_slots = ${pattern} where service_id = ${serviceId} and owner = ${owner}::uuid`)

/** Returns the recorded regular expression for the names of the copy slots. Returns undefined if no slot was created. */
export const findCopySlots = async (control: Db, { serviceId }: Move) =>
  (
    await control.row<{ pattern: string | null }>(
      sql`select copy_slots as pattern from service_move where service_id = ${serviceId}`,
    )
  )?.pattern ?? undefined

/**
 * SQL condition: true if the service's write pause still ends at `until` (text of a `timestamptz`), and it lasts long enough to commit the
 * switch.
 */
export const isPauseLongEnough = (until: string) =>
  sql`paused_until = ${until}::timestamptz and paused_until > clock_timestamp() + interval '300 ms'`
