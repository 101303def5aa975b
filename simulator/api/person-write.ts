import { created, ok } from '../http/answers.ts'
import { createRejection } from '../http/errors.ts'
import { type ApiRequest, whole } from '../http/request.ts'
import type { Handler } from '../http/router.ts'
import { australianText, second, type Wall } from '../shop/clock.ts'
import type { Person } from '../shop/records.ts'
import { next } from '../shop/shop.ts'
import { has, type World } from '../world/world.ts'
import { shape } from '../xml/order.ts'
import { at, every, type Payload, textAt } from '../xml/payload.ts'
import { mergeCustomData, readCustomData } from './custom-data.ts'
import { loyaltiesAfter } from './loyalties.ts'
import { isEmptyAddress } from './person-xml.ts'
import { personOf, today } from './persons.ts'
import { addresses, addressFrom, contacts, contactsFrom, dayOf, flag, posted, text } from './posted.ts'
import { openAccount } from './reward-writes.ts'

// The tables and the samples of the guide put Privacy and UpdateTimeStamp the other way round.
const personShape = shape(
  'Id Code Title Initials Firstname Surname Sex DateOfBirth StartDate JobTitle Password|UpdateTimeStamp|Privacy DocketNumber|RewardProgramId References CustomData|IsAgent Addresses Contacts Currency Loyalties RewardsAccounts',
  {
    References: shape('Reference', { Reference: shape('ReferenceTypeId Id') }),
    CustomData: shape('Cards', {
      Cards: shape('Card', {
        Card: shape('Fields', {
          Fields: shape('Field', { Field: shape('ListValues', { ListValues: shape('Value') }) }),
        }),
      }),
    }),
    Addresses: addresses,
    Contacts: contacts,
    Loyalties: shape('Loyalty', {
      Loyalty: shape('Id LoyaltyTypeId LoyaltyType CardNo Expiry Balance CreditStatus Message JoinDate StatusId'),
    }),
  },
)

function referencesFrom(payload: Payload, { shop, settings }: World): Map<number, number> {
  const references = new Map<number, number>()
  for (const reference of every(at(payload, 'References'), 'Reference')) {
    const [typeText = '', idText = ''] = [textAt(reference, 'ReferenceTypeId'), textAt(reference, 'Id')]
    if (idText === '') continue
    const [typeId, id] = [whole(typeText), whole(idText)]
    if (typeId === undefined || id === undefined) throw createRejection(5109, { detail: `${typeText} ${idText}` })
    const type = shop.referenceTypes.get(typeId)
    if (type?.of === 'person' && type.references.has(id)) references.set(typeId, id)
    else if ([...shop.referenceTypes.values()].some(other => other.references.has(id)))
      throw createRejection(5090, { detail: idText })
    else throw createRejection(5089, { detail: idText })
  }
  for (const typeId of settings.mandatoryPersonReferences)
    if (!references.has(typeId)) throw createRejection(5091, { detail: String(typeId) })
  return references
}

type Written = Omit<
  Person,
  'id' | 'code' | 'updated' | 'customData' | 'currency' | 'joinedStoreId' | 'retailRep' | 'loyalties'
>

/** Reads a person from a payload. Missing fields become empty: no stored value is kept. */
function personFrom(payload: Payload, world: World): Written {
  const firstname = text(payload, 'Firstname', 20)
  const surname = text(payload, 'Surname', 20)
  if (!surname) throw createRejection(5000)
  if (!firstname) throw createRejection(5001)
  const sex = text(payload, 'Sex', 2)
  return {
    firstname,
    surname,
    sex,
    ...contactsFrom(at(payload, 'Contacts')),
    title: text(payload, 'Title', 10),
    initials: text(payload, 'Initials', 6),
    dateOfBirth: dayOf(payload, 'DateOfBirth'),
    startDate: dayOf(payload, 'StartDate'),
    jobTitle: text(payload, 'JobTitle', 20),
    password: text(payload, 'Password', 50),
    privacy: flag(payload, 'Privacy', 5111) ?? false,
    isAgent: flag(payload, 'IsAgent', 5109) ?? false,
    references: referencesFrom(payload, world),
    billing: addressFrom(at(payload, 'Addresses', 'Billing')),
    delivery: addressFrom(at(payload, 'Addresses', 'Delivery')),
  }
}

