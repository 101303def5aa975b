import { setTimeout } from 'node:timers/promises'
import type { Database } from '../../db.ts'
import type { HistoryReads } from '../../domain/orders/transactions.ts'
import { ApiError, orApiError } from '../../errors.ts'
import type { Service } from '../../settings.ts'
import { noteAsked, toldAt } from '../../store/sync/visits.ts'
import { takeIn } from '../rows/take-in.ts'
import { intakes } from '../sync/intakes.ts'
import { historyOf } from './lookup/history.ts'
import type { Upstream } from './lookup/upstream.ts'

/** The feed that visits histories: what is asked for here it need not visit so soon. */
const feed = 'transactions'

/** Milliseconds that a caller waits for the back office. What comes later is stored all the same. */
const patienceMs = 3_000

/**
 * Histories are asked for while the caller waits, and written through: what the list shows is what our tables have. Where a sale came
 * in an export already, it stays as it is there (`toldFirst`).
 */
export const historyReads = (upstream: Upstream): HistoryReads => ({
  async followHistory({ db, service }, customerId) {
    const fault = await within(patienceMs, asked(upstream, db, service, customerId)).catch(orApiError)
    const syncedAt = await toldAt(db, service, feed, customerId)
    return {
      syncedAt,
      ...(fault && { warning: { code: fault.code, detail: `${fault.message} ${asItWas(syncedAt)}` } }),
    }
  },
})

function asItWas(syncedAt: string | undefined): string {
  if (syncedAt === undefined) return 'It was not asked for this history before: sales may be missing.'
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(syncedAt)) / 1_000))
  return `The history is as it was ${seconds} seconds ago: later sales may be missing.`
}

/** What is asked for by several callers at once is asked for once. Answers what is wrong with a history that was stored in part. */
function asked(upstream: Upstream, db: Database, service: Service, customerId: string): Promise<ApiError | undefined> {
  const { histories } = upstream
  const key = `${service.id} ${customerId}`
  const known = histories.get(key)
  if (known) return known
  const asking = bring(upstream, db, service, customerId).finally(() => histories.delete(key))
  // It may fail when nobody waits for it any more.
  asking.catch(() => {})
  histories.set(key, asking)
  return asking
}

/** Asks for a history, and stores it. */
async function bring({ client }: Upstream, db: Database, service: Service, customerId: string) {
  const at = new Date()
  const signal = AbortSignal.timeout(client.limits.deadlineMs)
  const { currency } = service.settings
  const { rows, refused } = await historyOf(client, customerId, { currency, signal })
  const reasons = [...refused]
  const refuse = (_at: number, { note }: { note: string }) => reasons.push(note)
  if (rows.length) await takeIn(rows, { db, service, intake: intakes.transactions, again: true, refuse })
  if (!reasons.length) {
    await noteAsked(db, service, feed, { id: customerId, at })
    return
  }
  client.connection.log?.warn({ reasons }, 'Sales of a customer cannot be taken.')
  return new ApiError('back_office_error', 'The back office tells of sales that cannot be read, and are not shown.')
}

/** What comes of work; where it takes longer, that it does. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | ApiError> {
  const over = new AbortController()
  const late = setTimeout(ms, undefined, { signal: over.signal }).then(
    () => new ApiError('back_office_unavailable', 'The back office did not answer in time.'),
    // It did.
    () => new ApiError('back_office_unavailable'),
  )
  try {
    return await Promise.race([work, late])
  } finally {
    over.abort()
  }
}
