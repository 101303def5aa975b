import type { Db } from '../../database/db.ts'
import type { Kind } from '../../domain/changes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { type CommitWatermarks, readCommitWatermarks } from '../lists/as-of.ts'
import { type ChangesRequest, type Row, selectChanges, type TombstoneState } from './page.ts'
import {
  advance,
  advanceToEnd,
  createPositionAfter,
  type FeedPositions,
  isAtBeginning,
  parseTimestamp,
} from './positions.ts'

/** The newest change of a record, or its removal. */
export interface Change {
  kind: Kind
  id: string
  action: 'changed' | 'removed'
  /** RFC 3339, to the microsecond. */
  changedAt: string
  /** The record's name in its path. */
  name: string
  /** JSON of the record, as its path returns it. Null for a removal, or if the request excludes records. */
  record: string | null
  /** Positions of a reader that has received this change. */
  positions: FeedPositions
}

/** A page of the change feed. It can have fewer changes than requested, even none, although `hasMore` is true. */
export interface ChangesPage {
  changes: Change[]
  hasMore: boolean
  /** Positions of a reader that has received the page. */
  positions: FeedPositions
}

/**
 * Reads the changes after these positions. No transaction can still commit a change before those that are returned
 * (contributing/decisions/0014). `watermarks`: watermarks at which the feed ends, instead of the current ones. Returns undefined if a tombstone
 * after the positions may have been purged: the reader must begin again.
 */
export async function readChanges(
  db: Db,
  service: Service,
  positions: FeedPositions,
  request: ChangesRequest,
  watermarks?: CommitWatermarks,
): Promise<ChangesPage | undefined> {
  const { timestamps, position } = watermarks ?? (await readCommitWatermarks(db, service))
  const rows = await db.rows<TombstoneState & { [K in keyof Row]: Row[K] | null }>(
    selectChanges(service, positions, timestamps, request),
    { lsn: position },
  )
  const [{ purged = {}, newest_tombstones: newestTombstones = {} } = {}] = rows
  if (isExpired(positions, purged)) return
  let reached = skipEarlierTombstones(positions, newestTombstones)
  const changes: Change[] = []
  const changedRows = rows.filter((row): row is TombstoneState & Row => row.kind !== null)
  for (const row of changedRows.slice(0, request.limit)) {
    const { kind, removed, changed_at: changedAt, key, id, name, record } = row
    const action = removed ? 'removed' : 'changed'
    reached = advance(reached, kind, action, [parseTimestamp(changedAt), key])
    if (!row.exists_again) changes.push({ kind, id, action, changedAt, name, record, positions: reached })
  }
  const hasMore = changedRows.length > request.limit
  return { changes, hasMore, positions: hasMore ? reached : advanceToEnd(reached) }
}

const isExpired = (positions: FeedPositions, purged: TombstoneState['purged']) =>
  [...positions].some(([kind, position]) => {
    const newest = purged[kind]
    return newest !== undefined && !isAtBeginning(position) && parseTimestamp(newest) >= position.removed[0]
  })

/** Skips the existing tombstones of kinds from which the reader has received nothing: it has no record that could be removed. */
const skipEarlierTombstones = (
  positions: FeedPositions,
  newestTombstones: TombstoneState['newest_tombstones'],
): FeedPositions =>
  new Map(
    [...positions].map(([kind, position]) => {
      const newest = newestTombstones[kind]
      return [kind, newest ? { ...position, removed: createPositionAfter(parseTimestamp(newest)).removed } : position]
    }),
  )
