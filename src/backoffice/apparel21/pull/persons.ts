import type { Portion, PullRequest } from '../../../domain/port/feed.ts'
import { ApiError } from '../../../errors.ts'
import type { Client } from '../calls/client.ts'
import { pagesOf, type Report } from '../calls/paging.ts'
import type { Release } from '../calls/release.ts'
import { personById } from '../lookup/people.ts'
import { openReferenceBook } from '../lookup/reference-book.ts'
import { accountVisits, changedAt, customerFrom, historyVisit, idOf } from '../records/persons.ts'
import { carried } from '../records/references.ts'
import { translated } from '../xml/untranslatable.ts'
import { every, text } from '../xml/values.ts'
import { followPull } from './mark.ts'
import { totalOf } from './products.ts'
import { toldBy } from './told.ts'

/**
 * All persons, or those that changed: nothing below release 2022.1, which would answer with everybody. Whoever is shown is due a
 * visit by the feeds of transactions and of reward accounts.
 */
export async function* pullPersons(client: Client, release: Release, request: PullRequest): AsyncGenerator<Portion> {
  const { since, settings, signal } = request
  if (since !== undefined && !(await release.has('personsByChange'))) return
  const pull = followPull({ ...client.connection, ...client.limits })
  const book = openReferenceBook(client, signal)
  const told = toldBy(client, settings)
  const report: Report = {}
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
    },
    report,
  )
  for await (const page of pages) {
    const typeNames = await book.namesFor(page)
    const isLoyal = page.some(person => every(person, 'Loyalties', 'Loyalty').length > 0)
    const loyaltyCodes = isLoyal ? await book.loyaltyCodes() : new Map<string, string>()
    const { subscriptionMapping } = settings
    const reading = { typeNames, loyaltyCodes, subscriptionMapping }
    const { rows, refused } = translated(page, person => ({
      ...customerFrom(person, reading),
      ...told(changedAt(person)),
    }))
    const keys = page.flatMap(carried).map(([type, value]) => ({ type: typeNames.get(type) ?? '', value }))
    for (const person of page) pull.show(changedAt(person))
    const ids = translated(page, idOf).rows
    yield {
      rows: { references: await book.missing(await request.unknownReferences(keys)), customers: rows },
      seen: [{ list: 'customer', ids }],
      refused,
      isUnclear: ids.length < page.length,
      visits: [
        { feed: 'transactions', due: translated(page, historyVisit).rows },
        { feed: 'reward-accounts', due: page.flatMap(accountVisits) },
      ],
    }
  }
  yield { end: { ...pull.end(), ...totalOf('customer', report) } }
}

/** Which of these persons are there. One whose answer cannot be read is. */
export async function personsThere(client: Client, ids: readonly string[], signal: AbortSignal): Promise<string[]> {
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
