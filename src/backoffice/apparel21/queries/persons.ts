import type { Db } from '../../../database/db.ts'
import { getReferenceValues } from '../../../domain/customers/changes.ts'
import type { Consent } from '../../../domain/customers/consent.ts'
import { type CustomerChange, getEcommerceIds } from '../../../domain/customers/input.ts'
import { maxReferences } from '../../../domain/customers/references.ts'
import { customerNotFound } from '../../../domain/orders/order-rules.ts'
import type { SyncRows } from '../../../domain/sync/port.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { ApiError, notFound, toApiError } from '../../../errors/api-error.ts'
import { findUnknownReferences, mergeReferences } from '../../../store/catalog/references.ts'
import { findCustomersById } from '../../../store/customers/customers.ts'
import { findErased } from '../../../store/customers/erased.ts'
import { removeCustomers } from '../../../store/customers/removal.ts'
import { lockCustomer, type StoredCustomer, upsertCustomer } from '../../../store/customers/writes.ts'
import { lockReferences } from '../../../store/lists/references.ts'
import type { Write } from '../../../writes/write.ts'
import type { Client } from '../client/client.ts'
import { isId } from '../client/request.ts'
import { findRetailApiError, noData } from '../client/retail-api-error.ts'
import { normalizeEmail, parseCustomer, readPersonId } from '../mapping/person-from-xml.ts'
import { readReferences } from '../mapping/references.ts'
import { InvalidRecord } from '../xml/invalid-record.ts'
import { findElements, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import type { Upstream } from './upstream.ts'

/** Returns the identifiers of reference types by name. */
export async function loadReferenceTypeIds({ getReferences }: Upstream): Promise<ReadonlyMap<string, string>> {
  const names = await (await getReferences()).getNames()
  return new Map([...names].map(([id, name]) => [name, id]))
}

/** Fetches a person. Returns undefined if the person doesn't exist or the identifier is invalid. */
export const fetchPersonById = async (client: Client, id: string, signal?: AbortSignal): Promise<Xml | undefined> =>
  isId(id)
    ? client.document({ endpoint: 'persons', path: ['Persons', id], roots: ['Person'], ...(signal && { signal }) })
    : undefined

/** Fetches the person of a stored customer. If the person no longer exists, the customer gets a tombstone. */
export async function fetchPersonOfCustomer(
  { client }: Upstream,
  { service, recordFact }: Pick<Write, 'service' | 'recordFact'>,
  id: string,
) {
  const person = await fetchPersonById(client, id)
  if (!person) await recordFact(tx => removeCustomers(tx, service, [id]))
  return person
}

/** Returns "customer not found" if the write failed because the person no longer exists. Otherwise returns the error. */
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

/** Fetches the person with an email address, which is not case-sensitive. If several have it, returns the oldest. */
export async function fetchPersonByEmail(client: Client, email: string): Promise<Xml | undefined> {
  const { records } = await client.list({
    endpoint: 'persons',
    path: ['Persons'],
    query: { email },
    roots: ['Persons', 'Person'],
    record: 'Person',
  })
  const normalized = normalizeEmail(email)
  const matches: Xml[] = []
  for await (const person of records)
    if (normalizeEmail(readText(person, 'Contacts', 'Email') ?? '') === normalized) matches.push(person)
  return matches.sort((a, b) => Number(readText(a, 'Id')) - Number(readText(b, 'Id')))[0]
}

/** Converts a person into a customer row. Throws 502 `back_office_error` if the person is malformed. */
async function toCustomerRow({ client, getReferences }: Upstream, service: Service, person: Xml) {
  const references = await getReferences()
  const isLoyal = findElements(person, 'Loyalties', 'Loyalty').length > 0
  const context = {
    typeNames: await references.getNamesFor([person]),
    loyaltyCodes: isLoyal ? await references.getLoyaltyCodes() : new Map<string, string>(),
    subscriptionMapping: service.settings.subscriptionMapping,
  }
  try {
    return parseCustomer(person, context)
  } catch (error) {
    if (!(error instanceof InvalidRecord)) throw error
    client.connection.log?.warn({ reason: error.message }, 'person rejected')
    throw new ApiError('back_office_error')
  }
}

/** A person that is ready to be stored, with the reference values that are not stored yet. */
export interface PreparedPerson {
  row: SyncRows['customers']
  references: SyncRows['references'][]
}

/** Fetches everything that is needed to store a person. */
export async function preparePerson(
  upstream: Upstream,
  { service, read }: Pick<Write, 'service' | 'read'>,
  person: Xml,
): Promise<PreparedPerson> {
  const row = await toCustomerRow(upstream, service, person)
  const references = await upstream.getReferences()
  const names = await references.getNamesFor([person])
  const keys = readReferences(person).map(([type, value]) => ({ type: names.get(type) ?? '', value }))
  const unknown = keys.length ? await read(db => findUnknownReferences(db, service, keys)) : []
  return { row, references: unknown.length ? await references.fetchRows(unknown) : [] }
}

/** Fetches the reference values of a change that are not stored yet, because they may be new in the back office. */
export async function fetchReferenceValues(
  upstream: Upstream,
  { service, recordFact }: Pick<Write, 'service' | 'recordFact'>,
  change: CustomerChange,
) {
  const values = getReferenceValues(change, service.settings.subscriptionMapping)
  const keys = values.flatMap(([type, value]) => (/^\d{1,18}$/.test(value) ? [{ type, value }] : []))
  if (!keys.length || keys.length > maxReferences) return
  const unknown = await recordFact(tx => findUnknownReferences(tx, service, keys))
  const rows = unknown.length ? await (await upstream.getReferences()).fetchRows(unknown) : []
  if (rows.length) await recordFact(tx => mergeReferences(tx, service, rows))
}

/** A write that changes fields which only Tillbridge stores: platform identifiers, and subscriptions without a mapped reference. */
interface LocalChange {
  change: CustomerChange
  /** The consent after the change. */
  consent: Consent
}

/**
 * Stores a person as a customer and locks the row. `localChange` sets the fields that only Tillbridge stores. If another stored customer
 * has the email address, it stays with that customer. Throws `not_found` if the customer was erased.
 */
export async function storePerson(
  tx: Db,
  service: Service,
  person: PreparedPerson,
  localChange?: LocalChange,
): Promise<StoredCustomer> {
  const flags: Partial<Consent> = localChange?.consent ?? {}
  const row = { ...person.row, ...getEcommerceIds(localChange?.change ?? {}) }
  if ((await findErased(tx, service, [row.id])).size) throw notFound('customer')
  if (person.references.length) await mergeReferences(tx, service, person.references)
  const { email: mappedEmail, sms: mappedSms } = service.settings.subscriptionMapping
  // Privacy in the back office ends every subscription.
  if (row.privacy === false && !mappedEmail && flags.emailSubscription !== undefined)
    row.emailSubscription = flags.emailSubscription
  if (row.privacy === false && !mappedSms && flags.smsSubscription !== undefined)
    row.smsSubscription = flags.smsSubscription
  await lockReferences(tx, service, [row])
  const isPut = await upsertCustomer(tx, service, row)
  if (!isPut) await upsertCustomer(tx, service, { ...row, email: null })
  const stored = await lockCustomer(tx, service, row.id)
  if (!stored) throw new Error(`customer ${row.id} is missing after its upsert`)
  return stored
}

/** True if a customer exists. A person that only the back office has is stored as a customer first. */
export async function ensureCustomer(
  upstream: Upstream,
  { service, read, recordFact }: Pick<Write, 'service' | 'read' | 'recordFact'>,
  id: string,
): Promise<boolean> {
  const [stored] = await read(db => findCustomersById(db, service, [id]))
  if (stored) return true
  if ((await read(db => findErased(db, service, [id]))).size) return false
  const person = await fetchPersonById(upstream.client, id)
  if (!person || readPersonId(person) !== id) return false
  const ready = await preparePerson(upstream, { service, read }, person)
  await recordFact(tx => storePerson(tx, service, ready))
  return true
}
