import { createRejection } from '../http/errors.ts'
import { type ApiRequest, parseInteger } from '../http/request.ts'
import { respondCreated, respondOk } from '../http/responses.ts'
import type { Handler } from '../http/router.ts'
import { formatAustralian, secondMs, type Wall } from '../shop/clock.ts'
import type { Person } from '../shop/records.ts'
import { createId } from '../shop/shop.ts'
import { hasFeature, type World } from '../world/world.ts'
import { shape } from '../xml/order.ts'
import { findElement, findElements, findText, type Payload } from '../xml/payload.ts'
import { mergeCustomData, readCustomData } from './custom-data.ts'
import { mergeLoyalties } from './loyalties.ts'
import { isEmptyAddress } from './person-xml.ts'
import { getToday, requirePerson } from './persons.ts'
import {
  addressesShape,
  contactsShape,
  readAddress,
  readContacts,
  readDay,
  readDocument,
  readFlag,
  readText,
} from './posted.ts'
import { openAccount } from './reward-writes.ts'

// Privacy and UpdateTimeStamp can be in any order, because the tables and the samples of the guide differ.
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
    Addresses: addressesShape,
    Contacts: contactsShape,
    Loyalties: shape('Loyalty', {
      Loyalty: shape('Id LoyaltyTypeId LoyaltyType CardNo Expiry Balance CreditStatus Message JoinDate StatusId'),
    }),
  },
)

function readReferences(payload: Payload, { shop, settings }: World): Map<number, number> {
  const references = new Map<number, number>()
  for (const reference of findElements(findElement(payload, 'References'), 'Reference')) {
    const [typeText = '', idText = ''] = [findText(reference, 'ReferenceTypeId'), findText(reference, 'Id')]
    if (idText === '') continue
    const [typeId, id] = [parseInteger(typeText), parseInteger(idText)]
    if (typeId === undefined || id === undefined) throw createRejection(5109, { detail: `${typeText} ${idText}` })
    const type = shop.referenceTypes.get(typeId)
    if (type?.recordType === 'person' && type.references.has(id)) references.set(typeId, id)
    else if ([...shop.referenceTypes.values()].some(other => other.references.has(id)))
      throw createRejection(5090, { detail: idText })
    else throw createRejection(5089, { detail: idText })
  }
  for (const typeId of settings.mandatoryPersonReferences)
    if (!references.has(typeId)) throw createRejection(5091, { detail: String(typeId) })
  return references
}

type PersonFields = Omit<
  Person,
  'id' | 'code' | 'updated' | 'customData' | 'currency' | 'joinedStoreId' | 'retailRep' | 'loyalties'
>

/** Reads a person from a payload. Missing fields become empty, also if the stored person has a value. */
function readPerson(payload: Payload, world: World): PersonFields {
  const firstname = readText(payload, 'Firstname', 20)
  const surname = readText(payload, 'Surname', 20)
  if (!surname) throw createRejection(5000)
  if (!firstname) throw createRejection(5001)
  const sex = readText(payload, 'Sex', 2)
  return {
    firstname,
    surname,
    sex,
    ...readContacts(findElement(payload, 'Contacts')),
    title: readText(payload, 'Title', 10),
    initials: readText(payload, 'Initials', 6),
    dateOfBirth: readDay(payload, 'DateOfBirth'),
    startDate: readDay(payload, 'StartDate'),
    jobTitle: readText(payload, 'JobTitle', 20),
    password: readText(payload, 'Password', 50),
    privacy: readFlag(payload, 'Privacy', 5111) ?? false,
    isAgent: readFlag(payload, 'IsAgent', 5109) ?? false,
    references: readReferences(payload, world),
    billing: readAddress(findElement(payload, 'Addresses', 'Billing')),
    delivery: readAddress(findElement(payload, 'Addresses', 'Delivery')),
  }
}

function requireUniqueEmail({ email }: { email: string }, id: number, { shop }: World): void {
  const normalized = email.toLowerCase()
  if (normalized === '') return
  for (const other of shop.persons.values())
    if (other.id !== id && other.email.trim().toLowerCase() === normalized)
      throw createRejection(5006, { detail: email })
}

