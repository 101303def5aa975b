import type { SyncBatch, SyncRequest } from '../../../domain/sync/port.ts'
import { ApiError } from '../../../errors/api-error.ts'
import type { Client } from '../client/client.ts'
import { type ListSummary, readPages } from '../client/pagination.ts'
import type { ReleaseReader } from '../client/release.ts'
import {
  buildAccountRefreshes,
  buildGoneAccounts,
  buildHistoryRefresh,
  parseCustomer,
  readPersonChangedAt,
  readPersonId,
} from '../mapping/person-from-xml.ts'
import { readReferences } from '../mapping/references.ts'
import { fetchPersonById } from '../queries/persons.ts'
import { createReferenceCache } from '../queries/reference-cache.ts'
import { convertRecords } from '../xml/invalid-record.ts'
import { findElements, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { trackFetch } from './checkpoint.ts'
import { totalOf } from './products.ts'
import { toldBy } from './reported.ts'

/**
 * All persons, or those that changed: nothing below release 2022.1, which would answer with everybody. Whoever is shown is due a
 * refresh by the syncs of transactions and of reward accounts.
 */
export async function* fetchPersons(
  client: Client,
  release: ReleaseReader,
  request: SyncRequest,
): AsyncGenerator<SyncBatch> {
  const { since, signal } = request
  if (since !== undefined && !(await release.hasOrThrow('personsByChange'))) {
    yield { end: { isIdle: true } }
    return
  }
  const fetched = trackFetch({ ...client.connection, ...client.limits })
  const batchOf = batches(client, request)
  const report: ListSummary = {}
  let requestedAt = ''
  const pages = readPages(
    client,
    {
      endpoint: 'persons',
      path: ['Persons'],
      roots: ['Persons', 'Person'],
      record: 'Person',
      signal,
      query: { UpdatedAfter: since },
      getKey: person => readText(person, 'Id') ?? '',
      async beforePage() {
        requestedAt = await request.now()
      },
    },
    report,
  )
  for await (const page of pages) {
    for (const person of page) fetched.show(readPersonChangedAt(person))
    yield batchOf(page, requestedAt)
  }
  yield { end: { ...fetched.end(), ...totalOf('customer', report) } }
}

/** Persons who were changed here while a page of them came: each as it is now, if there is one. */
export async function* refetchPersons(
  client: Client,
  ids: readonly string[],
  request: SyncRequest,
): AsyncGenerator<SyncBatch> {
  const batchOf = batches(client, request)
  for (const id of ids) {
    const requestedAt = await request.now()
    const person = await fetchPersonById(client, id, request.signal)
    if (person) yield batchOf([person], requestedAt)
  }
}

/** Makes batches of persons, with the values of references that the cache does not have. */
function batches(client: Client, { settings, signal, unknownReferences }: SyncRequest) {
  const book = createReferenceCache(client, signal)
  const told = toldBy(client, settings)
  return async (persons: readonly Xml[], requestedAt: string): Promise<SyncBatch> => {
    const typeNames = await book.getNamesFor(persons)
    const isLoyal = persons.some(person => findElements(person, 'Loyalties', 'Loyalty').length > 0)
    const loyaltyCodes = isLoyal ? await book.getLoyaltyCodes() : new Map<string, string>()
    const { subscriptionMapping } = settings
    const reading = { typeNames, loyaltyCodes, subscriptionMapping }
    const { rows, rejected } = convertRecords(persons, person => ({
      ...parseCustomer(person, reading),
      ...told(readPersonChangedAt(person)),
    }))
    const keys = persons.flatMap(readReferences).map(([type, value]) => ({ type: typeNames.get(type) ?? '', value }))
    const ids = convertRecords(persons, readPersonId).rows
    return {
      requestedAt,
      rows: { references: await book.fetchRows(await unknownReferences(keys)), customers: rows },
      seen: [{ list: 'customer', ids }],
      rejected,
      isSeenIncomplete: ids.length < persons.length,
      removedAccounts: persons.flatMap(buildGoneAccounts),
      refreshes: [
        { sync: 'transactions', due: convertRecords(persons, buildHistoryRefresh).rows },
        { sync: 'reward-accounts', due: persons.flatMap(buildAccountRefreshes) },
      ],
    }
  }
}

/** Which of these persons are there. One whose answer cannot be read is. */
export async function findExistingPersons(
  client: Client,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const there: string[] = []
  for (const id of ids) {
    signal.throwIfAborted()
    const isGone = await fetchPersonById(client, id, signal).then(
      person => person === undefined,
      error => {
        if (error instanceof ApiError && error.code === 'back_office_error') return false
        throw error
      },
    )
    if (!isGone) there.push(id)
  }
  return there
}
