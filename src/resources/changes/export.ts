import { encodeCursor, renderChange, type Subscription } from '../../change-feed/subscription.ts'
import type { RunLimited } from '../../concurrency/semaphore.ts'
import type { Db } from '../../database/db.ts'
import type { Whole } from '../../http/streaming/bulk-export.ts'
import { headersOf } from '../../http/streaming/export-chunks.ts'
import { readAhead, type SyncBatch } from '../../http/streaming/read-ahead.ts'
import { readChanges } from '../../store/change-feed/changes.ts'
import { getWatermarks, readCurrentState } from '../../store/change-feed/newest.ts'
import {
  createInitialPositions,
  type FeedPositions,
  formatTimestamp,
  getCompleteUntil,
} from '../../store/change-feed/positions.ts'
import { orExpired } from './subscription-query.ts'

/** Changes in a portion. */
const portion = 500

/** The feed from the beginning to what is newest now, as a whole; its cursor goes on from there. */
export async function everyChange(db: Db, following: Subscription, records: boolean, turn: RunLimited): Promise<Whole> {
  const stand = await turn(() => readCurrentState(db, following.service, following.kinds))
  const end = stand.positions
  const portionBehind = async (at: FeedPositions): Promise<SyncBatch> => {
    const read = () => readChanges(db, following.service, at, { limit: portion, records }, getWatermarks(stand))
    const { changes, positions, hasMore } = orExpired(await turn(read))
    const lines = changes.length ? [changes.map(change => `${renderChange(change)}\n`).join('')] : []
    return { lines, next: hasMore ? () => portionBehind(positions) : undefined }
  }
  const asOf = formatTimestamp(Math.max(0, getCompleteUntil(end)))
  const headers = { ...headersOf(following.service, { asOf }), 'x-end-cursor': encodeCursor(following, end) }
  return { headers, portions: readAhead(() => portionBehind(createInitialPositions(following.kinds))) }
}
