import type { Refresh, SyncBatch } from '../../../domain/sync/port.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { handleLater } from '../../../telemetry/ignored-errors.ts'
import { findRetailApiError } from '../client/retail-api-error.ts'

/** Visits under way at a time: few, so that the callers of the API find a place. */
const atOnce = 3
/** One record that cannot be read is passed over; so many in a row are a back office that is not well. */
const mostFaults = 10

/**
 * Visits records one after the other, a few at a time, and brings their batches in order. A refresh that answers with something
 * unreadable is rejected, and done with until it is due again.
 */
export async function* refreshed(
  refreshes: AsyncIterable<Refresh>,
  refresh: (refresh: Refresh) => Promise<SyncBatch>,
): AsyncGenerator<SyncBatch> {
  const underWay: { refreshed: Refresh & { at: Date }; batch: Promise<SyncBatch> }[] = []
  let faults = 0
  async function* next(): AsyncGenerator<SyncBatch> {
    const begun = underWay.shift()
    if (!begun) return
    try {
      yield { ...(await begun.batch), refreshed: begun.refreshed }
      faults = 0
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'back_office_error') throw error
      // A refusal is an answer about this one record, and will be the same tomorrow.
      if (!findRetailApiError(error) && ++faults > mostFaults) throw error
      yield { rejected: ['The answer about a record could not be read.'], refreshed: begun.refreshed }
    }
  }
  for await (const one of refreshes) {
    const refreshed = { ...one, at: new Date() }
    const batch = refresh(one)
    // It may fail before it is its turn.
    handleLater(batch)
    underWay.push({ refreshed, batch })
    if (underWay.length >= atOnce) yield* next()
  }
  while (underWay.length) yield* next()
}
