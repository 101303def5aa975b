import type { SyncBatch, SyncDefinition, SyncRequest } from '../../../domain/sync/port.ts'
import type { Client } from '../client/client.ts'
import type { ReleaseReader } from '../client/release.ts'
import { limitSyncShare } from '../client/sync-share.ts'
import { parseStore } from '../mapping/stores.ts'
import { fetchHistory } from '../queries/history.ts'
import { createReferenceCache } from '../queries/reference-cache.ts'
import { convertRecords } from '../xml/invalid-record.ts'
import { fetchOrders } from './orders.ts'
import { fetchPersons, findExistingPersons, refetchPersons } from './persons.ts'
import { fetchProducts } from './products.ts'
import { refreshRecords } from './refreshes.ts'
import { fetchReturns } from './returns.ts'
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
