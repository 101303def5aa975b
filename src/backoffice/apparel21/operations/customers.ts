import type { Db } from '../../../database/db.ts'
import { type CustomerState, type ValidatedChange, validateCustomerChange } from '../../../domain/customers/changes.ts'
import { type Consent, getConsentChanges } from '../../../domain/customers/consent.ts'
import {
  type CustomerChange,
  type CustomerInput,
  changesOnlyEcommerceIds,
  createEmailTaken,
  withoutNulls,
} from '../../../domain/customers/input.ts'
import { getReferencePointer, type ReferenceLookup } from '../../../domain/customers/references.ts'
import { omitUnchanged } from '../../../domain/values/unchanged-fields.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { throwIfAny } from '../../../errors/throw-if-any.ts'
import { isCreatedHere, recordConsent } from '../../../store/customers/consent.ts'
import { findCustomerByEmail } from '../../../store/customers/customers.ts'
import { findErased } from '../../../store/customers/erased.ts'
import { lockSettableReferences } from '../../../store/customers/reference-locks.ts'
import { lockCustomer } from '../../../store/customers/writes.ts'
import { lockReferences } from '../../../store/lists/references.ts'
import { erase } from '../../../store/privacy/erasure.ts'
import type { WithTransaction, Write } from '../../../writes/write.ts'
import type { CustomerWrites } from '../../port/customers.ts'
import type { Client } from '../client/client.ts'
import { createRejection } from '../client/errors.ts'
import { performWrite } from '../client/perform-write.ts'
import { emailTaken, findRetailApiError } from '../client/retail-api-error.ts'
import { normalizeEmail, readPersonId } from '../mapping/person-from-xml.ts'
import {
  buildChangedPerson,
  buildDryRunPerson,
  buildNewPerson,
  checkLengths,
  type ResolvedChange,
} from '../mapping/person-to-xml.ts'
import { isChangeApplied, isCreatedByAttempt } from '../mapping/same-person.ts'
import {
  fetchPersonByEmail,
  fetchPersonById,
  fetchPersonOfCustomer,
  fetchReferenceValues,
  loadReferenceTypeIds,
  type PreparedPerson,
  preparePerson,
  storePerson,
} from '../queries/persons.ts'
import type { Upstream } from '../queries/upstream.ts'
import { readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { pointToTooLongText } from './error-pointers.ts'

/** The reason for which a customer of the back office can't be erased here. */
export const noErasureReason =
  "The Retail API can't erase a person. Erase the person in the back office first, then here."

/** Attempts of a change that conflicts with a concurrent change in the back office. */
const maxAttempts = 3
/** The Retail API's code for an update of a person without an email address. */
const emailRequired = 5004
/** The Retail API's code for a person that was updated since it was read. */
const updatedByOther = 5010

/** Writes customers as persons of the back office. The response and the stored customer are read back after the write. */
export const createCustomerWrites = (upstream: Upstream): CustomerWrites => ({
  async createCustomer(write, body) {
    const { service, stage } = write
    const input = withoutNulls(body)
    await fetchReferenceValues(upstream, write, input)
    const validated = await stage(
      async tx => validateChange(write, input, undefined, await lockSettableReferences(tx, service, input)),
      {
        names: [`e-mail ${normalizeEmail(input.contact.email)}`],
      },
    )
    // If an earlier attempt is in doubt, look for its person before rejecting the retry.
    if (!write.previouslyInDoubt()) throwIfAny(validated.errors)
    const person =
      (await findEarlierPerson(upstream, write, input, validated)) ??
      (await createPerson(upstream, write, input, validated))
    const ready = await preparePerson(upstream, write, person)
    return tx => storeWrittenPerson({ ...write, tx }, ready, { change: input, ...validated }, undefined)
  },

  eraseCustomer: (write, id) => eraseCustomer(upstream, write, id),

  async updateCustomer(write, id, change) {
    const { client } = upstream
    const { service, stage } = write
    // Only reserves the name, so that this write waits for another write of the customer.
    await stage(async () => {}, { names: [`customer ${id}`] })
    await fetchReferenceValues(upstream, write, change)
    for (let attempt = 1; ; attempt++) {
      const person = await fetchPersonOfCustomer(upstream, write, id)
      if (!person || readPersonId(person) !== id) return async () => undefined
      const ready = await preparePerson(upstream, write, person)
      const { lastStored, before, validated } = await stage(async tx => {
        const references = await lockSettableReferences(tx, service, change)
        // Lock order: references before the customer.
        await lockReferences(tx, service, [ready.row])
        const locked = await lockCustomer(tx, service, id)
        const refreshed = await storePerson(tx, service, ready)
        write.requireMatch(refreshed.record)
        return {
          lastStored: locked,
          before: refreshed,
          validated: validateChange(write, change, refreshed, references),
        }
      })
      // Recovery of an in-doubt write: if the person has the requested values, the write was applied. The consent before the write is then
      // the one that was stored last, because the person already has the new one.
      if (write.isRecovering && isChangeApplied(ready.row, change, validated))
        return tx => storeWrittenPerson({ ...write, tx }, ready, { change, ...validated }, lastStored?.consent)
      throwIfAny(validated.errors)
      // Send nothing if the back office has none of the changed fields, because an update clears the person's password.
      if (changesOnlyEcommerceIds(change))
        return async tx => {
          const { record } = await storePerson(tx, service, ready, { change, ...validated })
          return { id, record, warnings: [] }
        }
      const body = buildChangedPerson(person, change, await resolveChange(upstream, change, validated))
      try {
        await performWrite(client, write, { endpoint: 'persons', method: 'PUT', path: ['Persons', id], body })
      } catch (error) {
        if (findRetailApiError(error)?.code !== updatedByOther || attempt === maxAttempts)
          throw pointToTooLongText(error, change)
        continue
      }
      const now = write.isDryRun
        ? await buildDryRunPerson(body, person, id)
        : requireWritten(await fetchPersonById(client, id))
      if (write.isDryRun) await checkEmail(client, now, change)
      const changed = await preparePerson(upstream, write, now)
      return tx => storeWrittenPerson({ ...write, tx }, changed, { change, ...validated }, before.consent)
    }
  },
})

/** For dry runs, which send no person. Throws if the person has no email address, or the new one of another person. */
async function checkEmail(client: Client, person: Xml, change: CustomerChange) {
  const email = readText(person, 'Contacts', 'Email')
  if (!email) throw createRejection('persons', emailRequired)
  if (typeof change.contact?.email !== 'string') return
  const owner = await fetchPersonByEmail(client, email)
  if (owner && readPersonId(owner) !== readPersonId(person)) throw createRejection('persons', emailTaken)
}

/** Erases a customer who no longer exists in the back office. Throws if the person exists, because the next sync would restore them. */
async function eraseCustomer(
  upstream: Upstream,
  write: Pick<Write, 'service' | 'recordFact' | 'requireMatch'>,
  id: string,
) {
  if (await fetchPersonOfCustomer(upstream, write, id)) throw new ApiError('capability_unavailable', noErasureReason)
  return (tx: Db) => erase(tx, write.service, id, write.requireMatch)
}

/** Stores a written person and records the changes of consent. `before`: the consent before the write, undefined for a new customer. */
async function storeWrittenPerson(
  write: WithTransaction,
  person: PreparedPerson,
  written: ValidatedChange & { change: CustomerChange },
  before: Consent | undefined,
) {
  const { tx, service } = write
  await lockSettableReferences(tx, service, written.change)
  const { id, record, consent } = await storePerson(tx, service, person, written)
  await recordConsent(tx, service, write, id, getConsentChanges(before, consent))
  return { id, record, warnings: written.warnings }
}

/** Validates a change by the rules of the API and of the back office. */
function validateChange(
  { service: { settings } }: Write,
  change: CustomerChange,
  before: CustomerState | undefined,
  references: ReferenceLookup,
): ValidatedChange {
  const today = Temporal.Now.plainDateISO(settings.timeZone).toString()
  const validated = validateCustomerChange(change, before, references, settings, today)
  const tooLong = omitUnchanged(checkLengths(change), change, before && JSON.parse(before.record))
  return { ...validated, errors: [...validated.errors, ...tooLong] }
}

/** Resolves consent and references to the back office's identifiers. Throws if the back office lacks a reference type. */
async function resolveChange(
  upstream: Upstream,
  change: CustomerChange,
  { consent, chosen }: ValidatedChange,
): Promise<ResolvedChange> {
  if (chosen.size === 0) return { privacy: consent.privacy, references: new Map() }
  const typeIds = await loadReferenceTypeIds(upstream)
  const unknown = [...chosen].flatMap(([type, value]) => (value !== null && !typeIds.has(type) ? [type] : []))
  const detail = "The back office doesn't have this reference type."
  throwIfAny(
    unknown
      .filter(type => Object.hasOwn(change.references ?? {}, type))
      .map(type => ({ pointer: getReferencePointer(type), code: 'invalid_field', detail })),
  )
  if (unknown.length) {
    upstream.client.connection.log?.warn(
      { types: unknown },
      'subscription mapping names reference types that the back office lacks',
    )
    throw new ApiError('back_office_error')
  }
  const references = [...chosen].flatMap(([type, value]): [string, string | null][] => {
    const id = typeIds.get(type)
    return id === undefined ? [] : [[id, value]]
  })
  return { privacy: consent.privacy, references: new Map(references) }
}

/**
 * Returns the person that an earlier, in-doubt attempt to create this customer has created. Returns undefined if no person has the
 * email address. Throws `email_taken` if another person has it; that person is stored as a customer.
 */
async function findEarlierPerson(upstream: Upstream, write: Write, input: CustomerInput, validated: ValidatedChange) {
  const { service, read, recordFact } = write
  const { client } = upstream
  const { email } = input.contact
  const owner = await findStoredOwner(write, email)
  // A committed write has created this customer, so an attempt in doubt hasn't.
  if (owner?.isCreatedHere && (await fetchPersonOfCustomer(upstream, write, owner.id))) throw createEmailTaken(owner.id)
  const person = await fetchPersonByEmail(client, email)
  const personId = person && readPersonId(person)
  if (owner && owner.id !== personId) await rejectCurrentOwner(upstream, write, owner.id, email)
  if (!person || personId === undefined) return
  // An erased customer must not be restored, and the error must not reveal their identifier.
  if ((await read(db => findErased(db, service, [personId]))).size) throw createEmailTaken(undefined)
  const ready = await preparePerson(upstream, write, person)
  // The attempt may have created the person before midnight.
  const sinceDay = getToday(client).subtract({ days: 1 }).toString()
  if (isCreatedByAttempt(ready.row, input, validated, sinceDay)) return person
  await recordFact(tx => storePerson(tx, service, ready))
  throw createEmailTaken(personId)
}

/** Returns the stored customer with an email address. `isCreatedHere`: a committed write of Tillbridge created the customer. */
const findStoredOwner = ({ service, stage }: Write, email: string) =>
  stage(async tx => {
    const owner = await findCustomerByEmail(tx, service, email)
    return owner && { id: owner.id, isCreatedHere: await isCreatedHere(tx, service, owner.id) }
  })

/**
 * Throws `email_taken` if a stored customer still has the email address after being refreshed from the back office. The stored customer may be
 * out of date: the address may have been removed, or the customer deleted.
 */
async function rejectCurrentOwner(upstream: Upstream, write: Write, ownerId: string, email: string) {
  const person = await fetchPersonOfCustomer(upstream, write, ownerId)
  if (person) {
    const ready = await preparePerson(upstream, write, person)
    await write.recordFact(tx => storePerson(tx, write.service, ready))
  }
  const currentOwner = await findStoredOwner(write, email)
  if (currentOwner) throw createEmailTaken(currentOwner.id)
}

/** Returns the current date in the back office's time zone. */
const getToday = ({ connection }: Client) => Temporal.Now.plainDateISO(connection.timeZone)

async function createPerson(
  upstream: Upstream,
  write: Write,
  input: CustomerInput,
  validated: ValidatedChange,
): Promise<Xml> {
  const { client } = upstream
  throwIfAny(validated.errors)
  const body = buildNewPerson(input, await resolveChange(upstream, input, validated), getToday(client).toString())
  const { id } = await performWrite(client, write, {
    endpoint: 'persons',
    method: 'POST',
    path: ['Persons'],
    body,
  }).catch(error => {
    throw pointToTooLongText(error, input)
  })
  if (write.isDryRun) return buildDryRunPerson(body, undefined, write.reference)
  return requireWritten(
    id === undefined ? await fetchPersonByEmail(client, input.contact.email) : await fetchPersonById(client, id),
  )
}

/** Returns a person that was read back after a write. Throws `back_office_error` if the back office didn't find it. */
function requireWritten(person: Xml | undefined): Xml {
  if (!person) throw new ApiError('back_office_error')
  return person
}
