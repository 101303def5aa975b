import type { Refresh, RemovedAccounts, SyncRows } from '../../../domain/sync/port.ts'
import type { Settings } from '../../../domain/tenancy/service-settings.ts'
import { InvalidRecord } from '../xml/invalid-record.ts'
import { findElements, parseLocalTime, readBoolean, readDate, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { readReferenceValues } from './references.ts'

/** Lookups and settings that are needed to parse a person. */
export interface PersonContext {
  /** Names of the reference types by identifier. */
  typeNames: ReadonlyMap<string, string>
  /** Codes of the loyalty types (reference type 366) by identifier. */
  loyaltyCodes: ReadonlyMap<string, string>
  subscriptionMapping: Settings['subscriptionMapping']
}

export function readPersonId(person: Xml): string {
  const id = readText(person, 'Id')
  if (!id) throw new InvalidRecord('A person has no Id.')
  return id
}

/** Reads a person's change time in the back office's local time, as `YYYY-MM-DDTHH:MM:SS`. Returns null if it is invalid. */
export const readPersonChangedAt = (person: Xml, timeZone: string) =>
  parseLocalTime(readText(person, 'UpdateTimeStamp'), timeZone)

export const buildHistoryRefresh = (person: Xml): Refresh => ({
  id: readPersonId(person),
  version: readText(person, 'UpdateTimeStamp') ?? '',
})

export const buildAccountRefreshes = (person: Xml): Refresh[] =>
  findElements(person, 'RewardsAccounts', 'Account').flatMap(account => {
    const id = readText(account, 'Id')
    return id ? [{ id, version: readText(person, 'UpdateTimeStamp') ?? '' }] : []
  })

/** Lists the reward accounts that a person still has. A person without accounts is omitted, because the element is optional. */
export function buildGoneAccounts(person: Xml): RemovedAccounts[] {
  const accountIds = buildAccountRefreshes(person).map(({ id }) => id)
  const customerId = readText(person, 'Id')
  return accountIds.length && customerId ? [{ customerId, has: accountIds }] : []
}

/** Parses a customer. Fields that the Retail API lacks, such as the joined store, are omitted and keep their stored values. */
export function parseCustomer(person: Xml, reading: PersonContext): SyncRows['customers'] {
  const started = readDate(person, 'StartDate')
  const references = readReferenceValues(person, reading.typeNames)
  const [contacts, billing] = [['Contacts'], ['Addresses', 'Billing']]
  return {
    id: readPersonId(person),
    code: readText(person, 'Code'),
    title: readText(person, 'Title'),
    firstname: readText(person, 'Firstname'),
    surname: readText(person, 'Surname'),
    dateOfBirth: readDate(person, 'DateOfBirth'),
    startDate: started && `${started} 00:00:00`,
    email: readText(person, ...contacts, 'Email'),
    phoneHome: readText(person, ...contacts, 'Phones', 'Home'),
    phoneMobile: readText(person, ...contacts, 'Phones', 'Mobile'),
    phoneWork: readText(person, ...contacts, 'Phones', 'Work'),
    addressLine1: readText(person, ...billing, 'AddressLine1'),
    addressLine2: readText(person, ...billing, 'AddressLine2'),
    city: readText(person, ...billing, 'City'),
    state: readText(person, ...billing, 'State'),
    postcode: readText(person, ...billing, 'Postcode'),
    country: readText(person, ...billing, 'Country'),
    referenceValues: references,
    ...deriveConsent(readBoolean(person, 'Privacy'), references, reading.subscriptionMapping),
    ...parseLoyalty(person, reading.loyaltyCodes),
  }
}

/**
 * Derives the consent flags. Privacy in the back office ends every subscription. Otherwise the mapped reference types decide; a flag
 * without a mapped type is omitted and keeps its stored value.
 */
function deriveConsent(
  privacy: boolean | null,
  references: Readonly<Record<string, string>>,
  mapping: Settings['subscriptionMapping'],
): Partial<Pick<SyncRows['customers'], 'privacy' | 'emailSubscription' | 'smsSubscription'>> {
  // An unreadable flag counts as privacy: no marketing without consent.
  if (privacy !== false) return { privacy: true, emailSubscription: false, smsSubscription: false }
  const [email, sms] = [isSubscribed(references, mapping.email), isSubscribed(references, mapping.sms)]
  return {
    privacy,
    ...(email !== undefined && { emailSubscription: email }),
    ...(sms !== undefined && { smsSubscription: sms }),
  }
}

/** True if the mapped reference has its value for yes. Returns undefined if no type is mapped. */
const isSubscribed = (
  references: Readonly<Record<string, string>>,
  mapped: { type: string; yes: string } | undefined,
) => mapped && references[mapped.type] === mapped.yes

/** Returns code and name of the loyalty that the person joined last. */
function parseLoyalty(person: Xml, codes: ReadonlyMap<string, string>) {
  const [newest] = findElements(person, 'Loyalties', 'Loyalty')
    .map(loyalty => ({
      joined: readDate(loyalty, 'JoinDate') ?? '',
      id: Number(readText(loyalty, 'Id') ?? 0),
      typeId: readText(loyalty, 'LoyaltyTypeId') ?? '',
      name: readText(loyalty, 'LoyaltyType'),
    }))
    .sort((a, b) => (a.joined === b.joined ? b.id - a.id : a.joined < b.joined ? 1 : -1))
  return { loyaltyCode: newest ? (codes.get(newest.typeId) ?? null) : null, loyaltyName: newest?.name ?? null }
}

/** Normalises an email address for comparison. */
export const normalizeEmail = (email: string) => email.normalize('NFC').toLowerCase()
