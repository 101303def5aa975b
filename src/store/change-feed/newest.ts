import { type Db, raw, type Sql, sql } from '../../database/db.ts'
import { rfc3339Micros } from '../../database/rfc3339.ts'
import { changeKinds as allKinds, type Kind } from '../../domain/changes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { type CommitWatermarks, currentLsn, readCommitWatermarks } from '../lists/as-of.ts'
import { listNumber } from '../lists/change-timestamp.ts'
import { materialized } from '../lists/planner-fences.ts'
import { isCommitted, unionAll } from './page.ts'
import { createPositionAfter, type FeedPositions, formatTimestamp, parseTimestamp } from './positions.ts'
import { isHidden, sources } from './sources.ts'

/** Returns the positions of a reader that has received everything: after the newest committed change of each kind. */
export async function readCurrentPositions(db: Db, service: Service, kinds: readonly Kind[]): Promise<FeedPositions> {
  const { timestamps, position } = await readCommitWatermarks(db, service)
  return toPositions(kinds, await db.rows<Newest>(selectNewest(service, timestamps), { lsn: position }))
}

/** Reads the current positions from the primary. `watermarks`: the watermarks that include them, and an LSN after everything that was read. */
export async function readCurrentState(
  db: Db,
  service: Service,
  kinds: readonly Kind[],
): Promise<{ positions: FeedPositions; watermarks: CommitWatermarks }> {
  const { timestamps } = await readCommitWatermarks(db, service)
  // The same statement must read the LSN. An earlier LSN could precede the end of an initial load that this statement sees as ended.
  const rows = await db.rows<Newest & { position: string | null }>(sql`
    with seen as ${materialized(sql`${selectNewest(service, timestamps)}`)}
    select kind, newest, ${currentLsn(db)} as position from seen`)
  return { positions: toPositions(kinds, rows), watermarks: { timestamps, position: rows[0]?.position ?? undefined } }
}

interface Newest {
  kind: Kind
  newest: string | null
}

/** Selects all kinds, not only the subscribed ones, so that all readers share one prepared statement. */
function selectNewest(service: Service, timestamps: readonly string[]): Sql {
  const queries = allKinds.map(kind => {
    const ofService = sql`service_id = ${service.id}`
    const newest = sql`greatest(
      (select max(changed_at) from ${raw(sources[kind].table)} where ${ofService} and ${isCommitted(kind, timestamps)}),
      (select max(changed_at) from tombstone where ${ofService} and kind = ${kind} and ${isCommitted(kind, timestamps)}))`
    return sql`select ${kind}::text as kind, case when not ${isHidden(service, kind)} then ${rfc3339Micros(newest)} end as newest`
  })
  return unionAll(queries)
}

function toPositions(kinds: readonly Kind[], rows: readonly Newest[]): FeedPositions {
  const newest = new Map(rows.map(row => [row.kind, row.newest]))
  return new Map(
    kinds.map(kind => {
      const timestamp = newest.get(kind) ?? null
      return [kind, createPositionAfter(timestamp === null ? 0 : parseTimestamp(timestamp))] as const
    }),
  )
}

/** Returns watermarks for a scan that must end at these positions. */
export function getWatermarks({
  positions,
  watermarks,
}: Awaited<ReturnType<typeof readCurrentState>>): CommitWatermarks {
  const timestamps: string[] = []
  // A position is one microsecond after the newest change (`createPositionAfter`).
  for (const [kind, { changed }] of positions)
    timestamps[listNumber(sources[kind].table)] = formatTimestamp(changed[0] - 1)
  return { ...watermarks, timestamps }
}
