import { type Db, raw, sql } from '../../db.ts'
import type { Kind } from '../../domain/changes.ts'
import type { Service } from '../../settings.ts'
import { numberOf } from '../lists/change.ts'
import { horizons } from '../lists/moment.ts'
import { written } from '../lists/page.ts'
import { type Horizons, inTime, union } from './page.ts'
import { behind, type Places, stampOf, textOf } from './places.ts'
import { sources } from './sources.ts'

/** Where a reader stands who has been told everything: behind the newest change of each kind that the feed tells. */
export async function placesNow(db: Db, service: Service, kinds: readonly Kind[]): Promise<Places> {
  const within = await horizons(db, service)
  const newestOf = kinds.map(kind => {
    const mine = sql`service_id = ${service.id}`
    const newest = sql`greatest(
      (select max(changed_at) from ${raw(sources[kind].table)} where ${mine} and ${inTime(kind, within)}),
      (select max(changed_at) from removal where ${mine} and kind = ${kind} and ${inTime(kind, within)}))`
    const isHidden = sql`exists (select from first_load where ${mine} and kind = ${kind})`
    return sql`select ${kind}::text as kind, case when not ${isHidden} then ${written(newest)} end as newest`
  })
  const rows = await db.rows<{ kind: Kind; newest: string | null }>(union(newestOf))
  const newest = new Map(rows.map(row => [row.kind, row.newest]))
  return new Map(
    kinds.map(kind => {
      const stamp = newest.get(kind) ?? null
      return [kind, behind(stamp === null ? 0 : stampOf(stamp))]
    }),
  )
}

/** The moments at which a reader stands who has been told everything, as a walk's end. */
export function horizonsAt(places: Places): Horizons {
  const moments: string[] = []
  for (const [kind, { changed }] of places) moments[numberOf(sources[kind].table)] = textOf(changed[0] - 1)
  return moments
}
