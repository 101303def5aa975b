import type { Refresh, RemovedAccounts, SyncRows } from '../../../domain/sync/port.ts'
import type { Settings } from '../../../domain/tenancy/service-settings.ts'
import { Untranslatable } from '../xml/untranslatable.ts'
import { day, every, flag, text, wallIn } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { referenceValues } from './references.ts'

/** What a person's record is read with. */
export interface PersonReading {
  /** The names of the types of references, by their identifiers. */
  typeNames: ReadonlyMap<string, string>
  /** The codes of the types of loyalty (reference type 366), by their identifiers. */
  loyaltyCodes: ReadonlyMap<string, string>
  subscriptionMapping: Settings['subscriptionMapping']
}

export function idOf(person: Xml): string {
  const id = text(person, 'Id')
  if (!id) throw new Untranslatable('A person has no Id.')
  return id
}

/** When a person last changed, on the wall of the head office: `YYYY-MM-DDTHH:MM:SS`; null where it cannot be read. */
export const changedAt = (person: Xml) => wallIn(text(person, 'UpdateTimeStamp'))

/** The refresh of a person's history. */
export const historyRefresh = (person: Xml): Refresh => ({
  id: idOf(person),
  version: text(person, 'UpdateTimeStamp') ?? '',
})

/** The refreshes of a person's reward accounts. */
export const accountRefreshes = (person: Xml): Refresh[] =>
  every(person, 'RewardsAccounts', 'Account').flatMap(account => {
    const id = text(account, 'Id')
    return id ? [{ id, version: text(person, 'UpdateTimeStamp') ?? '' }] : []
  })

/** A person who names reward accounts has no others. */
export function accountsHad(person: Xml): RemovedAccounts[] {
  const has = accountRefreshes(person).map(({ id }) => id)
  const customerId = text(person, 'Id')
  return has.length && customerId ? [{ customerId, has }] : []
}

/** A customer. What this system does not know of one, such as the store they joined in, is left as it is stored. */
export function customerFrom(person: Xml, reading: PersonReading): SyncRows['customers'] {
  const started = day(person, 'StartDate')
  const references = referenceValues(person, reading.typeNames)
  const [contacts, billing] = [['Contacts'], ['Addresses', 'Billing']]
  return {
    id: idOf(person),
    code: text(person, 'Code'),
    title: text(person, 'Title'),
    firstname: text(person, 'Firstname'),
    surname: text(person, 'Surname'),
    dateOfBirth: day(person, 'DateOfBirth'),
    startDate: started && `${started} 00:00:00`,
    email: text(person, ...contacts, 'Email'),
    phoneHome: text(person, ...contacts, 'Phones', 'Home'),
    phoneMobile: text(person, ...contacts, 'Phones', 'Mobile'),
    phoneWork: text(person, ...contacts, 'Phones', 'Work'),
    addressLine1: text(person, ...billing, 'AddressLine1'),
    addressLine2: text(person, ...billing, 'AddressLine2'),
    city: text(person, ...billing, 'City'),
    state: text(person, ...billing, 'State'),
    postcode: text(person, ...billing, 'Postcode'),
    country: text(person, ...billing, 'Country'),
    referenceValues: references,
    ...consentFrom(flag(person, 'Privacy'), references, reading.subscriptionMapping),
    ...loyaltyFrom(person, reading.loyaltyCodes),
  }
}

/**
 * Privacy at the head office takes back every subscription: who asked for it there gets no marketing from here. Without it, the
 * references that stand for subscriptions count; a flag without such a reference is left as it is stored.
 */
function consentFrom(
  privacy: boolean | null,
  references: Readonly<Record<string, string>>,
  mapping: Settings['subscriptionMapping'],
): Partial<Pick<SyncRows['customers'], 'privacy' | 'emailSubscription' | 'smsSubscription'>> {
  // No marketing without consent, and none can be read.
  if (privacy !== false) return { privacy: true, emailSubscription: false, smsSubscription: false }
  const [email, sms] = [subscribes(references, mapping.email), subscribes(references, mapping.sms)]
  return {
    privacy,
    ...(email !== undefined && { emailSubscription: email }),
    ...(sms !== undefined && { smsSubscription: sms }),
  }
}

/** Whether the references subscribe; a mapped type without the value for yes does not. */
const subscribes = (references: Readonly<Record<string, string>>, mapped: { type: string; yes: string } | undefined) =>
  mapped && references[mapped.type] === mapped.yes

/** The loyalty that a person joined last. */
function loyaltyFrom(person: Xml, codes: ReadonlyMap<string, string>) {
  const [newest] = every(person, 'Loyalties', 'Loyalty')
    .map(loyalty => ({
      joined: day(loyalty, 'JoinDate') ?? '',
      id: Number(text(loyalty, 'Id') ?? 0),
      typeId: text(loyalty, 'LoyaltyTypeId') ?? '',
      name: text(loyalty, 'LoyaltyType'),
    }))
    .sort((a, b) => (a.joined === b.joined ? b.id - a.id : a.joined < b.joined ? 1 : -1))
  return { loyaltyCode: newest ? (codes.get(newest.typeId) ?? null) : null, loyaltyName: newest?.name ?? null }
}

/** An e-mail address as two of them are compared. */
export const comparable = (email: string) => email.normalize('NFC').toLowerCase()
