import type { Feed, Portion, PullRequest } from '../../../domain/sync/port.ts'
import type { Client } from '../client/client.ts'
import type { Release } from '../client/release.ts'
import { storeFrom } from '../mapping/stores.ts'
import { historyOf } from '../queries/history.ts'
import { openReferenceBook } from '../queries/reference-cache.ts'
import { translated } from '../xml/untranslatable.ts'
import { pullOrders } from './orders.ts'
import { personsThere, pullPersons, pullPersonsAgain } from './persons.ts'
import { pullProducts } from './products.ts'
import { visited } from './refreshes.ts'
import { pullAccounts, pullPrograms } from './rewards.ts'
import { pullStock } from './stock.ts'

const [minute, day] = [60, 86_400]

/** This system's middlemen never ask for changes that are older. */
const reachSeconds = 7 * day

/**
 * What can be pulled from one Retail API, in the order in which one needs the other. `every`: seconds that an operator has chosen, by
 * the name of a feed.
 */
export const feedsOf = (client: Client, release: Release, every: Readonly<Record<string, number>> = {}): Feed[] =>
  feeds(client, release).map(feed =>
    Object.hasOwn(every, feed.name) ? { ...feed, everySeconds: every[feed.name] ?? feed.everySeconds } : feed,
  )

/** As often as the market asks for them (apparel21.md 7.2). A value of a reference that a record has and the cache has not is fetched with the record. */
const feeds = (client: Client, release: Release): Feed[] => [
  { name: 'references', everySeconds: day, pull: request => pullReferences(client, request) },
  { name: 'stores', everySeconds: day, pull: request => pullStores(client, request) },
  {
    name: 'products',
    everySeconds: day,
    // A run may be a tenth earlier than it has to be; it is not to be one of changes for that.
    fullEverySeconds: 0.9 * day,
    whole: ['variant', 'product'],
    pull: request => pullProducts(client, release, request),
  },
  {
    name: 'stock',
    everySeconds: 5 * minute,
    fullEverySeconds: day,
    reachSeconds,
    whole: ['stock'],
    pull: request => pullStock(client, release, request),
  },
  { name: 'reward-programs', everySeconds: day, pull: request => pullPrograms(client, request) },
  {
    name: 'customers',
    everySeconds: 15 * minute,
    fullEverySeconds: day,
    reachSeconds,
    whole: ['customer'],
    pull: request => pullPersons(client, release, request),
    thoseThere: (ids, signal) => personsThere(client, ids, signal),
    again: (ids, request) => pullPersonsAgain(client, ids, request),
  },
  {
    name: 'reward-accounts',
    everySeconds: 5 * minute,
    revisitSeconds: day,
    pull: request => pullAccounts(client, request),
  },
  {
    name: 'transactions',
    everySeconds: 5 * minute,
    revisitSeconds: day,
    pull: request => pullTransactions(client, request),
  },
  { name: 'orders', everySeconds: 5 * minute, pull: request => pullOrders(client, request) },
]

async function* pullStores(client: Client, { signal }: PullRequest): AsyncGenerator<Portion> {
  const { records } = await client.list({
    endpoint: 'stores',
    path: ['Stores'],
    signal,
    roots: ['Stores', 'Store'],
    record: 'Store',
  })
  const { rows, refused } = translated(await Array.fromAsync(records), storeFrom)
  yield { rows: { stores: rows }, refused }
}

/** All values of the types that customers and products carry. */
async function* pullReferences(client: Client, { signal }: PullRequest): AsyncGenerator<Portion> {
  const book = openReferenceBook(client, signal)
  for (const typeId of (await book.names()).keys()) yield { rows: { references: await book.values(typeId) } }
}

/** The histories of the customers that are due. */
const pullTransactions = (client: Client, { settings: { currency }, signal, visits }: PullRequest) =>
  visited(visits, async ({ id }) => {
    const { rows, refused } = await historyOf(client, id, { currency, signal })
    return { rows: { transactions: rows }, refused }
  })
