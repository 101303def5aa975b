import type { Refresh, SyncBatch } from '../../../domain/sync/port.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { handleLater } from '../../../telemetry/ignored-errors.ts'
import { findRetailApiError } from '../client/retail-api-error.ts'

/** Concurrent refreshes: few, so that API requests find free call slots. */
const concurrency = 3
/** A single unreadable record is skipped. More consecutive errors mean that the back office has a problem. */
const maxConsecutiveErrors = 10

/**
 * Refreshes records with limited concurrency and yields their batches in order. A record with an unreadable response is rejected, and not
 * refreshed again before it is due again.
 */
export async function* refreshRecords(
  refreshes: AsyncIterable<Refresh>,
  refresh: (refresh: Refresh) => Promise<SyncBatch>,
): AsyncGenerator<SyncBatch> {
  const inFlight: { refreshed: Refresh & { at: Date }; batch: Promise<SyncBatch> }[] = []
  let consecutiveErrors = 0
  async function* finishOldest(): AsyncGenerator<SyncBatch> {
    const oldest = inFlight.shift()
    if (!oldest) return
    try {
      yield { ...(await oldest.batch), completedRefresh: oldest.refreshed }
      consecutiveErrors = 0
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'back_office_error') throw error
      // A Retail API error concerns this record only, and would be the same next time.
      if (!findRetailApiError(error) && ++consecutiveErrors > maxConsecutiveErrors) throw error
      yield { rejected: ['The response about a record could not be read.'], completedRefresh: oldest.refreshed }
    }
  }
  for await (const item of refreshes) {
    const refreshed = { ...item, at: new Date() }
    const batch = refresh(item)
    // The refresh can fail before its batch is awaited.
    handleLater(batch)
    inFlight.push({ refreshed, batch })
    if (inFlight.length >= concurrency) yield* finishOldest()
  }
  while (inFlight.length) yield* finishOldest()
}
