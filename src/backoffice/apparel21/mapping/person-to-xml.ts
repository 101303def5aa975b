import { type CustomerChange, getPhones } from '../../../domain/customers/input.ts'
import type { FieldError } from '../../../errors/api-error.ts'
import { buildPayload, type Content, type Field, orderFields } from '../xml/payload.ts'
import { findElement, findElements, readText } from '../xml/values.ts'
import { readDocument, type Xml } from '../xml/xml.ts'

/** The written elements in the order that the Retail API requires. Payload version 2 keeps omitted loyalties and custom data. */
const personTemplate = [
  'Id',
  'Title',
  'Initials',
  'Firstname',
  'Surname',
  'Sex',
  'DateOfBirth',
  'StartDate',
  'JobTitle',
  'Privacy',
  'UpdateTimeStamp',
  'References',
  'IsAgent',
  'Addresses',
  'Contacts',
] as const
const addressTemplate = [
  'ContactName',
  'CompanyName',
  'AddressLine1',
  'AddressLine2',
  'City',
  'State',
  'Postcode',
  'Country',
] as const

/** The consent and the references of a change, resolved to the back office's values. */
export interface ResolvedChange {
  privacy: boolean
  /** Values by the back office's type identifier. Null removes the value. */
  references: ReadonlyMap<string, string | null>
}

/** Builds the payload of a new person. `startDate` is a date in the back office's time zone. */
export const buildNewPerson = (change: CustomerChange, resolved: ResolvedChange, startDate: string) =>
  buildPerson(undefined, change, resolved, { StartDate: startDate })

/**
 * Builds the payload of a changed person. All elements that the back office would clear if omitted are sent as they were read.
 * `UpdateTimeStamp` must be the exact text that was read. Hazard: the password can't be read, so it is cleared.
 */
export const buildChangedPerson = (current: Xml, change: CustomerChange, resolved: ResolvedChange) =>
  buildPerson(current, change, resolved, { UpdateTimeStamp: readText(current, 'UpdateTimeStamp') })

/**
 * Returns the person that the back office would have after a write, for a dry run: the elements of the payload, and the current elements
 * that the payload omits. `current` is undefined for a new person.
 */
export async function buildDryRunPerson(body: string, current: Xml | undefined, id: string): Promise<Xml> {
  const sent = await readDocument(toBytes(body), ['Person'])
  if (!sent) throw new Error('payload of a person is empty')
  const sentNames = new Set(sent.children.map(child => child.name))
  const newPersonId: Xml[] = [{ name: 'Id', attributes: {}, text: id, children: [] }]
  const unchanged = current?.children.filter(child => !sentNames.has(child.name)) ?? newPersonId
  return { ...sent, children: [...unchanged, ...sent.children] }
}

async function* toBytes(text: string) {
  yield Buffer.from(text)
}

function buildPerson(
  current: Xml | undefined,
  change: CustomerChange,
  { privacy, references }: ResolvedChange,
  additions: { StartDate?: string; UpdateTimeStamp?: string | null },
): string {
  const keep = (name: string) => findElement(current, name)?.text
  const { title, firstname, surname, dateOfBirth } = change
  return buildPayload(
    'Person',
    orderFields(personTemplate, {
      Id: keep('Id'),
      Initials: keep('Initials'),
      Sex: keep('Sex'),
      StartDate: keep('StartDate'),
      JobTitle: keep('JobTitle'),
      IsAgent: keep('IsAgent'),
      Title: applyChange(title, keep('Title')),
      Firstname: applyChange(firstname, keep('Firstname')),
      Surname: applyChange(surname, keep('Surname')),
      DateOfBirth: applyChange(dateOfBirth, keep('DateOfBirth')),
      Privacy: privacy,
      References: buildReferences(current, references),
      Addresses: [['Billing', buildBillingAddress(current, change)], ...buildDeliveryAddress(current)],
      Contacts: buildContacts(current, change),
      ...additions,
    }),
  )
}

