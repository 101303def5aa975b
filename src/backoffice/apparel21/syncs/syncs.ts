import type { SyncBatch, SyncDefinition, SyncRequest } from '../../../domain/sync/port.ts'
import type { Client } from '../client/client.ts'
import type { ReleaseReader } from '../client/release.ts'
import { parseStore } from '../mapping/stores.ts'
import { fetchHistory } from '../queries/history.ts'
import { createReferenceCache } from '../queries/reference-cache.ts'
import { convertRecords } from '../xml/invalid-record.ts'
import { fetchOrders } from './orders.ts'
import { fetchPersons, findExistingPersons, refetchPersons } from './persons.ts'
import { fetchProducts } from './products.ts'
import { refreshed } from './refreshes.ts'
import { fetchRewardAccounts, fetchRewardPrograms } from './rewards.ts'
import { fetchStock } from './stock.ts'

const [minute, day] = [60, 86_400]

/** This system's middlemen never ask for changes that are older. */
const maxLookbackSeconds = 7 * day

/**
 * What can be pulled from one Retail API, in the order in which one needs the other. `every`: seconds that an operator has chosen, by
 * the name of a sync.
 */
export const buildSyncs = (
  client: Client,
  release: ReleaseReader,
  every: Readonly<Record<string, number>> = {},
): SyncDefinition[] =>
  syncs(client, release).map(sync =>
    Object.hasOwn(every, sync.name) ? { ...sync, intervalSeconds: every[sync.name] ?? sync.intervalSeconds } : sync,
  )

/** As often as the market asks for them (apparel21.md 7.2). A value of a reference that a record has and the cache has not is fetched with the record. */
const syncs = (client: Client, release: ReleaseReader): SyncDefinition[] => [
  { name: 'references', intervalSeconds: day, fetch: request => fetchReferences(client, request) },
  { name: 'stores', intervalSeconds: day, fetch: request => fetchStores(client, request) },
  {
    name: 'products',
    intervalSeconds: day,
    // A run may be a tenth earlier than it has to be; it is not to be one of changes for that.
    fullIntervalSeconds: 0.9 * day,
    fullLists: ['variant', 'product'],
    fetch: request => fetchProducts(client, release, request),
  },
  {
    name: 'stock',
    intervalSeconds: 5 * minute,
    fullIntervalSeconds: day,
    maxLookbackSeconds,
    fullLists: ['stock'],
    fetch: request => fetchStock(client, release, request),
  },
  { name: 'reward-programs', intervalSeconds: day, fetch: request => fetchRewardPrograms(client, request) },
  {
    name: 'customers',
    intervalSeconds: 15 * minute,
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
  { name: 'orders', intervalSeconds: 5 * minute, fetch: request => fetchOrders(client, request) },
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

/** All values of the types that customers and products carry. */
async function* fetchReferences(client: Client, { signal }: SyncRequest): AsyncGenerator<SyncBatch> {
  const book = createReferenceCache(client, signal)
  for (const typeId of (await book.getNames()).keys()) yield { rows: { references: await book.getValues(typeId) } }
}

/** The histories of the customers that are due. */
const fetchTransactions = (client: Client, { settings: { currency }, signal, refreshes }: SyncRequest) =>
  refreshed(refreshes, async ({ id }) => {
    const { rows, rejected } = await fetchHistory(client, id, { currency, signal })
    return { rows: { transactions: rows }, rejected }
  })