/** Creates a person's code from four letters of the surname, two of the first name, and a count: `SAMPJO00`. */
function createCode({ surname, firstname }: { surname: string; firstname: string }, { shop }: World): string {
  const pickLetters = (name: string, count: number) =>
    name
      .normalize('NFD')
      .replace(/[^a-z]/gi, '')
      .slice(0, count)
      .toUpperCase()
  const start = pickLetters(surname, 4) + pickLetters(firstname, 2)
  const usedCodes = new Set([...shop.persons.values()].map(person => person.code))
  for (let count = 0; ; count++) {
    const code = `${start}${String(count).padStart(2, '0')}`
    if (!usedCodes.has(code)) return code
  }
}

/** Returns the time of a write in whole seconds. With the setting `bump`, two writes of a person never have the same time. */
export function getWriteTime(world: World, before: Wall): Wall {
  const now = Math.floor(world.clock.wall() / secondMs) * secondMs
  return world.settings.timestamps === 'bump' && now <= before && before - now < 60 * secondMs ? before + secondMs : now
}

function findUnclaimedDocket(payload: Payload, request: ApiRequest, world: World) {
  const number = readText(payload, 'DocketNumber', 50)
  if (!number || request.version < 2 || !hasFeature(world, 'personDocket')) return
  const docket = world.shop.transactions.find(transaction => transaction.number === number)
  if (!docket) throw createRejection(5210, { detail: number })
  if (docket.personId !== null) throw createRejection(5209, { detail: number })
  return docket
}

export const createPerson: Handler = (request, world) => {
  const { shop } = world
  const payload = readDocument(request, world, 'Person', personShape)
  if (findText(payload, 'Code')) throw createRejection(5003)
  const fields = readPerson(payload, world)
  requireUniqueEmail(fields, 0, world)
  const custom = request.version >= 2 ? readCustomData(payload) : new Map()
  const docket = findUnclaimedDocket(payload, request, world)
  const programId =
    request.version >= 2 && hasFeature(world, 'personDocket')
      ? parseInteger(findText(payload, 'RewardProgramId'))
      : undefined
  if (programId !== undefined && !shop.programs.has(programId)) throw createRejection(5162)
  const loyalties = mergeLoyalties(payload, undefined, request.version, world)
  const person: Person = {
    ...fields,
    id: createId(shop, 'person'),
    code: createCode(fields, world),
    loyalties,
    startDate: fields.startDate || getToday(world),
    updated: getWriteTime(world, 0),
    customData: new Map(),
    currency: request.country.currency,
    joinedStoreId: docket?.storeId ?? 0,
    retailRep: false,
  }
  mergeCustomData(person.customData, custom)
  shop.persons.set(person.id, person)
  if (docket) docket.personId = person.id
  world.recordEffect('person created', person.id, { email: person.email })
  if (programId !== undefined) openAccount(world, { programId, personId: person.id })
  return respondCreated(request, `/Persons/${person.id}`)
}

/** Replaces a person. Fields that the payload lacks are cleared, except custom data, and loyalties up to payload version 2. */
export const updatePerson: Handler = (request, world) => {
  const person = requirePerson(request, world)
  const payload = readDocument(request, world, 'Person', personShape)
  const id = findText(payload, 'Id')
  if (id && parseInteger(id) !== person.id) throw createRejection(5151)
  const postedTimestamp = findText(payload, 'UpdateTimeStamp') ?? ''
  const stored = formatAustralian(person.updated)
  if (postedTimestamp !== stored)
    throw createRejection(5010, {
      text: `Person has been updated by another user. UpdateTimeStamp has changed from ${postedTimestamp} to ${stored}`,
    })
  const fields = readPerson(payload, world)
  if (!fields.email) throw createRejection(5004)
  if (isEmptyAddress(fields.billing)) throw createRejection(5005)
  requireUniqueEmail(fields, person.id, world)
  const custom = request.version >= 2 ? readCustomData(payload) : new Map()
  const loyalties = mergeLoyalties(payload, person, request.version, world)
  Object.assign(person, fields, { loyalties, updated: getWriteTime(world, person.updated) })
  mergeCustomData(person.customData, custom)
  world.recordEffect('person updated', person.id, { email: person.email })
  return respondOk()
}