/** Returns the changed value. Returns the current value if the change doesn't contain the field. */
const applyChange = (changed: string | null | undefined, current: string | undefined) =>
  changed === undefined ? current : changed

/** Builds the billing address. The back office requires at least one field, so an empty address gets the person's name. */
function buildBillingAddress(current: Xml | undefined, { address, firstname, surname }: CustomerChange): Field[] {
  const billing = findElement(current, 'Addresses', 'Billing')
  const mergeField = (name: string, changed: string | null | undefined) =>
    applyChange(address === null ? null : changed, findElement(billing, name)?.text)
  const fields: Partial<Record<(typeof addressTemplate)[number], Content>> = {
    ContactName: findElement(billing, 'ContactName')?.text,
    CompanyName: findElement(billing, 'CompanyName')?.text,
    AddressLine1: mergeField('AddressLine1', address?.addressLine1),
    AddressLine2: mergeField('AddressLine2', address?.addressLine2),
    City: mergeField('City', address?.city),
    State: mergeField('State', address?.state),
    Postcode: mergeField('Postcode', address?.postcode),
    Country: mergeField('Country', address?.country),
  }
  const isEmpty = Object.values(fields).every(value => !String(value ?? '').trim())
  if (!isEmpty) return orderFields(addressTemplate, fields)
  const names = [
    applyChange(firstname, findElement(current, 'Firstname')?.text),
    applyChange(surname, findElement(current, 'Surname')?.text),
  ]
  return orderFields(addressTemplate, { ...fields, ContactName: names.join(' ').trim() })
}

function buildDeliveryAddress(current: Xml | undefined): Field[] {
  const delivery = findElement(current, 'Addresses', 'Delivery')
  if (!delivery) return []
  const fields = Object.fromEntries(addressTemplate.map(name => [name, findElement(delivery, name)?.text]))
  return [['Delivery', orderFields(addressTemplate, fields)]]
}

function buildContacts(current: Xml | undefined, change: CustomerChange): Field[] {
  const { home, mobile, work } = getPhones(change)
  const mergePhone = (name: string, changed: string | null | undefined): Field => [
    name,
    applyChange(changed, findElement(current, 'Contacts', 'Phones', name)?.text),
  ]
  return [
    ['Email', applyChange(change.contact?.email, findElement(current, 'Contacts', 'Email')?.text)],
    ['Phones', [mergePhone('Home', home), mergePhone('Mobile', mobile), mergePhone('Work', work)]],
  ]
}

/** Builds all references that were read, with or without a value, and those that the change sets. The type must precede the value. */
function buildReferences(current: Xml | undefined, changes: ReadonlyMap<string, string | null>): Field[] {
  const values = new Map<string, string | null>()
  for (const reference of findElements(current, 'References', 'Reference')) {
    const type = readText(reference, 'ReferenceTypeId')
    if (type) values.set(type, readText(reference, 'Id'))
  }
  for (const [type, value] of changes) {
    // Clearing a reference that the person doesn't have would send an empty one.
    if (value !== null || values.has(type)) values.set(type, value)
  }
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

/** Fields that are shorter in the back office than in the API, with their maximum length. */
const maxLengths = [
  ['/title', 10, ({ title }: CustomerChange) => title],
  ['/firstname', 20, ({ firstname }: CustomerChange) => firstname],
  ['/surname', 20, ({ surname }: CustomerChange) => surname],
  ['/address/country', 20, ({ address }: CustomerChange) => address?.country],
] as const

export const checkLengths = (change: CustomerChange): FieldError[] =>
  maxLengths.flatMap(([pointer, maxLength, getValue]): FieldError[] =>
    (getValue(change)?.length ?? 0) > maxLength
      ? [
          {
            pointer,
            code: 'invalid_field',
            detail: `This field can have at most ${maxLength} characters in the back office.`,
          },
        ]
      : [],
  )
