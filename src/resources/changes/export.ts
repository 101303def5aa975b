import { cursorAt, type Following, toldOf } from '../../change-feed/subscription.ts'
import type { RunLimited } from '../../concurrency/semaphore.ts'
import type { Db } from '../../database/db.ts'
import type { Whole } from '../../http/streaming/bulk-export.ts'
import { headersOf } from '../../http/streaming/export-chunks.ts'
import { readAhead, type SyncBatch } from '../../http/streaming/read-ahead.ts'
import { changesAfter } from '../../store/change-feed/changes.ts'
import { readCurrentState, watermarksAt } from '../../store/change-feed/newest.ts'
import {
  completeUntil,
  type FeedPositions,
  formatTimestamp,
  initialPositions,
} from '../../store/change-feed/positions.ts'
import { orExpired } from './subscription-query.ts'

/** Changes in a portion. */
const portion = 500

/** The feed from the beginning to what is newest now, as a whole; its cursor goes on from there. */
export async function everyChange(db: Db, following: Following, records: boolean, turn: RunLimited): Promise<Whole> {
  const stand = await turn(() => readCurrentState(db, following.service, following.kinds))
  const end = stand.positions
  const portionBehind = async (at: FeedPositions): Promise<SyncBatch> => {
    const read = () => changesAfter(db, following.service, at, { limit: portion, records }, watermarksAt(stand))
    const { changes, positions, hasMore } = orExpired(await turn(read))
    const lines = changes.length ? [changes.map(change => `${toldOf(change)}\n`).join('')] : []
    return { lines, next: hasMore ? () => portionBehind(positions) : undefined }
  }
  const asOf = formatTimestamp(Math.max(0, completeUntil(end)))
  const headers = { ...headersOf(following.service, { asOf }), 'x-end-cursor': cursorAt(following, end) }
  return { headers, portions: readAhead(() => portionBehind(initialPositions(following.kinds))) }
}
