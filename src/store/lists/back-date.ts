import { type Db, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import {
  beginChange,
  type Change,
  type List,
  listNumber,
  type RecordEnd,
  recordKinds,
  withComputedTimestamp,
  withTimestamp,
} from './change-timestamp.ts'

/** A row that can have the change time of its source: `YYYY-MM-DD HH:MM:SS`, in the service's time zone. */
export interface SourceDated {
  updateTimeStamp?: string | null | undefined
}

/**
 * Begins a change of a list whose records take the times of their source as far as the order of changes permits
 * (contributing/decisions/0013). `dependentLists`: other lists that show the changed records. Back-dated changes of one list run one after
 * the other; changes without source times don't wait.
 */
export async function beginSourceDatedChange(
  tx: Db,
  service: Service,
  list: List,
  rows: readonly SourceDated[],
  dependentLists: readonly List[] = [],
): Promise<Change> {
  const earliest = rows.some(row => row.updateTimeStamp) ? await startBackDating(tx, service, list) : null
  const change = await beginChange(tx, service, [list, ...dependentLists])
  return { ...change, earliest }
}

/** Returns the earliest permitted change timestamp. See `start_back_dating` in migrations/schema.sql. */
async function startBackDating(tx: Db, service: Service, list: List) {
  const row = await tx.row<{ earliest: string | null }>(
    sql`select start_back_dating(${service.id}, ${recordKinds[list]}, ${listNumber(list)}, ${list})::text as earliest`,
  )
  return row?.earliest ?? null
}

/** The change time of a record in its source (`timestamp`), and its previous change timestamp. Each can be null. */
interface SourceTimes {
  sourceTime: Sql
  previous: Sql
}

/** The times of a row of `mergeRows`. */
export const mergedRowTimes: SourceTimes = { sourceTime: sql`source.source_changed_at`, previous: sql`old.changed_at` }

/**
 * The new change timestamp of a record: the time of its source, or the nearest time that is neither in the future nor before `earliest`.
 * If clients can have seen the previous change timestamp and the source time is not later, then the source time belongs to an earlier
 * change. The record then gets the transaction's timestamp.
 */
export function changeTimestamp(
  { sourceTime, previous }: SourceTimes,
  service: Service,
  { at, earliest }: Change,
): Sql {
  if (earliest === null) return sql`${at}::timestamptz`
  const sourceTimestamp = sql`(${sourceTime} at time zone ${service.settings.timeZone})`
  const ofThisChange = sql`case when ${previous} < ${earliest}::timestamptz and ${sourceTimestamp} <= ${previous} then null else ${sourceTimestamp} end`
  return sql`greatest(least(${ofThisChange}, ${at}::timestamptz), ${earliest}::timestamptz)`
}

/** A body without closing brace, followed by the record's change timestamp. */
export const withChangeTimestamp = (
  body: Sql,
  timestamp: Sql,
  service: Service,
  change: Change,
  closing: RecordEnd = '}',
) =>
  change.earliest === null
    ? withTimestamp(body, change, closing)
    : withComputedTimestamp(body, timestamp, service, closing)
