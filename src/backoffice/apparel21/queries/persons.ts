import type { Db } from '../../../database/db.ts'
import { getReferenceValues } from '../../../domain/customers/changes.ts'
import type { Consent } from '../../../domain/customers/consent.ts'
import { type CustomerChange, getEcommerceIds } from '../../../domain/customers/input.ts'
import { maxReferences } from '../../../domain/customers/references.ts'
import { customerNotFound } from '../../../domain/orders/order-rules.ts'
import type { SyncRows } from '../../../domain/sync/port.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { ApiError, notFound, toApiError } from '../../../errors/api-error.ts'
import { mergeReferences } from '../../../store/catalog/references.ts'
import { knownCustomers } from '../../../store/customers/customers.ts'
import { erasedAmong } from '../../../store/customers/erased.ts'
import { leave } from '../../../store/customers/removal.ts'
import { lockCustomer, putCustomer, type StoredCustomer } from '../../../store/customers/writes.ts'
import { lockReferences } from '../../../store/lists/references.ts'
import { unknownReferences } from '../../../store/sync/lookups.ts'
import type { Write } from '../../../writes/write.ts'
import type { Client } from '../client/client.ts'
import { findRetailApiError, noData } from '../client/retail-api-error.ts'
import { normalizeEmail, parseCustomer, readPersonId } from '../mapping/person-from-xml.ts'
import { readReferences } from '../mapping/references.ts'
import { InvalidRecord } from '../xml/invalid-record.ts'
import { findElements, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { isId } from './is-id.ts'
import type { Upstream } from './upstream.ts'

/** The identifier of a type of reference by the name that it goes by here. */
export async function loadReferenceTypeIds({
  getReferences: referenceBook,
}: Upstream): Promise<ReadonlyMap<string, string>> {
  const names = await (await referenceBook()).getNames()
  return new Map([...names].map(([id, name]) => [name, id]))
}

/** A person; undefined where there is none, or can be none, with this identifier. */
export const fetchPersonById = async (client: Client, id: string, signal?: AbortSignal): Promise<Xml | undefined> =>
  isId(id)
    ? client.document({ endpoint: 'persons', path: ['Persons', id], roots: ['Person'], ...(signal && { signal }) })
    : undefined

/** The person that a customer of ours is; where there is none any more, the customer leaves our list. */
export async function fetchPersonOfCustomer(
  { client }: Upstream,
  { service, learn }: Pick<Write, 'service' | 'learn'>,
  id: string,
) {
  const person = await fetchPersonById(client, id)
  if (!person) await learn(tx => leave(tx, service, [id]))
  return person
}

/** What a write that came to this error is refused for, where it is of somebody whom the back office has no more. */
export async function toCustomerGoneError(
  upstream: Upstream,
  write: Write,
  customerId: string,
  error: unknown,
): Promise<unknown> {
  const isMissing =
    findRetailApiError(error)?.code === noData && !(await fetchPersonOfCustomer(upstream, write, customerId))
  return isMissing ? toApiError([customerNotFound(customerId)]) : error
}

/** The person with an e-mail address, whatever its case; of several the one who was there first. */
export async function fetchPersonByEmail(client: Client, email: string): Promise<Xml | undefined> {
  const { records } = await client.list({
    endpoint: 'persons',
    path: ['Persons'],
    query: { email },
    roots: ['Persons', 'Person'],
    record: 'Person',
  })
  const wanted = normalizeEmail(email)
  const found: Xml[] = []
  for await (const person of records)
    if (normalizeEmail(readText(person, 'Contacts', 'Email') ?? '') === wanted) found.push(person)
  return found.sort((a, b) => Number(readText(a, 'Id')) - Number(readText(b, 'Id')))[0]
}

/** A person as a row of our customers. One that cannot be read is 502. */
async function toCustomerRow({ client, getReferences: referenceBook }: Upstream, service: Service, person: Xml) {
  const book = await referenceBook()
  const isLoyal = findElements(person, 'Loyalties', 'Loyalty').length > 0
  const reading = {
    typeNames: await book.getNamesFor([person]),
    loyaltyCodes: isLoyal ? await book.getLoyaltyCodes() : new Map<string, string>(),
    subscriptionMapping: service.settings.subscriptionMapping,
  }
  try {
    return parseCustomer(person, reading)
  } catch (error) {
    if (!(error instanceof InvalidRecord)) throw error
    client.connection.log?.warn({ reason: error.message }, 'A person cannot be taken.')
    throw new ApiError('back_office_error')
  }
}

/** A person as our tables take it, with the values of references that our cache does not have yet. */
export interface PreparedPerson {
  row: SyncRows['customers']
  references: SyncRows['references'][]
}

/** Asks for all that storing a person needs. */
export async function preparePerson(
  upstream: Upstream,
  { service, read }: Pick<Write, 'service' | 'read'>,
  person: Xml,
): Promise<PreparedPerson> {
  const row = await toCustomerRow(upstream, service, person)
  const book = await upstream.getReferences()
  const names = await book.getNamesFor([person])
  const keys = readReferences(person).map(([type, value]) => ({ type: names.get(type) ?? '', value }))
  const unknown = keys.length ? await read(db => unknownReferences(db, service, keys)) : []
  return { row, references: unknown.length ? await book.fetchRows(unknown) : [] }
}

/** Fetches the values that a change gives a customer and that the cache does not have: they may be new at head office. */
export async function fetchReferenceValues(
  upstream: Upstream,
  { service, learn }: Pick<Write, 'service' | 'learn'>,
  change: CustomerChange,
) {
  const values = getReferenceValues(change, service.settings.subscriptionMapping)
  const keys = values.flatMap(([type, value]) => (/^\d{1,18}$/.test(value) ? [{ type, value }] : []))
  if (!keys.length || keys.length > maxReferences) return
  const unknown = await learn(tx => unknownReferences(tx, service, keys))
  const rows = unknown.length ? await (await upstream.getReferences()).fetchRows(unknown) : []
  if (rows.length) await learn(tx => mergeReferences(tx, service, rows))
}

/** A write, for what is kept here alone: e-commerce identifiers, and the subscriptions that no reference stands for. */
interface LocalChange {
  change: CustomerChange
  /** The consent after it. */
  consent: Consent
}

/**
 * Puts a person into our customers, and holds it; after a write, with what that makes of what is kept here alone. An e-mail address
 * that our tables have with somebody else stays with them. Throws `not_found` for one who was erased here.
 */
export async function storePerson(
  tx: Db,
  service: Service,
  person: PreparedPerson,
  kept?: LocalChange,
): Promise<StoredCustomer> {
  const flags: Partial<Consent> = kept?.consent ?? {}
  const row = { ...person.row, ...getEcommerceIds(kept?.change ?? {}) }
  if ((await erasedAmong(tx, service, [row.id])).size) throw notFound('customer')
  if (person.references.length) await mergeReferences(tx, service, person.references)
  const { email: mappedEmail, sms: mappedSms } = service.settings.subscriptionMapping
  // Privacy at the head office ends every subscription.
  if (row.privacy === false && !mappedEmail && flags.emailSubscription !== undefined)
    row.emailSubscription = flags.emailSubscription
  if (row.privacy === false && !mappedSms && flags.smsSubscription !== undefined)
    row.smsSubscription = flags.smsSubscription
  await lockReferences(tx, service, [row])
  const isPut = await putCustomer(tx, service, row)
  if (!isPut) await putCustomer(tx, service, { ...row, email: null })
  const stored = await lockCustomer(tx, service, row.id)
  if (!stored) throw new Error('a customer that was put in is there')
  return stored
}

/** Whether somebody is a customer here; one that the back office alone knows becomes one. */
export async function ensureCustomer(
  upstream: Upstream,
  { service, read, learn }: Pick<Write, 'service' | 'read' | 'learn'>,
  id: string,
): Promise<boolean> {
  const [known] = await read(db => knownCustomers(db, service, [id]))
  if (known) return true
  if ((await read(db => erasedAmong(db, service, [id]))).size) return false
  const person = await fetchPersonById(upstream.client, id)
  if (!person || readPersonId(person) !== id) return false
  const ready = await preparePerson(upstream, { service, read }, person)
  await learn(tx => storePerson(tx, service, ready))
  return true
}