function requireOwnEmail({ email }: { email: string }, id: number, { shop }: World): void {
  const normalized = email.toLowerCase()
  if (normalized === '') return
  for (const other of shop.persons.values())
    if (other.id !== id && other.email.trim().toLowerCase() === normalized)
      throw createRejection(5006, { detail: email })
}

/** Four letters of the surname, two of the first name, and a count: `SAMPJO00`. */
function codeFor({ surname, firstname }: { surname: string; firstname: string }, { shop }: World): string {
  const letters = (name: string, count: number) =>
    name
      .normalize('NFD')
      .replace(/[^a-z]/gi, '')
      .slice(0, count)
      .toUpperCase()
  const start = letters(surname, 4) + letters(firstname, 2)
  const usedCodes = new Set([...shop.persons.values()].map(person => person.code))
  for (let count = 0; ; count++) {
    const code = `${start}${String(count).padStart(2, '0')}`
    if (!usedCodes.has(code)) return code
  }
}

/** Returns the time of a write in whole seconds. With the setting, a person never gets the same time twice. */
export function nextStamp(world: World, before: Wall): Wall {
  const now = Math.floor(world.clock.wall() / second) * second
  return world.settings.stamps === 'bump' && now <= before && before - now < 60 * second ? before + second : now
}

function unclaimedDocket(payload: Payload, request: ApiRequest, world: World) {
  const number = text(payload, 'DocketNumber', 50)
  if (!number || request.version < 2 || !has(world, 'personDocket')) return
  const docket = world.shop.transactions.find(transaction => transaction.number === number)
  if (!docket) throw createRejection(5210, { detail: number })
  if (docket.personId !== null) throw createRejection(5209, { detail: number })
  return docket
}

export const createPerson: Handler = (request, world) => {
  const { shop } = world
  const payload = posted(request, world, 'Person', personShape)
  if (textAt(payload, 'Code')) throw createRejection(5003)
  const written = personFrom(payload, world)
  requireOwnEmail(written, 0, world)
  const custom = request.version >= 2 ? readCustomData(payload) : new Map()
  const docket = unclaimedDocket(payload, request, world)
  const programId =
    request.version >= 2 && has(world, 'personDocket') ? whole(textAt(payload, 'RewardProgramId')) : undefined
  if (programId !== undefined && !shop.programs.has(programId)) throw createRejection(5162)
  const loyalties = loyaltiesAfter(payload, undefined, request.version, world)
  const person: Person = {
    ...written,
    id: next(shop, 'person'),
    code: codeFor(written, world),
    loyalties,
    startDate: written.startDate || today(world),
    updated: nextStamp(world, 0),
    customData: new Map(),
    currency: request.country.currency,
    joinedStoreId: docket?.storeId ?? 0,
    retailRep: false,
  }
  mergeCustomData(person.customData, custom)
  shop.persons.set(person.id, person)
  if (docket) docket.personId = person.id
  world.note('person created', person.id, { email: person.email })
  if (programId !== undefined) openAccount(world, { programId, personId: person.id })
  return created(request, `/Persons/${person.id}`)
}

/** Replaces a person. Fields that the payload lacks are cleared, except custom data, and loyalties up to payload version 2. */
export const updatePerson: Handler = (request, world) => {
  const person = personOf(request, world)
  const payload = posted(request, world, 'Person', personShape)
  const id = textAt(payload, 'Id')
  if (id && whole(id) !== person.id) throw createRejection(5151)
  const sent = textAt(payload, 'UpdateTimeStamp') ?? ''
  const stored = australianText(person.updated)
  if (sent !== stored)
    throw createRejection(5010, {
      text: `Person has been updated by another user. UpdateTimeStamp has changed from ${sent} to ${stored}`,
    })
  const written = personFrom(payload, world)
  if (!written.email) throw createRejection(5004)
  if (isEmptyAddress(written.billing)) throw createRejection(5005)
  requireOwnEmail(written, person.id, world)
  const custom = request.version >= 2 ? readCustomData(payload) : new Map()
  const loyalties = loyaltiesAfter(payload, person, request.version, world)
  Object.assign(person, written, { loyalties, updated: nextStamp(world, person.updated) })
  mergeCustomData(person.customData, custom)
  world.note('person updated', person.id, { email: person.email })
  return ok()
}
