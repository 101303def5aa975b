import { type Db, raw, sql } from '../../db.ts'
import type { Kind } from '../../domain/changes.ts'
import type { Service } from '../../settings.ts'
import { numberOf } from '../lists/change.ts'
import { type Horizons, horizons } from '../lists/moment.ts'
import { written } from '../lists/page.ts'
import { inTime, union } from './page.ts'
import { behind, type Places, stampOf, textOf } from './places.ts'
import { sources } from './sources.ts'

/** Where a reader stands who has been told everything: behind the newest change of each kind that the feed tells. */
export const placesNow = async (db: Db, service: Service, kinds: readonly Kind[]): Promise<Places> =>
  (await standNow(db, service, kinds)).places

/** The same, and the horizons that all of it lies within. */
export async function standNow(
  db: Db,
  service: Service,
  kinds: readonly Kind[],
): Promise<{ places: Places; within: Horizons }> {
  const within = await horizons(db, service)
  const { moments, position } = within
  const newestOf = kinds.map(kind => {
    const mine = sql`service_id = ${service.id}`
    const newest = sql`greatest(
      (select max(changed_at) from ${raw(sources[kind].table)} where ${mine} and ${inTime(kind, moments)}),
      (select max(changed_at) from removal where ${mine} and kind = ${kind} and ${inTime(kind, moments)}))`
    const isHidden = sql`exists (select from first_load where ${mine} and kind = ${kind})`
    return sql`select ${kind}::text as kind, case when not ${isHidden} then ${written(newest)} end as newest`
  })
  const rows = await db.rows<{ kind: Kind; newest: string | null }>(union(newestOf), { position })
  const newest = new Map(rows.map(row => [row.kind, row.newest]))
  const places = new Map(
    kinds.map(kind => {
      const stamp = newest.get(kind) ?? null
      return [kind, behind(stamp === null ? 0 : stampOf(stamp))] as const
    }),
  )
  return { places, within }
}

/** The moments at which a reader stands who has been told everything, as a walk's end. */
export function horizonsAt({ places, within }: Awaited<ReturnType<typeof standNow>>): Horizons {
  const moments: string[] = []
  for (const [kind, { changed }] of places) moments[numberOf(sources[kind].table)] = textOf(changed[0] - 1)
  return { ...within, moments }
}
