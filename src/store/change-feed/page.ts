import { raw, type Sql, sql } from '../../database/db.ts'
import { rfc3339Micros } from '../../database/rfc3339.ts'
import { changeKinds, type Kind } from '../../domain/changes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { listNumber } from '../lists/change-timestamp.ts'
import { materialized, opaqueParam } from '../lists/planner-fences.ts'
import { type FeedPosition, type FeedPositions, formatTimestamp, isAtBeginning } from './positions.ts'
import { hasRecord, isHidden, sources } from './sources.ts'

/** The watermark of each list, by list number. */
type WatermarkTimestamps = readonly string[]

/** The content of a page. */
export interface ChangesRequest {
  limit: number
  /** True if changes include their records. */
  records: boolean
}

/** A change or a removal. */
export interface Row {
  kind: Kind
  removed: boolean
  /** True for the tombstone of a record that exists again: the feed reports only its newest change. */
  exists_again: boolean
  changed_at: string
  key: string
  id: string
  name: string
  record: string | null
}

/** Tombstones that the page depends on, in each of its rows. An empty page is one row with only these. */
export interface TombstoneState {
  /** Change timestamp of the newest purged tombstone of each kind. */
  purged: { [kind in Kind]?: string }
  /** Change timestamp of the newest tombstone of each kind from which the reader has received nothing. */
  newest_tombstones: { [kind in Kind]?: string | null }
}

/**
 * Selects at most `limit + 1` rows, merged by change timestamp: one index scan of the records and one of the tombstones of each kind. All
 * subscriptions share a few statements, because PostgreSQL keeps each statement prepared in every connection.
 */
export function selectChanges(
  service: Service,
  positions: FeedPositions,
  watermarks: WatermarkTimestamps,
  { limit, records }: ChangesRequest,
): Sql {
  const starts = (positions.size === 1 ? [...positions.keys()] : changeKinds).map(kind => ({
    kind,
    start: getScanStart(positions, kind),
  }))
  // A literal limit: for an unknown limit, the planner estimates a tenth of the table. Ordered scans are read only as far as needed.
  const inOrder = sql`order by changed_at, key limit ${raw(limit <= 100 ? '101' : '1001')}`
  const scans = starts.flatMap(({ kind, start }) => [
    selectChangedRows(service, kind, start, watermarks),
    selectTombstoneRows(service, kind, start, watermarks),
  ])
  const shownRecords = starts
    .filter(({ kind }) => records || sources[kind].id || sources[kind].name)
    .map(({ kind }) => selectRecords(service, kind, records))
  const existsAgain = starts.map(
    ({ kind }) => sql`when ${kind} then ${hasRecord(sources[kind], service, sql`page.key`)}`,
  )
  const newestTombstones = starts.map(
    ({ kind, start }) => sql`, ${kind}::text, ${newestTombstone(service, kind, start.isAtBeginning ? watermarks : [])}`,
  )
  return sql`
    with page as ${materialized(sql`select * from (${unionAll(scans.map(scan => sql`(${scan} ${inOrder})`))}) scans ${inOrder}`)}
    select page.kind, removed, removed and case page.kind ${concatenate(existsAgain)} end as exists_again, ${rfc3339Micros(sql`page.changed_at`)} as changed_at, page.key,
           coalesce(shown.id, page.key) as id, coalesce(shown.name, shown.id, page.key) as name, shown.record,
           (select coalesce(json_object_agg(kind, ${rfc3339Micros(sql`purged_until`)}), '{}') from tombstone_purge where service_id = ${service.id}) as purged,
           json_build_object('', null ${concatenate(newestTombstones)}) as newest_tombstones
      from (values (1)) always
      left join (select * from page order by changed_at, key limit ${limit + 1}) page on true
      left join lateral (${unionAll([noRecord, ...shownRecords])}) shown on true
     order by page.changed_at, page.key`
}

export const unionAll = (queries: readonly Sql[]): Sql => queries.reduce((all, query) => sql`${all} union all ${query}`)
const concatenate = (parts: readonly Sql[]): Sql => parts.reduce((all, part) => sql`${all} ${part}`, sql``)

const noRecord = sql`select null::text as id, null::text as name, null::text as record where false`

/** The start of the scans of one kind. Undefined positions select nothing. */
interface ScanStart {
  changed: FeedPosition | undefined
  removed: FeedPosition | undefined
  /** True if the reader has received nothing of this kind. */
  isAtBeginning: boolean
}

function getScanStart(positions: FeedPositions, kind: Kind): ScanStart {
  const position = positions.get(kind)
  const hasNothing = position !== undefined && isAtBeginning(position)
  return {
    changed: position?.changed,
    removed: hasNothing ? undefined : position?.removed,
    isAtBeginning: hasNothing,
  }
}

/** Selects the visible records of a kind. */
function selectChangedRows(service: Service, kind: Kind, { changed }: ScanStart, watermarks: WatermarkTimestamps): Sql {
  const { table, key } = sources[kind]
  return sql`
    select ${kind}::text as kind, false as removed, changed_at, ${key} as key from ${raw(table)}
     where service_id = ${service.id} and ${isAfter(key, changed)} and ${isCommitted(kind, watermarks)} and not ${isHidden(service, kind)}`
}

const selectTombstoneRows = (
  service: Service,
  kind: Kind,
  { removed }: ScanStart,
  watermarks: WatermarkTimestamps,
) => sql`
  select ${kind}::text as kind, true as removed, changed_at, id as key from tombstone
   where service_id = ${service.id} and kind = ${kind} and ${isAfter(sql`id`, removed)} and ${isCommitted(kind, watermarks)}`

/** The newest tombstone of a kind. Null during the initial load: records that become visible later can be older. */
const newestTombstone = (service: Service, kind: Kind, watermarks: WatermarkTimestamps) =>
  rfc3339Micros(sql`
    (select max(changed_at) from tombstone
      where service_id = ${service.id} and kind = ${kind} and ${isCommitted(kind, watermarks)} and not ${isHidden(service, kind)})`)

const isAfter = (column: Sql, position: FeedPosition | undefined) =>
  sql`(changed_at, ${column}) > (${opaqueParam(position ? formatTimestamp(position[0]) : 'infinity', 'timestamptz')}, ${opaqueParam(position?.[1] ?? '', 'text')})`

/** True for changes up to the watermark: no later commit can be before them. */
export const isCommitted = (kind: Kind, watermarks: WatermarkTimestamps) =>
  sql`changed_at <= ${opaqueParam(watermarks[listNumber(sources[kind].table)] ?? '-infinity', 'timestamptz')}`

/** Selects the identifier, the name and the JSON of the records on the page. */
function selectRecords(service: Service, kind: Kind, records: boolean): Sql {
  const { table, key, id = key, name = id, record } = sources[kind]
  return sql`
    select ${id} as id, ${name} as name, ${records ? record(service) : sql`null::text`} as record from ${raw(table)} changed
     where page.kind = ${kind} and not page.removed and changed.service_id = ${service.id}
       and changed.changed_at = page.changed_at and changed.${key} = page.key`
}
