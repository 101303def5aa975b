import type { Database } from '../../../database/db.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { ingest } from '../../../import/pipeline/ingest-rows.ts'
import { findReadAt, recordDirectRead } from '../../../store/sync/refreshes.ts'
import { createSyncContext, ingestions } from '../../../sync/ingest.ts'
import type { HistoryReads } from '../../port/orders.ts'
import { fetchHistory } from '../queries/history.ts'
import type { Upstream } from '../queries/upstream.ts'

/** The sync that refreshes histories. A history that was refreshed for a caller becomes due later. */
const sync = 'transactions'

/**
 * Refreshes a customer's history while the caller waits. The ingestion keeps a sale that was imported from an export file.
 * Pattern: read-through.
 */
export const createHistoryReads = (upstream: Upstream): HistoryReads => ({
  async refreshHistory({ db, service }, customerId) {
    const key = `history ${service.id} ${customerId}`
    // An error is returned, not thrown: the caller gets the stored history with a warning.
    const error = await upstream.readThrough(key, () => refreshHistory(upstream, db, service, customerId))
    const syncedAt = await findReadAt(db, service, sync, customerId)
    return {
      syncedAt,
      ...(error && { warning: { code: error.code, detail: `${error.message} ${describeAge(syncedAt)}` } }),
    }
  },
})

function describeAge(syncedAt: string | undefined): string {
  if (syncedAt === undefined) return 'This history has never been loaded, so sales may be missing.'
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(syncedAt)) / 1_000))
  return `The history is ${seconds} seconds old, so later sales may be missing.`
}

/** Fetches a customer's history and stores it. Returns an error if a sale could not be stored. */
async function refreshHistory({ client }: Upstream, db: Database, service: Service, customerId: string) {
  const readAt = new Date()
  const signal = AbortSignal.timeout(client.limits.deadlineMs)
  const { currency } = service.settings
  const { rows, rejected } = await fetchHistory(client, customerId, { currency, signal })
  const reasons = [...rejected]
  const reject = (_index: number, { note }: { note: string }) => reasons.push(note)
  if (rows.length)
    await ingest(rows, {
      db,
      service,
      ingestion: ingestions.transactions,
      context: createSyncContext(sync),
      retryRejected: true,
      reject,
    })
  if (!reasons.length) {
    await recordDirectRead(db, service, sync, { id: customerId, at: readAt })
    return
  }
  client.connection.log?.warn({ reasons }, 'customer sales rejected')
  return new ApiError('back_office_error', "The back office returned sales that can't be read. They are not shown.")
}
