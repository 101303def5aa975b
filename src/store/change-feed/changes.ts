import type { Db } from '../../database/db.ts'
import type { Kind } from '../../domain/changes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { type CommitWatermarks, readCommitWatermarks } from '../lists/as-of.ts'
import { type ChangesRequest, type Row, selectChanges } from './page.ts'
import {
  advance,
  advanceToEnd,
  createPositionAfter,
  type FeedPositions,
  isAtBeginning,
  parseTimestamp,
} from './positions.ts'

/** A record that has changed, or left the data. */
export interface Change {
  kind: Kind
  id: string
  action: 'changed' | 'removed'
  /** RFC 3339, to the microsecond. */
  changedAt: string
  /** What its path names it by. */
  name: string
  /** As its path shows it, JSON text; null for one that has left, or where records were not asked for. */
  record: string | null
  /** Where whoever has been told of it stands. */
  positions: FeedPositions
}

/** What the feed tells from some positions on. Fewer changes than were asked for, even none, are not always the last ones. */
export interface ChangesPage {
  changes: Change[]
  hasMore: boolean
  /** Where whoever has been told of it all stands. */
  positions: FeedPositions
}

/**
 * What has changed since a reader stood at these positions. Nothing that can still commit is stamped before what is told
 * (contributing/decisions/0014). `within` has it end earlier, at a moment of each list. Undefined where a removal after the positions may have been forgotten: who stands there begins anew.
 */
export async function readChanges(
  db: Db,
  service: Service,
  positions: FeedPositions,
  asked: ChangesRequest,
  within?: CommitWatermarks,
): Promise<ChangesPage | undefined> {
  const { timestamps, position } = within ?? (await readCommitWatermarks(db, service))
  const rows = await db.rows<Row>(selectChanges(service, positions, timestamps, asked), { position })
  const [{ forgotten = {}, before = {} } = {}] = rows
  if (isExpired(positions, forgotten)) return
  let at = skipEarlierTombstones(positions, before)
  const changes: Change[] = []
  const found = rows.filter(row => row.kind !== null) as (Row & { kind: Kind })[]
  for (const { kind, removed, changed_at: changedAt, key, is_back: isBack, id, name, record } of found.slice(
    0,
    asked.limit,
  )) {
    const action = removed ? 'removed' : 'changed'
    at = advance(at, kind, action, [parseTimestamp(changedAt), key])
    if (!isBack) changes.push({ kind, id, action, changedAt, name, record, positions: at })
  }
  const hasMore = found.length > asked.limit
  return { changes, hasMore, positions: hasMore ? at : advanceToEnd(at) }
}

const isExpired = (positions: FeedPositions, forgotten: Row['forgotten']) =>
  [...positions].some(([kind, stand]) => {
    const newest = forgotten[kind]
    return newest !== undefined && !isAtBeginning(stand) && parseTimestamp(newest) >= stand.removed[0]
  })

/** Who has been told nothing of a kind has nothing that could have left before. */
const skipEarlierTombstones = (positions: FeedPositions, before: Row['before']): FeedPositions =>
  new Map(
    [...positions].map(([kind, stand]) => {
      const newest = before[kind]
      return [kind, newest ? { ...stand, removed: createPositionAfter(parseTimestamp(newest)).removed } : stand]
    }),
  )
