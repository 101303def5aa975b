import type { SyncBatch, SyncRequest } from '../../../domain/sync/port.ts'
import { ApiError } from '../../../errors/api-error.ts'
import type { Client } from '../client/client.ts'
import { pagesOf, type Report } from '../client/pagination.ts'
import type { Release } from '../client/release.ts'
import {
  accountRefreshes,
  accountsHad,
  changedAt,
  customerFrom,
  historyRefresh,
  idOf,
} from '../mapping/person-from-xml.ts'
import { carried } from '../mapping/references.ts'
import { personById } from '../queries/persons.ts'
import { openReferenceBook } from '../queries/reference-cache.ts'
import { translated } from '../xml/untranslatable.ts'
import { every, text } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { trackFetch } from './checkpoint.ts'
import { totalOf } from './products.ts'
import { toldBy } from './reported.ts'

/**
 * All persons, or those that changed: nothing below release 2022.1, which would answer with everybody. Whoever is shown is due a
 * refresh by the syncs of transactions and of reward accounts.
 */
export async function* fetchPersons(client: Client, release: Release, request: SyncRequest): AsyncGenerator<SyncBatch> {
  const { since, signal } = request
  if (since !== undefined && !(await release.surelyHas('personsByChange'))) {
    yield { end: { isIdle: true } }
    return
  }
  const fetched = trackFetch({ ...client.connection, ...client.limits })
  const batchOf = batches(client, request)
  const report: Report = {}
  let requestedAt = ''
  const pages = pagesOf(
    client,
    {
      endpoint: 'persons',
      path: ['Persons'],
      roots: ['Persons', 'Person'],
      record: 'Person',
      signal,
      query: { UpdatedAfter: since },
      keyOf: person => text(person, 'Id') ?? '',
      async beforePage() {
        requestedAt = await request.now()
      },
    },
    report,
  )
  for await (const page of pages) {
    for (const person of page) fetched.show(changedAt(person))
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
    const person = await personById(client, id, request.signal)
    if (person) yield batchOf([person], requestedAt)
  }
}

/** Makes batches of persons, with the values of references that the cache does not have. */
function batches(client: Client, { settings, signal, unknownReferences }: SyncRequest) {
  const book = openReferenceBook(client, signal)
  const told = toldBy(client, settings)
  return async (persons: readonly Xml[], requestedAt: string): Promise<SyncBatch> => {
    const typeNames = await book.namesFor(persons)
    const isLoyal = persons.some(person => every(person, 'Loyalties', 'Loyalty').length > 0)
    const loyaltyCodes = isLoyal ? await book.loyaltyCodes() : new Map<string, string>()
    const { subscriptionMapping } = settings
    const reading = { typeNames, loyaltyCodes, subscriptionMapping }
    const { rows, rejected } = translated(persons, person => ({
      ...customerFrom(person, reading),
      ...told(changedAt(person)),
    }))
    const keys = persons.flatMap(carried).map(([type, value]) => ({ type: typeNames.get(type) ?? '', value }))
    const ids = translated(persons, idOf).rows
    return {
      requestedAt,
      rows: { references: await book.missing(await unknownReferences(keys)), customers: rows },
      seen: [{ list: 'customer', ids }],
      rejected,
      isSeenIncomplete: ids.length < persons.length,
      removedAccounts: persons.flatMap(accountsHad),
      refreshes: [
        { sync: 'transactions', due: translated(persons, historyRefresh).rows },
        { sync: 'reward-accounts', due: persons.flatMap(accountRefreshes) },
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
    const isGone = await personById(client, id, signal).then(
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
