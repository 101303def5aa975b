import { raw, type Sql, sql } from '../../database/db.ts'
import { type Kind, kinds } from '../../domain/changes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { listNumber } from '../lists/change-timestamp.ts'
import { opaqueParam, rfc3339Micros } from '../lists/page.ts'
import { type FeedPosition, type FeedPositions, formatTimestamp, isAtBeginning } from './positions.ts'
import { isHidden, isShown, sources } from './sources.ts'

/** Up to when the feed is told, of each list by its number. */
type WatermarkTimestamps = readonly string[]

/** What a page is to hold. */
export interface ChangesRequest {
  limit: number
  /** Whether changes carry the records. */
  records: boolean
}

/** What is told next; where that is nothing, one row without a kind. */
export interface Row {
  kind: Kind | null
  removed: boolean
  /** A removal of what is there again: a record is told of as it is now. */
  is_back: boolean
  changed_at: string
  key: string
  id: string
  name: string
  record: string | null
  /** The newest removal of each kind that is forgotten. */
  forgotten: { [kind in Kind]?: string }
  /** The newest removal of each kind of which nothing has been told. */
  before: { [kind in Kind]?: string | null }
}

/**
 * At most `limit` rows and one more, merged by stamp over the kinds: an index walk each in what is there and in what has left. Its text is
 * one of few, whatever is followed: PostgreSQL keeps each text prepared, in every connection.
 */
export function selectChanges(
  service: Service,
  positions: FeedPositions,
  within: WatermarkTimestamps,
  { limit, records }: ChangesRequest,
): Sql {
  const looked = (positions.size === 1 ? [...positions.keys()] : kinds).map(kind => ({
    kind,
    stand: scanStart(positions, kind),
  }))
  // Said in the text, or the planner takes a limit for a tenth of the table. Walks with an order of their own are read as far as needed.
  const inOrder = sql`order by changed_at, key limit ${raw(limit <= 100 ? '101' : '1001')}`
  const walks = looked.flatMap(({ kind, stand }) => [
    selectChangedRows(service, kind, stand, within),
    selectTombstoneRows(service, kind, stand, within),
  ])
  const told = looked
    .filter(({ kind }) => records || sources[kind].id || sources[kind].name)
    .map(({ kind }) => selectRecords(service, kind, records))
  const isBack = looked.map(({ kind }) => sql`when ${kind} then ${isShown(sources[kind], service, sql`page.key`)}`)
  const before = looked.map(
    ({ kind, stand }) => sql`, ${kind}::text, ${newestTombstone(service, kind, stand.isUnbegun ? within : [])}`,
  )
  return sql`
    with page as materialized (select * from (${unionAll(walks.map(walk => sql`(${walk} ${inOrder})`))}) walks ${inOrder})
    select page.kind, removed, removed and case page.kind ${concatenate(isBack)} end as is_back, ${rfc3339Micros(sql`page.changed_at`)} as changed_at, page.key,
           coalesce(told.id, page.key) as id, coalesce(told.name, told.id, page.key) as name, told.record,
           (select coalesce(json_object_agg(kind, ${rfc3339Micros(sql`purged_until`)}), '{}') from tombstone_purge where service_id = ${service.id}) as forgotten,
           json_build_object('', null ${concatenate(before)}) as before
      from (values (1)) always
      left join (select * from page order by changed_at, key limit ${limit + 1}) page on true
      left join lateral (${unionAll([nothing, ...told])}) told on true
     order by page.changed_at, page.key`
}

export const unionAll = (queries: readonly Sql[]): Sql => queries.reduce((all, query) => sql`${all} union all ${query}`)
const concatenate = (parts: readonly Sql[]): Sql => parts.reduce((all, part) => sql`${all} ${part}`, sql``)

const nothing = sql`select null::text as id, null::text as name, null::text as record where false`

/** What a kind is walked from; undefined: nothing of it is told. */
interface ScanStart {
  changed: FeedPosition | undefined
  removed: FeedPosition | undefined
  /** Nothing has been told of it. */
  isUnbegun: boolean
}

function scanStart(positions: FeedPositions, kind: Kind): ScanStart {
  const stand = positions.get(kind)
  const isUnbegun = stand !== undefined && isAtBeginning(stand)
  return { changed: stand?.changed, removed: isUnbegun ? undefined : stand?.removed, isUnbegun }
}

/** What is there of a kind, and shown. */
function selectChangedRows(service: Service, kind: Kind, { changed }: ScanStart, within: WatermarkTimestamps): Sql {
  const { table, key } = sources[kind]
  return sql`
    select ${kind}::text as kind, false as removed, changed_at, ${key} as key from ${raw(table)}
     where service_id = ${service.id} and ${isAfter(key, changed)} and ${isCommitted(kind, within)} and not ${isHidden(service, kind)}`
}

const selectTombstoneRows = (service: Service, kind: Kind, { removed }: ScanStart, within: WatermarkTimestamps) => sql`
  select ${kind}::text as kind, true as removed, changed_at, id as key from tombstone
   where service_id = ${service.id} and kind = ${kind} and ${isAfter(sql`id`, removed)} and ${isCommitted(kind, within)}`

/** None while the first load is under way: what is yet to be shown is older. */
const newestTombstone = (service: Service, kind: Kind, within: WatermarkTimestamps) =>
  rfc3339Micros(sql`
    (select max(changed_at) from tombstone
      where service_id = ${service.id} and kind = ${kind} and ${isCommitted(kind, within)} and not ${isHidden(service, kind)})`)

const isAfter = (column: Sql, place: FeedPosition | undefined) =>
  sql`(changed_at, ${column}) > (${opaqueParam(place ? formatTimestamp(place[0]) : 'infinity', 'timestamptz')}, ${opaqueParam(place?.[1] ?? '', 'text')})`

/** Before anything that can still commit. */
export const isCommitted = (kind: Kind, within: WatermarkTimestamps) =>
  sql`changed_at <= ${opaqueParam(within[listNumber(sources[kind].table)] ?? '-infinity', 'timestamptz')}`

/** What a record on the page shows. */
function selectRecords(service: Service, kind: Kind, records: boolean): Sql {
  const { table, key, id = key, name = id, record } = sources[kind]
  return sql`
    select ${id} as id, ${name} as name, ${records ? record(service) : sql`null::text`} as record from ${raw(table)} told
     where page.kind = ${kind} and not page.removed and told.service_id = ${service.id}
       and told.changed_at = page.changed_at and told.${key} = page.key`
}
