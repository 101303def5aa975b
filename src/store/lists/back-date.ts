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

/** A row that may say when its record changed: `YYYY-MM-DD HH:MM:SS`, on the service's wall clock. */
export interface SourceDated {
  updateTimeStamp?: string | null | undefined
}

/**
 * Opens the change of a list by such rows: their records take these times as far as the order of changes allows it (contributing/decisions/0013).
 * `others`: lists that show what is changed. Loads of one list that tell times go one after the other; those that tell none wait for
 * nobody.
 */
export async function beginSourceDatedChange(
  tx: Db,
  service: Service,
  list: List,
  rows: readonly SourceDated[],
  others: readonly List[] = [],
): Promise<Change> {
  const from = rows.some(row => row.updateTimeStamp) ? await startBackDating(tx, service, list) : null
  const change = await beginChange(tx, service, [list, ...others])
  return { ...change, earliest: from }
}

/** `start_back_dating` in the migrations says why. */
async function startBackDating(tx: Db, service: Service, list: List) {
  const row = await tx.row<{ from: string | null }>(
    sql`select start_back_dating(${service.id}, ${recordKinds[list]}, ${listNumber(list)}, ${list})::text as "from"`,
  )
  return row?.from ?? null
}

/** When a record changed according to its source (a `timestamp`), and its stamp until now; either may be null. */
interface SourceTimes {
  sourceTime: Sql
  previous: Sql
}

/** The same of a row of `merged`. */
export const mergedRowTimes: SourceTimes = { sourceTime: sql`source_changed_at`, previous: sql`old.changed_at` }

/**
 * The stamp of a record that has changed: the time that its source tells, or the nearest to it that is neither in the future nor too early.
 * Where clients may have seen the record's former stamp, and the time is not later than that, it does not tell of this change: the change
 * then is one of now.
 */
export function changeTimestamp(
  { sourceTime: told, previous: was }: SourceTimes,
  service: Service,
  { at, earliest: from }: Change,
): Sql {
  if (from === null) return sql`${at}::timestamptz`
  const moment = sql`(${told} at time zone ${service.settings.timeZone})`
  const ofThis = sql`case when ${was} < ${from}::timestamptz and ${moment} <= ${was} then null else ${moment} end`
  return sql`greatest(least(${ofThis}, ${at}::timestamptz), ${from}::timestamptz)`
}

/** An open body with the stamp of its record. */
export const withChangeTimestamp = (
  body: Sql,
  stamp: Sql,
  service: Service,
  change: Change,
  closing: RecordEnd = '}',
) =>
  change.earliest === null ? withTimestamp(body, change, closing) : withComputedTimestamp(body, stamp, service, closing)
