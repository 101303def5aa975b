import { type Db, raw, type Sql, sql } from '../../database/db.ts'
import type { Actor } from '../../domain/audit.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { SourceDated } from './back-date.ts'
import type { Change } from './change-timestamp.ts'
import { isDifferent, type MergeTable } from './merge.ts'
import { opaqueServiceId } from './planner-fences.ts'

/**
 * Prevents older data from overwriting newer data. `source_changed_at` is the time of a record's content in its source, or of the write that
 * set it. Imported rows with an older time are skipped. `changed_at` can't be compared: it also moves when a record is rendered again.
 */

/** How rows of a file or a sync are written. */
export interface WriteContext {
  /** True if rows of the batch exchange unique values, such as email addresses: the stored values are cleared before the batch is written. */
  releasesUniqueValues?: boolean
  /** The author of the entries in the consent record. */
  actor: Actor
  /** Skips rows that are older than the content of the stored record. */
  skipOutdated: boolean
  /** Time of the database before the rows were requested (`readDatabaseTime`). Absent for files. */
  requestedAt?: string | undefined
}

/** Drops the rows that are older than the content of their stored record, and counts them. */
export async function dropOutdated<R extends SourceDated>(
  tx: Db,
  service: Service,
  { name, key }: Pick<MergeTable, 'name' | 'key'>,
  rows: readonly R[],
  context: Pick<WriteContext, 'skipOutdated'> | undefined,
): Promise<{ current: readonly R[]; outdated: number }> {
  const dated = context?.skipOutdated
    ? rows.flatMap((row, ordinal) => {
        if (!row.updateTimeStamp) return []
        const keys = key.map(column => [column, (row as Record<string, unknown>)[toCamelCase(column)]] as const)
        return { ...Object.fromEntries(keys), ordinal, time: row.updateTimeStamp }
      })
    : []
  if (!dated.length) return { current: rows, outdated: 0 }
  const outdated = await tx.rows<{ ordinal: number }>(sql`
    select new.ordinal from json_to_recordset(${JSON.stringify(dated)}) as new (ordinal integer, time timestamp, ${raw(key.map(column => `${column} text`).join(', '))})
      join ${raw(name)} old on old.service_id = ${opaqueServiceId(service)} and ${raw(key.map(column => `old.${column} = new.${column}`).join(' and '))}
     where new.time < old.source_changed_at`)
  const ordinals = new Set(outdated.map(({ ordinal }) => ordinal))
  return { current: rows.filter((_, ordinal) => !ordinals.has(ordinal)), outdated: ordinals.size }
}

const toCamelCase = (column: string) => column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** SQL for the time of new content: its time in the source, but not in the future. Without a time in the source, the time of the transaction. */
export const contentTime = (sourceTime: Sql, service: Service, { at }: Change) => {
  const now = sql`date_trunc('second', ${at}::timestamptz at time zone ${service.settings.timeZone})`
  return sql`least(coalesce(${sourceTime}, ${now}), ${now})`
}

/**
 * SQL for the new `source_changed_at` of a merged row, whose alias is `alias`. The query must name the stored row `old` and the imported row
 * `source`. A row that differs only in `mappingColumns` has no new content, so it keeps its time.
 */
export function mergedContentTime(
  table: MergeTable,
  alias: string,
  service: Service,
  change: Change,
  mappingColumns: readonly string[] = [],
) {
  const content = { ...table, columns: table.columns.filter(column => !mappingColumns.includes(column)) }
  const time = sql`greatest(old.source_changed_at, ${contentTime(sql`source.source_changed_at`, service, change)})`
  return sql`case when ${isDifferent(content, alias)} then ${time} else old.source_changed_at end`
}
