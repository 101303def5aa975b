import type { Database } from '../../../database/db.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { ingest } from '../../../import/pipeline/ingest-rows.ts'
import { findReadAt, recordDirectRead } from '../../../store/sync/refreshes.ts'
import { ingestions } from '../../../sync/ingest.ts'
import type { HistoryReads } from '../../port/orders.ts'
import { fetchHistory } from '../queries/history.ts'
import type { Upstream } from '../queries/upstream.ts'

/** The sync that refreshes histories: what is asked for here it need not refresh so soon. */
const sync = 'transactions'

/**
 * Histories are asked for while the caller waits, and written through: what the list shows is what our tables have. Where a sale came
 * in an export already, it stays as it is there (`toldFirst`).
 */
export const createHistoryReads = (upstream: Upstream): HistoryReads => ({
  async bringHistory({ db, service }, customerId) {
    const key = `history ${service.id} ${customerId}`
    const fault = await upstream.readThrough(key, () => refreshHistory(upstream, db, service, customerId))
    const syncedAt = await findReadAt(db, service, sync, customerId)
    return {
      syncedAt,
      ...(fault && { warning: { code: fault.code, detail: `${fault.message} ${describeAge(syncedAt)}` } }),
    }
  },
})

function describeAge(syncedAt: string | undefined): string {
  if (syncedAt === undefined) return 'It was not asked for this history before: sales may be missing.'
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(syncedAt)) / 1_000))
  return `The history is as it was ${seconds} seconds ago: later sales may be missing.`
}

/** Asks for a history, and stores it. */
async function refreshHistory({ client }: Upstream, db: Database, service: Service, customerId: string) {
  const at = new Date()
  const signal = AbortSignal.timeout(client.limits.deadlineMs)
  const { currency } = service.settings
  const { rows, rejected } = await fetchHistory(client, customerId, { currency, signal })
  const reasons = [...rejected]
  const reject = (_at: number, { note }: { note: string }) => reasons.push(note)
  if (rows.length) await ingest(rows, { db, service, ingestion: ingestions.transactions, retry: true, reject })
  if (!reasons.length) {
    await recordDirectRead(db, service, sync, { id: customerId, at })
    return
  }
  client.connection.log?.warn({ reasons }, 'Sales of a customer cannot be taken.')
  return new ApiError('back_office_error', "The back office returned sales that can't be read. They are not shown.")
}
