import { encodeCursor, renderChange, type Subscription } from '../../change-feed/subscription.ts'
import type { RunLimited } from '../../concurrency/semaphore.ts'
import type { Db } from '../../database/db.ts'
import type { BulkExport } from '../../http/streaming/bulk-export.ts'
import { buildExportHeaders, type Chunk, readAhead } from '../../http/streaming/export-chunks.ts'
import { readChanges } from '../../store/change-feed/changes.ts'
import { getWatermarks, readCurrentState } from '../../store/change-feed/newest.ts'
import {
  createInitialPositions,
  type FeedPositions,
  formatTimestamp,
  getCompleteUntil,
} from '../../store/change-feed/positions.ts'
import { requireUnexpired } from './subscription-query.ts'

/** Changes per chunk. */
const chunkSize = 500

/** Returns a bulk export of the change feed, from the beginning to the current state. Its `X-End-Cursor` continues after the last line. */
export async function exportChanges(
  db: Db,
  subscription: Subscription,
  records: boolean,
  limit: RunLimited,
): Promise<BulkExport> {
  const current = await limit(() => readCurrentState(db, subscription.service, subscription.kinds))
  const end = current.positions
  const readChunk = async (start: FeedPositions): Promise<Chunk> => {
    const read = () =>
      readChanges(db, subscription.service, start, { limit: chunkSize, records }, getWatermarks(current))
    const { changes, positions, hasMore } = requireUnexpired(await limit(read))
    const lines = changes.length ? [changes.map(change => `${renderChange(change)}\n`).join('')] : []
    return { lines, next: hasMore ? () => readChunk(positions) : undefined }
  }
  const asOf = formatTimestamp(Math.max(0, getCompleteUntil(end)))
  const headers = {
    ...buildExportHeaders(subscription.service, { asOf }),
    'x-end-cursor': encodeCursor(subscription, end),
  }
  return { headers, chunks: readAhead(() => readChunk(createInitialPositions(subscription.kinds))) }
}
