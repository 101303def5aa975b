import { freshSingleFlight, perObject } from '../../concurrency/single-flight.ts'
import { type Db, raw, Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { recordKinds, type List, listNumber } from './change-timestamp.ts'

/** Where stamps are: a list, or another table whose stamps are all of our own clock. */
export type TimestampSource = List | Sql

/** The moment up to which a walk is complete, as SQL, and where in the primary's log all is that was stamped by then (contributing/decisions/0027). */
interface AsOf {
  asOf: Sql
  /** Absent: only the primary is known to have it. */
  position?: string | undefined
}

/** A moment that the first page of a walk has fixed. */
export interface FixedAsOf {
  /** RFC 3339. */
  asOf?: string
  position?: string | undefined
}

/** The moment that the first page of a walk has fixed, or the newest that can be told now. */
export const resolveAsOf = async (
  db: Db,
  service: Service,
  stamps: TimestampSource,
  fixed: FixedAsOf,
  withRemovals = false,
): Promise<AsOf> => {
  if (fixed.asOf !== undefined) return { asOf: sql`${fixed.asOf}::timestamptz`, position: fixed.position }
  if (stamps instanceof Sql) {
    const { moment, position } = await readCommitWatermark(db, service, stamps)
    return { asOf: newestWithin(stamps, service, moment, withRemovals), position }
  }
  const { moment, position } = await readNewest(db, service, stamps, withRemovals)
  return { asOf: sql`${moment}::timestamptz`, position }
}

/** A moment as a text of a `timestamptz`. */
interface ReadAsOf {
  moment: string
  position?: string | undefined
}

/** The same as a text, asked for by itself: all who begin to walk a list at once share the question, and read as those do who go on. */
const readNewest = (db: Db, service: Service, list: List, withRemovals: boolean): Promise<ReadAsOf> =>
  queries(db)(`${service.id} ${list} ${withRemovals}`, async () => {
    const { moment: within } = await readCommitWatermark(db, service, list)
    // The position is told by the statement that sees whether a first load is over: one told earlier might lie before the end of that load.
    const row = await db.row<{ moment: string; position: string | null }>(sql`
      with seen as materialized (select (${newestWithin(list, service, within, withRemovals)})::text as moment)
      select moment, ${currentLsn(db)} as position from seen`)
    return { moment: row?.moment ?? '-infinity', position: row?.position ?? undefined }
  })

/**
 * The newest change of a list within the horizon: nothing that commits later is stamped at or before it. It never runs ahead
 * of the changes themselves, so that a machine's clock that is set back cannot hide one (contributing/decisions/0002). A list that is empty,
 * or whose first load is under way, is complete up to the beginning: what comes into it may be stamped long ago (contributing/decisions/0013).
 */
function newestWithin(stamps: TimestampSource, service: Service, within: string, withRemovals: boolean): Sql {
  const inTime = sql`service_id = ${service.id} and changed_at <= ${within}::timestamptz`
  const ofRecords = sql`(select max(changed_at) from ${tableSql(stamps)} where ${inTime})`
  if (stamps instanceof Sql) return sql`coalesce(${ofRecords}, timestamptz 'epoch')`
  const ofRemovals = sql`(select max(changed_at) from tombstone where ${inTime} and kind = ${recordKinds[stamps]})`
  const newest = sql`coalesce(${withRemovals ? sql`greatest(${ofRecords}, ${ofRemovals})` : ofRecords}, timestamptz 'epoch')`
  return sql`
    case when exists (select from initial_load f where f.service_id = ${service.id} and f.kind = ${recordKinds[stamps]}) then timestamptz 'epoch' else ${newest} end`
}

export const tableSql = (stamps: TimestampSource): Sql => (stamps instanceof Sql ? stamps : raw(stamps))

/** The moments before which nothing in progress can still commit. */
export interface CommitWatermarks {
  /** Of each list, at its number; at 0, that of all lists that nobody back-dates. */
  moments: readonly string[]
  position?: string | undefined
}

async function readCommitWatermark(db: Db, service: Service, stamps: TimestampSource): Promise<ReadAsOf> {
  const { moments, position } = await readCommitWatermarks(db, service)
  return { moment: moments[stamps instanceof Sql ? 0 : listNumber(stamps)] ?? '-infinity', position }
}

/** Where the primary's log is once a statement has seen what it sees; null where nobody needs it. */
export const currentLsn = (db: Db): Sql => db.position ?? sql`null::text`

/**
 * The primary alone is asked for them (`commit_watermarks` in the migrations), and only afterwards where its log is: the position then is
 * behind all that had ended.
 */
export const readCommitWatermarks = (db: Db, { id }: Service): Promise<CommitWatermarks> =>
  queries(db)(String(id), async () => {
    const row = await db.row<{ moments: string[]; position: string | null }>(sql`
      with seen as materialized (select commit_watermarks(${id})::text[] as moments)
      select moments, ${currentLsn(db)} as position from seen`)
    return { moments: row?.moments ?? [], position: row?.position ?? undefined }
  })

/** Concurrent requests share a query, and no result is older than the request that receives it. */
const queries = perObject<Db>(freshSingleFlight)
