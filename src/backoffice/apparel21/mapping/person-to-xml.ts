import { type CustomerChange, getPhones } from '../../../domain/customers/input.ts'
import type { FieldError } from '../../../errors/api-error.ts'
import { buildPayload, type Content, type Field, orderFields } from '../xml/payload.ts'
import { findElement, findElements, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** What is written of a person, in the guide's order. Loyalties and custom data stay as they are when they are not sent (payload version 2). */
const personTemplate = [
  ...(['Id', 'Title', 'Initials', 'Firstname', 'Surname', 'Sex', 'DateOfBirth', 'StartDate', 'JobTitle'] as const),
  ...(['Privacy', 'UpdateTimeStamp', 'References', 'IsAgent', 'Addresses', 'Contacts'] as const),
]
const addressTemplate = [
  ...(['ContactName', 'CompanyName', 'AddressLine1', 'AddressLine2', 'City', 'State', 'Postcode', 'Country'] as const),
]

/** What a change makes of a person, beside what it says itself. */
export interface PersonOutcome {
  privacy: boolean
  /** By the back office's types: the value, or null where there is none any more. */
  references: ReadonlyMap<string, string | null>
}

/** A new person. `startDate` is a day of the head office. */
export const buildNewPerson = (change: CustomerChange, outcome: PersonOutcome, startDate: string) =>
  buildPerson(undefined, change, outcome, { StartDate: startDate })

/**
 * A person as it was read, with a change: all that this system would clear if it were not sent is sent as it was read. The stamp has
 * to be the very text that was read. (The password, which nobody can read, cannot be kept.)
 */
export const buildChangedPerson = (read: Xml, change: CustomerChange, outcome: PersonOutcome) =>
  buildPerson(read, change, outcome, { UpdateTimeStamp: readText(read, 'UpdateTimeStamp') })

function buildPerson(
  read: Xml | undefined,
  change: CustomerChange,
  { privacy, references }: PersonOutcome,
  more: { StartDate?: string; UpdateTimeStamp?: string | null },
): string {
  const kept = (name: string) => findElement(read, name)?.text
  const { title, firstname, surname, dateOfBirth } = change
  return buildPayload(
    'Person',
    orderFields(personTemplate, {
      Id: kept('Id'),
      Initials: kept('Initials'),
      Sex: kept('Sex'),
      StartDate: kept('StartDate'),
      JobTitle: kept('JobTitle'),
      IsAgent: kept('IsAgent'),
      Title: applyChange(title, kept('Title')),
      Firstname: applyChange(firstname, kept('Firstname')),
      Surname: applyChange(surname, kept('Surname')),
      DateOfBirth: applyChange(dateOfBirth, kept('DateOfBirth')),
      Privacy: privacy,
      References: buildReferences(read, references),
      Addresses: [['Billing', buildBillingAddress(read, change)], ...buildDeliveryAddress(read)],
      Contacts: buildContacts(read, change),
      ...more,
    }),
  )
}

/** What a request says; or, where it does not mention it, what was read. */
const applyChange = (given: string | null | undefined, read: string | undefined) => (given === undefined ? read : given)

/** An address has at least one field here: where it would have none, it has the name. */
function buildBillingAddress(read: Xml | undefined, { address, firstname, surname }: CustomerChange): Field[] {
  const before = findElement(read, 'Addresses', 'Billing')
  const of = (name: string, given: string | null | undefined) =>
    applyChange(address === null ? null : given, findElement(before, name)?.text)
  const fields: Partial<Record<(typeof addressTemplate)[number], Content>> = {
    ContactName: findElement(before, 'ContactName')?.text,
    CompanyName: findElement(before, 'CompanyName')?.text,
    AddressLine1: of('AddressLine1', address?.addressLine1),
    AddressLine2: of('AddressLine2', address?.addressLine2),
    City: of('City', address?.city),
    State: of('State', address?.state),
    Postcode: of('Postcode', address?.postcode),
    Country: of('Country', address?.country),
  }
  const isEmpty = Object.values(fields).every(value => !String(value ?? '').trim())
  if (!isEmpty) return orderFields(addressTemplate, fields)
  const names = [
    applyChange(firstname, findElement(read, 'Firstname')?.text),
    applyChange(surname, findElement(read, 'Surname')?.text),
  ]
  return orderFields(addressTemplate, { ...fields, ContactName: names.join(' ').trim() })
}

function buildDeliveryAddress(read: Xml | undefined): Field[] {
  const before = findElement(read, 'Addresses', 'Delivery')
  if (!before) return []
  const fields = Object.fromEntries(addressTemplate.map(name => [name, findElement(before, name)?.text]))
  return [['Delivery', orderFields(addressTemplate, fields)]]
}

function buildContacts(read: Xml | undefined, change: CustomerChange): Field[] {
  const { home, mobile, work } = getPhones(change)
  const phone = (name: string, given: string | null | undefined): Field => [
    name,
    applyChange(given, findElement(read, 'Contacts', 'Phones', name)?.text),
  ]
  return [
    ['Email', applyChange(change.contact?.email, findElement(read, 'Contacts', 'Email')?.text)],
    ['Phones', [phone('Home', home), phone('Mobile', mobile), phone('Work', work)]],
  ]
}

/** Every type that was read, with or without a value, and those that the change sets. The type comes before the value. */
function buildReferences(read: Xml | undefined, changes: ReadonlyMap<string, string | null>): Field[] {
  const values = new Map<string, string | null>()
  for (const reference of findElements(read, 'References', 'Reference')) {
    const type = readText(reference, 'ReferenceTypeId')
    if (type) values.set(type, readText(reference, 'Id'))
  }
  for (const [type, value] of changes) if (value !== null || values.has(type)) values.set(type, value)
  return [...values].map(
    ([type, value]): Field => [
      'Reference',
      [
        ['ReferenceTypeId', type],
        ['Id', value],
      ],
    ],
  )
}

/** Where this system takes fewer letters than the API does. */
const maxLengths = [
  ['/title', 10, ({ title }: CustomerChange) => title],
  ['/firstname', 20, ({ firstname }: CustomerChange) => firstname],
  ['/surname', 20, ({ surname }: CustomerChange) => surname],
  ['/address/country', 20, ({ address }: CustomerChange) => address?.country],
] as const

export const checkLengths = (change: CustomerChange): FieldError[] =>
  maxLengths.flatMap(([pointer, most, of]): FieldError[] =>
    (of(change)?.length ?? 0) > most
      ? [{ pointer, code: 'invalid_field', detail: `The back office takes at most ${most} characters here.` }]
      : [],
  )
