import { freshSingleFlight } from '../../concurrency/single-flight.ts'
import { perObject } from '../../concurrency/ttl-cache.ts'
import { type Db, raw, Sql, sql } from '../../database/db.ts'
import { rfc3339Micros } from '../../database/rfc3339.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { type List, listNumber, recordKinds } from './change-timestamp.ts'
import { materialized } from './planner-fences.ts'

/** Table with change timestamps: a list, or another table whose change timestamps are never back-dated. */
export type TimestampSource = List | Sql

/** The time up to which a paginated scan is complete (contributing/decisions/0027). */
interface AsOf {
  asOf: Sql
  /**
   * The newest change of the list up to `asOf`, as RFC 3339. Undefined after the first page. Also undefined for a table that isn't a `List`: its
   * `asOf` is a subquery of the page's own statement.
   */
  newest?: string
  /** An LSN that includes all changes up to `asOf`. Undefined: only the primary is known to have them. */
  position?: string | undefined
}

/** The `asOf` that the first page of a scan has fixed. */
export interface FixedAsOf {
  /** RFC 3339. */
  asOf?: string
  position?: string | undefined
}

/** Returns the `asOf` that the first page of a scan has fixed, or reads the newest one from the primary. */
export const resolveAsOf = async (
  db: Db,
  service: Service,
  source: TimestampSource,
  fixed: FixedAsOf,
  withTombstones = false,
): Promise<AsOf> => {
  if (fixed.asOf !== undefined) return { asOf: sql`${fixed.asOf}::timestamptz`, position: fixed.position }
  if (source instanceof Sql) {
    // Without a watermark, no change counts as committed.
    const { timestamps, position } = await readCommitWatermarks(db, service)
    const watermark = sql`${timestamps[0] ?? '-infinity'}::timestamptz`
    return { asOf: newestWithin(source, service, watermark, withTombstones), position }
  }
  const { timestamp, position } = await readNewest(db, service, source, withTombstones)
  return { asOf: sql`${timestamp}::timestamptz`, newest: timestamp, position }
}

/** An `asOf` or a watermark, and an LSN that includes all changes up to it. */
interface PositionedTimestamp {
  /** Text of a `timestamptz`. */
  timestamp: string
  position?: string | undefined
}

/**
 * Reads the newest change within the commit watermark, from the primary. Concurrent first pages of a list share the query. It can lack a
 * change that commits between its snapshot and its check of the locks. The page has this change, because a later statement reads it
 * (contributing/decisions/0002).
 */
const readNewest = (db: Db, service: Service, list: List, withTombstones: boolean): Promise<PositionedTimestamp> =>
  sharedQueries(db)(`${service.id} ${list} ${withTombstones}`, async () => {
    const watermark = sql`(select timestamps[${raw(String(listNumber(list) + 1))}] from watermarks)`
    // Read the LSN in the statement that checks `initial_load`. A replica at an earlier LSN could lack the loaded records.
    const row = await db.row<{ timestamp: string; position: string | null }>(sql`
      with watermarks as ${materialized(sql`select commit_watermarks(${service.id}) as timestamps`)},
           newest as ${materialized(sql`select ${newestWithin(list, service, watermark, withTombstones)} as changed_at`)}
      select ${rfc3339Micros(sql`changed_at`)} as timestamp, ${currentLsn(db)} as position from newest`)
    if (!row) throw new Error('aggregate of a list returned no row')
    return { timestamp: row.timestamp, position: row.position ?? undefined }
  })

/**
 * The newest change of a list up to the commit watermark: no later commit can have a change timestamp at or before it. The result is the
 * timestamp of a change, never the current time, so changes made after the clock was set back aren't missed (contributing/decisions/0002). A list
 * that is empty or in its initial load is complete only up to 1970, because its records can get change timestamps of any age
 * (contributing/decisions/0013).
 */
function newestWithin(source: TimestampSource, service: Service, watermark: Sql, withTombstones: boolean): Sql {
  const isCommitted = sql`service_id = ${service.id} and changed_at <= ${watermark}`
  const newestRecord = sql`(select max(changed_at) from ${tableSql(source)} where ${isCommitted})`
  if (source instanceof Sql) return sql`coalesce(${newestRecord}, timestamptz 'epoch')`
  const newestTombstone = sql`(select max(changed_at) from tombstone where ${isCommitted} and kind = ${recordKinds[source]})`
  const newest = sql`coalesce(${withTombstones ? sql`greatest(${newestRecord}, ${newestTombstone})` : newestRecord}, timestamptz 'epoch')`
  return sql`
    case when exists (select from initial_load l where l.service_id = ${service.id} and l.kind = ${recordKinds[source]}) then timestamptz 'epoch' else ${newest} end`
}

/** Returns the table for a `from` clause. */
export const tableSql = (source: TimestampSource): Sql => (source instanceof Sql ? source : raw(source))

/** The commit watermarks of a service: no transaction in progress can still commit a change at or before them. */
export interface CommitWatermarks {
  /** By list number; at 0, the watermark of all tables without back-dating. Texts of `timestamptz`. */
  timestamps: readonly string[]
  position?: string | undefined
}

/** The LSN of the primary after a statement has taken its snapshot; null without replicas. */
export const currentLsn = (db: Db): Sql => db.lsn ?? sql`null::text`

/** Reads the commit watermarks from the primary, and then its LSN, which is after every transaction that had ended. */
export const readCommitWatermarks = (db: Db, { id }: Service): Promise<CommitWatermarks> =>
  sharedQueries(db)(String(id), async () => {
    const row = await db.row<{ timestamps: string[]; position: string | null }>(sql`
      with watermarks as ${materialized(sql`select commit_watermarks(${id})::text[] as timestamps`)}
      select timestamps, ${currentLsn(db)} as position from watermarks`)
    return { timestamps: row?.timestamps ?? [], position: row?.position ?? undefined }
  })

/** Concurrent requests share a query, and no result is older than the request that receives it. */
const sharedQueries = perObject((_: Db) => freshSingleFlight())
