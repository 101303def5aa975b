import { type CustomerState, type JudgedChange, judgeChange } from '../../domain/customers/change.ts'
import { consentChanges } from '../../domain/customers/consent.ts'
import {
  type CustomerChange,
  type CustomerInput,
  type CustomerWrites,
  emailTaken,
  isOursAlone,
  withoutNulls,
} from '../../domain/customers/input.ts'
import { type KnownReferences, pointerTo } from '../../domain/customers/references.ts'
import type { Write } from '../../domain/write.ts'
import { ApiError } from '../../errors.ts'
import { refuse } from '../../refuse.ts'
import { isCreatedHere, recordConsent } from '../../store/customers/consent.ts'
import { customerWithEmail } from '../../store/customers/customers.ts'
import { lockReferencesOf } from '../../store/customers/references-written.ts'
import { holdEmail, lockCustomer } from '../../store/customers/writes.ts'
import type { Client } from './calls/client.ts'
import { afterEffect, effect } from './calls/effect.ts'
import { refusalBehind } from './calls/refusal.ts'
import { personByEmail, personById, referenceTypeIds, rowOf, storePerson } from './lookup/people.ts'
import type { Upstream } from './lookup/upstream.ts'
import { changedPerson, faultsOfLength, newPerson, type PersonOutcome } from './records/person-write.ts'
import { idOf } from './records/persons.ts'
import { isWhatWasAsked } from './records/same-person.ts'
import type { Xml } from './xml/xml.ts'

/** How often a change is tried that somebody at the head office gets ahead of. */
const mostTries = 3
/** The person was updated by somebody else since it was read. */
const updatedMeanwhile = 5010

/** Customers as the back office's persons. What is answered, and stored here, is what it has when the write is done. */
export const customerWrites = (upstream: Upstream): CustomerWrites => ({
  async createCustomer(write, given) {
    const { tx, service } = write
    const input = withoutNulls(given)
    const judged = judge(write, input, undefined, await lockReferencesOf(write, input))
    await holdEmail(tx, service, input.contact.email)
    const person = (await earlierAttempt(upstream, write, input, judged)) ?? (await create(upstream, input, judged))
    return afterEffect(async () => {
      const { id, record, consent } = await storePerson(upstream, write, person, { change: input, ...judged })
      await recordConsent(write, id, consentChanges(undefined, consent))
      return { id, record, warnings: judged.warnings }
    })
  },

  async updateCustomer(write, id, change) {
    const { client } = upstream
    const known = await lockReferencesOf(write, change)
    await lockCustomer(write.tx, write.service, id)
    for (let tries = 1; ; tries++) {
      const person = await personById(client, id)
      if (!person || idOf(person) !== id) return
      const before = await storePerson(upstream, write, person)
      write.requireMatch(before.record)
      const judged = judge(write, change, before, known)
      // Nothing of it is the back office's, which would also lose the person's password over a change.
      if (isOursAlone(change)) {
        const { record } = await storePerson(upstream, write, person, { change, ...judged })
        return { id, record, warnings: [] }
      }
      const body = changedPerson(person, change, await outcomeOf(upstream, change, judged))
      try {
        await effect(client, { endpoint: 'persons', method: 'PUT', path: ['Persons', id], body })
      } catch (error) {
        if (refusalBehind(error)?.code !== updatedMeanwhile || tries === mostTries) throw error
        continue
      }
      return afterEffect(async () => {
        const { record, consent } = await storePerson(upstream, write, await made(client, id), { change, ...judged })
        await recordConsent(write, id, consentChanges(before.consent, consent))
        return { id, record, warnings: judged.warnings }
      })
    }
  },
})

/** Judges a change; throws all that is wrong with it. */
function judge(
  { service: { settings } }: Write,
  change: CustomerChange,
  before: CustomerState | undefined,
  known: KnownReferences,
): JudgedChange {
  const today = Temporal.Now.plainDateISO(settings.timeZone).toString()
  const judged = judgeChange(change, before, known, settings, today)
  refuse([...judged.faults, ...faultsOfLength(change)])
  return judged
}

/** What a change makes of the person, in the back office's own terms. Throws where it has no such type of reference. */
async function outcomeOf(
  upstream: Upstream,
  change: CustomerChange,
  { consent, chosen }: JudgedChange,
): Promise<PersonOutcome> {
  if (chosen.size === 0) return { privacy: consent.privacy, references: new Map() }
  const typeIds = await referenceTypeIds(upstream)
  const unknown = [...chosen].flatMap(([type, value]) => (value !== null && !typeIds.has(type) ? [type] : []))
  const detail = 'The back office has no such type of reference.'
  refuse(
    unknown
      .filter(type => Object.hasOwn(change.references ?? {}, type))
      .map(type => ({ pointer: pointerTo(type), code: 'invalid_field', detail })),
  )
  if (unknown.length) {
    upstream.client.connection.log?.warn(
      { types: unknown },
      'The subscription mapping names types that the back office lacks.',
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
 * The person that an earlier attempt to create this customer has made, whose outcome nobody knew, or who was killed on the way;
 * undefined where nobody has the e-mail address. Throws `email_taken` where somebody else has it.
 */
async function earlierAttempt(upstream: Upstream, write: Write, input: CustomerInput, judged: JudgedChange) {
  const { tx, service } = write
  const { client } = upstream
  const { email } = input.contact
  const ownerHere = async () => (await customerWithEmail(tx, service, email))?.id
  const owner = await ownerHere()
  if (owner !== undefined && (await isCreatedHere(tx, service, owner))) throw emailTaken(owner)
  const found = await personByEmail(client, email)
  const foundId = found && idOf(found)
  if (owner !== undefined && owner !== foundId) {
    // The address may have been taken from that customer since our tables were told.
    const person = await personById(client, owner)
    if (person) await storePerson(upstream, write, person)
    const still = await ownerHere()
    if (still !== undefined) throw emailTaken(still)
  }
  if (!found || foundId === undefined) return
  const row = await rowOf(upstream, service, found)
  if (!isWhatWasAsked(row, input, judged, today(client).subtract({ days: 1 }).toString())) throw emailTaken(foundId)
  return found
}

/** The day at the head office. */
const today = ({ connection }: Client) => Temporal.Now.plainDateISO(connection.timeZone)

async function create(upstream: Upstream, input: CustomerInput, judged: JudgedChange): Promise<Xml> {
  const { client } = upstream
  const body = newPerson(input, await outcomeOf(upstream, input, judged), today(client).toString())
  const { id } = await effect(client, { endpoint: 'persons', method: 'POST', path: ['Persons'], body })
  return afterEffect(() => made(client, id, input.contact.email))
}

/** A person that was just written, as the back office has it. */
async function made(client: Client, id: string | undefined, email = ''): Promise<Xml> {
  const person = id === undefined ? await personByEmail(client, email) : await personById(client, id)
  if (!person) throw new ApiError('back_office_error')
  return person
}
