import { findReturnPath } from '../../../domain/orders/transitions.ts'
import type { OpenReturn, SyncBatch, SyncDefinition, SyncRequest, SyncRows } from '../../../domain/sync/port.ts'
import type { Client } from '../client/client.ts'
import type { ReleaseReader } from '../client/release.ts'
import { isId } from '../client/request.ts'
import { limitSyncShare } from '../client/sync-share.ts'
import { parseReturn } from '../mapping/return-from-xml.ts'
import { parseStore } from '../mapping/stores.ts'
import { buildReturnsPath } from '../queries/created-returns.ts'
import { fetchHistory } from '../queries/history.ts'
import { createReferenceCache } from '../queries/reference-cache.ts'
import { convertRecords } from '../xml/invalid-record.ts'
import { fetchOrders } from './orders.ts'
import { fetchPersons, findExistingPersons, refetchPersons } from './persons.ts'
import { fetchProducts } from './products.ts'
import { refreshRecords } from './refreshes.ts'
import { fetchRewardAccounts, fetchRewardPrograms } from './rewards.ts'
import { fetchStock } from './stock.ts'

const [minute, day] = [60, 86_400]

/** The longest period for which changes are requested. */
const maxLookbackSeconds = 7 * day

/**
 * Defines the syncs of one Retail API, in the order of their dependencies. `intervals`: seconds that an operator has set, by sync
 * name.
 */
export const buildSyncs = (
  client: Client,
  release: ReleaseReader,
  intervals: Readonly<Record<string, number>> = {},
): SyncDefinition[] =>
  defineSyncs(limitSyncShare(client), release).map(sync =>
    Object.hasOwn(intervals, sync.name)
      ? { ...sync, intervalSeconds: intervals[sync.name] ?? sync.intervalSeconds }
      : sync,
  )

/** The default intervals. Reference values that are not stored yet are fetched together with the records that need them. */
const defineSyncs = (client: Client, release: ReleaseReader): SyncDefinition[] => [
  { name: 'references', intervalSeconds: day, fetch: request => fetchReferences(client, request) },
  { name: 'stores', intervalSeconds: day, fetch: request => fetchStores(client, request) },
  {
    name: 'products',
    intervalSeconds: 15 * minute,
    // A daily run can start up to a tenth earlier. It must be a full sync even then.
    fullIntervalSeconds: 0.9 * day,
    fullLists: ['variant', 'product'],
    fetch: request => fetchProducts(client, release, request),
  },
  {
    name: 'stock',
    intervalSeconds: minute,
    fullIntervalSeconds: day,
    maxLookbackSeconds,
    fullLists: ['stock'],
    fetch: request => fetchStock(client, release, request),
  },
  { name: 'reward-programs', intervalSeconds: day, fetch: request => fetchRewardPrograms(client, request) },
  {
    name: 'customers',
    intervalSeconds: 5 * minute,
    fullIntervalSeconds: day,
    maxLookbackSeconds,
    fullLists: ['customer'],
    fetch: request => fetchPersons(client, release, request),
    findExisting: (ids, signal) => findExistingPersons(client, ids, signal),
    refetch: (ids, request) => refetchPersons(client, ids, request),
  },
  {
    name: 'reward-accounts',
    intervalSeconds: 5 * minute,
    refreshIntervalSeconds: day,
    fetch: request => fetchRewardAccounts(client, request),
  },
  {
    name: 'transactions',
    intervalSeconds: 5 * minute,
    refreshIntervalSeconds: day,
    fetch: request => fetchTransactions(client, request),
  },
  { name: 'orders', intervalSeconds: minute, fetch: request => fetchOrders(client, request) },
  { name: 'returns', intervalSeconds: 5 * minute, fetch: request => fetchReturns(client, release, request) },
]

async function* fetchStores(client: Client, { signal }: SyncRequest): AsyncGenerator<SyncBatch> {
  const { records } = await client.list({
    endpoint: 'stores',
    path: ['Stores'],
    signal,
    roots: ['Stores', 'Store'],
    record: 'Store',
  })
  const { rows, rejected } = convertRecords(await Array.fromAsync(records), parseStore)
  yield { rows: { stores: rows }, rejected }
}

/** Fetches all values of the reference types of customers and products. */
async function* fetchReferences(client: Client, { signal }: SyncRequest): AsyncGenerator<SyncBatch> {
  const references = createReferenceCache(client, signal)
  for (const typeId of (await references.getNames()).keys())
    yield { rows: { references: await references.getValues(typeId) } }
}

/** Fetches the histories of the due customers. */
const fetchTransactions = (client: Client, { settings: { currency }, signal, refreshes }: SyncRequest) =>
  refreshRecords(refreshes, async ({ id }) => {
    const { rows, rejected } = await fetchHistory(client, id, { currency, signal })
    return { rows: { transactions: rows }, rejected }
  })

/**
 * Fetches the status of returns that are neither refunded nor cancelled here. The Retail API has no list of returns, so each takes one call.
 * A return that the back office no longer has keeps its status: it may have been deleted, or only purged.
 */
async function* fetchReturns(
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
