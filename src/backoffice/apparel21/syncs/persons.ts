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
import { createTimestampConverter, trackFetch } from './checkpoint.ts'
import { toExpectedTotal } from './products.ts'

/**
 * Fetches all persons, or the changed ones. Releases before 2022.1 would return all persons as changed, so their incremental sync is idle.
 * Each fetched person becomes due for a refresh by the syncs of transactions and reward accounts.
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
  const buildBatch = createBatchBuilder(client, request)
  const summary: ListSummary = {}
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
    summary,
  )
  for await (const page of pages) {
    for (const person of page) fetched.add(readPersonChangedAt(person, client.connection.timeZone))
    yield buildBatch(page, requestedAt)
  }
  yield { end: { ...fetched.end(), ...toExpectedTotal('customer', summary) } }
}

/** Fetches persons again that changed here while their page was loaded. Missing persons are omitted. */
export async function* refetchPersons(
  client: Client,
  ids: readonly string[],
  request: SyncRequest,
): AsyncGenerator<SyncBatch> {
  const buildBatch = createBatchBuilder(client, request)
  for (const id of ids) {
    const requestedAt = await request.now()
    const person = await fetchPersonById(client, id, request.signal)
    if (person) yield buildBatch([person], requestedAt)
  }
}

/** Creates a function that builds batches of persons, with the reference values that are not stored yet. */
function createBatchBuilder(client: Client, { settings, signal, unknownReferences }: SyncRequest) {
  const references = createReferenceCache(client, signal)
  const convertTimestamp = createTimestampConverter(client, settings)
  return async (persons: readonly Xml[], requestedAt: string): Promise<SyncBatch> => {
    const typeNames = await references.getNamesFor(persons)
    const isLoyal = persons.some(person => findElements(person, 'Loyalties', 'Loyalty').length > 0)
    const loyaltyCodes = isLoyal ? await references.getLoyaltyCodes() : new Map<string, string>()
    const { subscriptionMapping } = settings
    const context = { typeNames, loyaltyCodes, subscriptionMapping }
    const { rows, rejected } = convertRecords(persons, person => ({
      ...parseCustomer(person, context),
      ...convertTimestamp(readPersonChangedAt(person, client.connection.timeZone)),
    }))
    const keys = persons.flatMap(readReferences).map(([type, value]) => ({ type: typeNames.get(type) ?? '', value }))
    const ids = convertRecords(persons, readPersonId).rows
    return {
      requestedAt,
      rows: { references: await references.fetchRows(await unknownReferences(keys)), customers: rows },
      seen: [{ list: 'customer', ids }],
      rejected,
      isSeenIncomplete: ids.length < persons.length,
      removedAccounts: persons.flatMap(buildGoneAccounts),
      dueRefreshes: [
        { sync: 'transactions', due: convertRecords(persons, buildHistoryRefresh).rows },
        { sync: 'reward-accounts', due: persons.flatMap(buildAccountRefreshes) },
      ],
    }
  }
}

/** Returns the identifiers of existing persons. A person whose response can't be read counts as existing. */
export async function findExistingPersons(
  client: Client,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const existing: string[] = []
  for (const id of ids) {
    signal.throwIfAborted()
    const isMissing = await fetchPersonById(client, id, signal).then(
      person => person === undefined,
      error => {
        if (error instanceof ApiError && error.code === 'back_office_error') return false
        throw error
      },
    )
    if (!isMissing) existing.push(id)
  }
  return existing
}
