import { type Database, type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** A service on its way to a data database, as the control database knows it. */
export interface Move {
  serviceId: number
  name: string
  /** Null: the control database. */
  source: string | null
  target: string
  /** Where it is served: still at the source, or at the target. */
  state: 'copying' | 'switched'
  /** Who is at it. */
  owner: string
}

/** A mover that was not heard of for so many seconds has died: one that lives is heard of every second. */
const deadSeconds = 6
export const aliveMs = 1_000

const read = sql`m.service_id as "serviceId", s.name, m.source, m.target, m.state, m.owner::text as owner`
const isDead = sql`m.heartbeat_at < clock_timestamp() - ${deadSeconds} * interval '1 s'`

/** Begins a move; undefined where the service is on its way already. */
export const beginMove = (control: Db, { id, database }: Pick<Service, 'id' | 'database'>, target: string) =>
  control.row<Move>(sql`
    with m as (
      insert into service_move (service_id, source, target, owner) values (${id}, ${database ?? null}, ${target}, gen_random_uuid())
      on conflict do nothing returning *)
    select ${read} from m join service s using (service_id)`)

/** The move of a service, if it is on its way. */
export const findMove = (control: Db, serviceId: number) =>
  control.row<Move>(
    sql`select ${read} from service_move m join service s using (service_id) where service_id = ${serviceId}`,
  )

/** The moves whose mover has died. */
export const abandonedMoves = (control: Db) =>
  control.rows<Move>(
    sql`select ${read} from service_move m join service s using (service_id) where ${isDead} order by 1`,
  )

/** All moves that have not ended, and for how long their movers were not heard of. */
export const listMoves = (control: Db) =>
  control.rows<Move & { isDead: boolean; silentSeconds: number }>(sql`
    select ${read}, ${isDead} as "isDead", extract(epoch from clock_timestamp() - m.heartbeat_at)::float8 as "silentSeconds"
      from service_move m join service s using (service_id) order by s.name`)

/** Takes a move over whose mover has died; undefined where it lives. */
export const takeOver = (control: Db, { serviceId, owner }: Move) =>
  control.row<Move>(sql`
    update service_move m set owner = gen_random_uuid(), heartbeat_at = clock_timestamp() from service s
     where s.service_id = m.service_id and m.service_id = ${serviceId} and m.owner = ${owner}::uuid and ${isDead}
    returning ${read}`)

/** Lets others know that the mover lives; false where another one has taken over. */
export const stayAlive = async (control: Db, { serviceId, owner }: Move) =>
  (await control.run(sql`
    update service_move set heartbeat_at = clock_timestamp() where service_id = ${serviceId} and owner = ${owner}::uuid`)) >
  0

/** Whether it is switched, once what is being committed of it has come to its end. Undefined: another one has taken over. */
export const stateOf = async (control: Db, { serviceId, owner }: Move) =>
  (
    await control.row<Pick<Move, 'state'>>(sql`
      update service_move set heartbeat_at = clock_timestamp() where service_id = ${serviceId} and owner = ${owner}::uuid returning state`)
  )?.state

/** Nothing is left to do. */
export const endMove = (control: Db, { serviceId, owner }: Move) =>
  control.run(sql`delete from service_move where service_id = ${serviceId} and owner = ${owner}::uuid`)

/** Tells the control database that the service is at the target. False: another one has taken over, or has done it. */
export const switchOver = (control: Database, move: Move) =>
  control.transaction(async tx => {
    const { serviceId, source, target } = move
    if (!(await noteSwitch(tx, move))) return false
    await tx.run(sql`
      update service set shard_name = ${target} where service_id = ${serviceId} and shard_name = ${source}`)
    return true
  })

/**
 * The same where the control database is the source: in the same moment the service is shut there for good. False: too late, it may have
 * been written meanwhile, or another one has taken over.
 */
export const switchFromControl = (control: Database, move: Move, until: string) =>
  control.transaction(async tx => {
    if (!(await noteSwitch(tx, move))) return false
    const done = await tx.run(sql`
      update service set shard_name = ${move.target}, move_state = null, paused_until = null
       where service_id = ${move.serviceId} and shard_name is null and move_state = 'paused' and ${isTimely(until)}`)
    if (!done) await tx.run(sql`update service_move set state = 'copying' where service_id = ${move.serviceId}`)
    return done > 0
  })

const noteSwitch = async (tx: Db, { serviceId, owner }: Move) =>
  (await tx.run(sql`
    update service_move set state = 'switched', switched_at = clock_timestamp()
     where service_id = ${serviceId} and owner = ${owner}::uuid and state = 'copying'`)) > 0

/** Takes a switch back that came too late, before anything was written at the target. */
export const switchBack = (control: Database, { serviceId, source }: Move) =>
  control.transaction(async tx => {
    await tx.run(sql`update service set shard_name = ${source} where service_id = ${serviceId}`)
    await tx.run(sql`update service_move set state = 'copying', switched_at = null where service_id = ${serviceId}`)
  })

/** Milliseconds since the switch, by the clock of the control database. */
export async function sinceSwitch(control: Db, { serviceId }: Move): Promise<number> {
  const row = await control.row<{ ms: number | null }>(sql`
    select extract(epoch from clock_timestamp() - switched_at)::float8 * 1000 as ms from service_move where service_id = ${serviceId}`)
  return row?.ms ?? 0
}

/** When the switch was, as a text of a `timestamptz`. */
export const switchedAt = async (control: Db, { serviceId }: Move) =>
  (
    await control.row<{ at: string }>(
      sql`select switched_at::text as at from service_move where service_id = ${serviceId}`,
    )
  )?.at

/** Notes the names of the slots by which the target copies: if the target dies, nobody else can tell them. */
export const noteCopySlots = (control: Db, { serviceId, owner }: Move, names: string) =>
  control.run(sql`
    update service_move set copy_slots = ${names} where service_id = ${serviceId} and owner = ${owner}::uuid`)

/** These names, as a regular expression; undefined: no slot was made. */
export const copySlots = async (control: Db, { serviceId }: Move) =>
  (
    await control.row<{ names: string | null }>(
      sql`select copy_slots as names from service_move where service_id = ${serviceId}`,
    )
  )?.names ?? undefined

/** Whether a service that is shut until this moment stays so for long enough to commit what depends on it. */
export const isTimely = (until: string) =>
  sql`paused_until = ${until}::timestamptz and paused_until > clock_timestamp() + interval '300 ms'`
