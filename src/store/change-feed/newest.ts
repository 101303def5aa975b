import { type Db, raw, type Sql, sql } from '../../database/db.ts'
import { kinds as allKinds, type Kind } from '../../domain/changes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { type CommitWatermarks, currentLsn, readCommitWatermarks } from '../lists/as-of.ts'
import { listNumber } from '../lists/change-timestamp.ts'
import { rfc3339Micros } from '../lists/page.ts'
import { isCommitted, unionAll } from './page.ts'
import { createPositionAfter, type FeedPositions, formatTimestamp, parseTimestamp } from './positions.ts'
import { isHidden, sources } from './sources.ts'

/** Where a reader stands who has been told everything: behind the newest change of each kind that the feed tells. */
export async function readCurrentPositions(db: Db, service: Service, kinds: readonly Kind[]): Promise<FeedPositions> {
  const { timestamps, position } = await readCommitWatermarks(db, service)
  return toPositions(kinds, await db.rows<Newest>(newestOfEach(service, timestamps), { position }))
}

/** The same, asked of the primary, and the horizons that all of it lies within, with the position behind all that it saw. */
export async function readCurrentState(
  db: Db,
  service: Service,
  kinds: readonly Kind[],
): Promise<{ positions: FeedPositions; within: CommitWatermarks }> {
  const { timestamps } = await readCommitWatermarks(db, service)
  // Of a statement before it a first load that it finds to be over might lie behind the position.
  const rows = await db.rows<Newest & { position: string | null }>(sql`
    with seen as materialized (${newestOfEach(service, timestamps)})
    select kind, newest, ${currentLsn(db)} as position from seen`)
  return { positions: toPositions(kinds, rows), within: { timestamps, position: rows[0]?.position ?? undefined } }
}

interface Newest {
  kind: Kind
  newest: string | null
}

/** Of all kinds, whichever are followed: so it is one text. */
function newestOfEach(service: Service, timestamps: readonly string[]): Sql {
  const newestOf = allKinds.map(kind => {
    const mine = sql`service_id = ${service.id}`
    const newest = sql`greatest(
      (select max(changed_at) from ${raw(sources[kind].table)} where ${mine} and ${isCommitted(kind, timestamps)}),
      (select max(changed_at) from tombstone where ${mine} and kind = ${kind} and ${isCommitted(kind, timestamps)}))`
    return sql`select ${kind}::text as kind, case when not ${isHidden(service, kind)} then ${rfc3339Micros(newest)} end as newest`
  })
  return unionAll(newestOf)
}

function toPositions(kinds: readonly Kind[], rows: readonly Newest[]): FeedPositions {
  const newest = new Map(rows.map(row => [row.kind, row.newest]))
  return new Map(
    kinds.map(kind => {
      const stamp = newest.get(kind) ?? null
      return [kind, createPositionAfter(stamp === null ? 0 : parseTimestamp(stamp))] as const
    }),
  )
}

/** The watermarks of these positions: the end of a scan that stops where a reader of everything would be. */
export function getWatermarks({ positions, within }: Awaited<ReturnType<typeof readCurrentState>>): CommitWatermarks {
  const timestamps: string[] = []
  for (const [kind, { changed }] of positions)
    timestamps[listNumber(sources[kind].table)] = formatTimestamp(changed[0] - 1)
  return { ...within, timestamps }
}
