import { findReturnPath } from '../../../domain/orders/transitions.ts'
import type { OpenReturn, SyncBatch, SyncRequest, SyncRows } from '../../../domain/sync/port.ts'
import type { Client } from '../client/client.ts'
import type { ReleaseReader } from '../client/release.ts'
import { isId } from '../client/request.ts'
import { parseReturn } from '../mapping/return-from-xml.ts'
import { buildReturnsPath } from '../queries/created-returns.ts'
import { refreshRecords } from './refreshes.ts'

/**
 * Fetches the status of returns that are neither refunded nor cancelled here. The Retail API has no list of returns, so each takes one call.
 * A return that the back office no longer has keeps its status: it may have been deleted, or only purged.
 */
export async function* fetchReturns(
  client: Client,
  release: ReleaseReader,
  { signal, openReturns }: SyncRequest,
): AsyncGenerator<SyncBatch> {
  if (!(await release.has('returns'))) {
    yield { end: { isIdle: true } }
    return
  }
  const open = new Map((await openReturns()).map(openReturn => [openReturn.id, openReturn]))
  const listRefreshes = async function* () {
    for (const { id, backOfficeId, customerId, orderId } of open.values())
      if ([backOfficeId, customerId, orderId].every(isId)) yield { id, version: '' }
  }
  const batches = refreshRecords(listRefreshes(), async ({ id }) => {
    const openReturn = open.get(id) as OpenReturn
    const { customerId, orderId, backOfficeId } = openReturn
    const path = [...buildReturnsPath({ id: orderId, number: '', personId: customerId }), backOfficeId]
    const root = await client.document({ endpoint: 'returns', path, roots: ['ReturnOrder', 'Order'], signal })
    const reported = root && parseReturn(root)
    const rows: SyncRows['returns'][] =
      reported && isChanged(openReturn, reported) ? [{ returnId: id, orderId, ...reported }] : []
    return { rows: { returns: rows } }
  })
  for await (const { completedRefresh, ...batch } of batches)
    yield { ...batch, ...(completedRefresh && { polledReturn: completedRefresh.id }) }
}

/** True if a response can change the return. Most polls change nothing, and need no transaction. */
const isChanged = (stored: OpenReturn, { status, word, lines }: ReturnType<typeof parseReturn>) =>
  word !== stored.word ||
  (status !== null && findReturnPath(stored.status, status).length > 0) ||
  lines.some(({ isCancelled }) => isCancelled)
