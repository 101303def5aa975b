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
    const { customerId, orderId, backOfficeId } = open.get(id) as OpenReturn
    const path = [...buildReturnsPath({ id: orderId, number: '', personId: customerId }), backOfficeId]
    const root = await client.document({ endpoint: 'returns', path, roots: ['ReturnOrder', 'Order'], signal })
    const rows: SyncRows['returns'][] = root ? [{ returnId: id, orderId, ...parseReturn(root) }] : []
    return { rows: { returns: rows } }
  })
  // The open returns determine the requests, so no refresh needs to be recorded.
  for await (const { completedRefresh: _, ...batch } of batches) yield batch
}
