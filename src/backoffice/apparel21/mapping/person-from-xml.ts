import type { Refresh, RemovedAccounts, SyncRows } from '../../../domain/sync/port.ts'
import type { Settings } from '../../../domain/tenancy/service-settings.ts'
import { InvalidRecord } from '../xml/invalid-record.ts'
import { findElements, parseLocalTime, readBoolean, readDate, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { readReferenceValues } from './references.ts'

/** What a person's record is read with. */
export interface PersonContext {
  /** The names of the types of references, by their identifiers. */
  typeNames: ReadonlyMap<string, string>
  /** The codes of the types of loyalty (reference type 366), by their identifiers. */
  loyaltyCodes: ReadonlyMap<string, string>
  subscriptionMapping: Settings['subscriptionMapping']
}

export function readPersonId(person: Xml): string {
  const id = readText(person, 'Id')
  if (!id) throw new InvalidRecord('A person has no Id.')
  return id
}

/** When a person last changed, on the wall of the head office: `YYYY-MM-DDTHH:MM:SS`; null where it cannot be read. */
export const readPersonChangedAt = (person: Xml) => parseLocalTime(readText(person, 'UpdateTimeStamp'))

/** The refresh of a person's history. */
export const buildHistoryRefresh = (person: Xml): Refresh => ({
  id: readPersonId(person),
  version: readText(person, 'UpdateTimeStamp') ?? '',
})

/** The refreshes of a person's reward accounts. */
export const buildAccountRefreshes = (person: Xml): Refresh[] =>
  findElements(person, 'RewardsAccounts', 'Account').flatMap(account => {
    const id = readText(account, 'Id')
    return id ? [{ id, version: readText(person, 'UpdateTimeStamp') ?? '' }] : []
  })

/** A person who names reward accounts has no others. */
export function buildGoneAccounts(person: Xml): RemovedAccounts[] {
  const has = buildAccountRefreshes(person).map(({ id }) => id)
  const customerId = readText(person, 'Id')
  return has.length && customerId ? [{ customerId, has }] : []
}

/** A customer. What this system does not know of one, such as the store they joined in, is left as it is stored. */
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
 * Privacy at the head office takes back every subscription: who asked for it there gets no marketing from here. Without it, the
 * references that stand for subscriptions count; a flag without such a reference is left as it is stored.
 */
function deriveConsent(
  privacy: boolean | null,
  references: Readonly<Record<string, string>>,
  mapping: Settings['subscriptionMapping'],
): Partial<Pick<SyncRows['customers'], 'privacy' | 'emailSubscription' | 'smsSubscription'>> {
  // No marketing without consent, and none can be read.
  if (privacy !== false) return { privacy: true, emailSubscription: false, smsSubscription: false }
  const [email, sms] = [isSubscribed(references, mapping.email), isSubscribed(references, mapping.sms)]
  return {
    privacy,
    ...(email !== undefined && { emailSubscription: email }),
    ...(sms !== undefined && { smsSubscription: sms }),
  }
}

/** Whether the references subscribe; a mapped type without the value for yes does not. */
const isSubscribed = (
  references: Readonly<Record<string, string>>,
  mapped: { type: string; yes: string } | undefined,
) => mapped && references[mapped.type] === mapped.yes

/** The loyalty that a person joined last. */
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

/** An e-mail address as two of them are compared. */
export const normalizeEmail = (email: string) => email.normalize('NFC').toLowerCase()
