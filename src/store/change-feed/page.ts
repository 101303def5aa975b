import { raw, type Sql, sql } from '../../database/db.ts'
import { type Kind, kinds } from '../../domain/changes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { numberOf } from '../lists/change-timestamp.ts'
import { rfc3339Micros, unseen } from '../lists/page.ts'
import { atBeginning, type Place, type Places, textOf } from './positions.ts'
import { isHidden, isShown, sources } from './sources.ts'

/** Up to when the feed is told, of each list by its number. */
type Moments = readonly string[]

/** What a page is to hold. */
export interface Asked {
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
export function pageOf(service: Service, places: Places, within: Moments, { limit, records }: Asked): Sql {
  const looked = (places.size === 1 ? [...places.keys()] : kinds).map(kind => ({ kind, stand: standIn(places, kind) }))
  // Said in the text, or the planner takes a limit for a tenth of the table. Walks with an order of their own are read as far as needed.
  const inOrder = sql`order by changed_at, key limit ${raw(limit <= 100 ? '101' : '1001')}`
  const walks = looked.flatMap(({ kind, stand }) => [
    changedIn(service, kind, stand, within),
    removedFrom(service, kind, stand, within),
  ])
  const told = looked
    .filter(({ kind }) => records || sources[kind].id || sources[kind].name)
    .map(({ kind }) => toldOf(service, kind, records))
  const isBack = looked.map(({ kind }) => sql`when ${kind} then ${isShown(sources[kind], service, sql`page.key`)}`)
  const before = looked.map(
    ({ kind, stand }) => sql`, ${kind}::text, ${newestRemoval(service, kind, stand.isUnbegun ? within : [])}`,
  )
  return sql`
    with page as materialized (select * from (${union(walks.map(walk => sql`(${walk} ${inOrder})`))}) walks ${inOrder})
    select page.kind, removed, removed and case page.kind ${inARow(isBack)} end as is_back, ${rfc3339Micros(sql`page.changed_at`)} as changed_at, page.key,
           coalesce(told.id, page.key) as id, coalesce(told.name, told.id, page.key) as name, told.record,
           (select coalesce(json_object_agg(kind, ${rfc3339Micros(sql`purged_until`)}), '{}') from tombstone_purge where service_id = ${service.id}) as forgotten,
           json_build_object('', null ${inARow(before)}) as before
      from (values (1)) always
      left join (select * from page order by changed_at, key limit ${limit + 1}) page on true
      left join lateral (${union([nothing, ...told])}) told on true
     order by page.changed_at, page.key`
}

export const union = (queries: readonly Sql[]): Sql => queries.reduce((all, query) => sql`${all} union all ${query}`)
const inARow = (parts: readonly Sql[]): Sql => parts.reduce((all, part) => sql`${all} ${part}`, sql``)

const nothing = sql`select null::text as id, null::text as name, null::text as record where false`

/** What a kind is walked from; undefined: nothing of it is told. */
interface Walked {
  changed: Place | undefined
  removed: Place | undefined
  /** Nothing has been told of it. */
  isUnbegun: boolean
}

function standIn(places: Places, kind: Kind): Walked {
  const stand = places.get(kind)
  const isUnbegun = stand !== undefined && atBeginning(stand)
  return { changed: stand?.changed, removed: isUnbegun ? undefined : stand?.removed, isUnbegun }
}

/** What is there of a kind, and shown. */
function changedIn(service: Service, kind: Kind, { changed }: Walked, within: Moments): Sql {
  const { table, key } = sources[kind]
  return sql`
    select ${kind}::text as kind, false as removed, changed_at, ${key} as key from ${raw(table)}
     where service_id = ${service.id} and ${beyond(key, changed)} and ${inTime(kind, within)} and not ${isHidden(service, kind)}`
}

const removedFrom = (service: Service, kind: Kind, { removed }: Walked, within: Moments) => sql`
  select ${kind}::text as kind, true as removed, changed_at, id as key from tombstone
   where service_id = ${service.id} and kind = ${kind} and ${beyond(sql`id`, removed)} and ${inTime(kind, within)}`

/** None while the first load is under way: what is yet to be shown is older. */
const newestRemoval = (service: Service, kind: Kind, within: Moments) =>
  rfc3339Micros(sql`
    (select max(changed_at) from tombstone
      where service_id = ${service.id} and kind = ${kind} and ${inTime(kind, within)} and not ${isHidden(service, kind)})`)

const beyond = (column: Sql, place: Place | undefined) =>
  sql`(changed_at, ${column}) > (${unseen(place ? textOf(place[0]) : 'infinity', 'timestamptz')}, ${unseen(place?.[1] ?? '', 'text')})`

/** Before anything that can still commit. */
export const inTime = (kind: Kind, within: Moments) =>
  sql`changed_at <= ${unseen(within[numberOf(sources[kind].table)] ?? '-infinity', 'timestamptz')}`

/** What a record on the page shows. */
function toldOf(service: Service, kind: Kind, records: boolean): Sql {
  const { table, key, id = key, name = id, record } = sources[kind]
  return sql`
    select ${id} as id, ${name} as name, ${records ? record(service) : sql`null::text`} as record from ${raw(table)} told
     where page.kind = ${kind} and not page.removed and told.service_id = ${service.id}
       and told.changed_at = page.changed_at and told.${key} = page.key`
}
