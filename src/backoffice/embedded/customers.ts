import { randomInt, randomUUIDv7 } from 'node:crypto'
import {
  consentAfter,
  consentChanges,
  consentWarnings,
  contradictions,
  mappedReferences,
  mappedTypes,
  noConsent,
} from '../../domain/consent.ts'
import {
  type CustomerChange,
  type CustomerWrites,
  type CustomerWritten,
  faultsOfCustomer,
  phonesOf,
  withoutNulls,
} from '../../domain/customer-input.ts'
import {
  chosenReferences,
  faultsOfReferences,
  type KnownReferences,
  namedValues,
  referencesAfter,
  valueIdOf,
} from '../../domain/customer-references.ts'
import type { Write } from '../../domain/write.ts'
import { faulty } from '../../errors.ts'
import { recordConsent } from '../../store/consent.ts'
import { lockReferences } from '../../store/customer-references.ts'
import { lockCustomer, putCustomer, type StoredCustomer } from '../../store/customer-writes.ts'

/** Customers written into our own tables. */
export const customerWrites: CustomerWrites = {
  async createCustomer(write, given) {
    const input = withoutNulls(given)
    return carryOut(write, undefined, input, await referencesFor(write, input))
  },
  async updateCustomer(write, id, change) {
    const known = await referencesFor(write, change)
    const before = await lockCustomer(write.tx, write.service, id)
    if (!before) return
    write.requireMatch(before.record)
    return carryOut(write, before, change, known)
  },
}

/** The references that a change may set. */
const referencesFor = ({ tx, service }: Write, change: CustomerChange) =>
  lockReferences(tx, service, [
    ...namedValues(change),
    ...mappedReferences(change, service.settings.subscriptionMapping),
  ])

async function carryOut(
  write: Write,
  before: StoredCustomer | undefined,
  change: CustomerChange,
  known: KnownReferences,
): Promise<CustomerWritten> {
  const { tx, service } = write
  const { subscriptionMapping: mapping, referenceTypes, timeZone } = service.settings
  const now = Temporal.Now.plainDateTimeISO(timeZone)
  const consent = consentAfter(before?.consent ?? noConsent, change)
  const stored = before?.references ?? new Map<string, string>()
  const chosen = chosenReferences(change, stored, mappedTypes(mapping))
  const given = new Map([...chosen].map(([type, choice]) => [type, valueIdOf(choice)]))
  const [fault, ...more] = [
    ...faultsOfCustomer(change, now.toPlainDate().toString()),
    ...faultsOfReferences(chosen, stored, known, referenceTypes),
    ...contradictions(given, stored, change, consent, mapping),
  ]
  if (fault) throw faulty([fault, ...more])

  const id = before?.id ?? randomUUIDv7()
  const record = await putCustomer(tx, service, {
    ...(before ? {} : { code: codeFor(change), startDate: now.toString({ smallestUnit: 'second' }) }),
    ...columnsFrom(change),
    ...consent,
    id,
    referenceValues: referencesAfter(stored, new Map([...given, ...mappedReferences(change, mapping)])),
  })
  await recordConsent(write, id, consentChanges(before?.consent, consent))
  return { id, record, warnings: consentWarnings(change, consent, mapping) }
}

/** What a change says by the columns of a customer; undefined is not mentioned. */
function columnsFrom(change: CustomerChange) {
  const { title, firstname, surname, dateOfBirth, contact, address } = change
  const { home, mobile, work } = phonesOf(change)
  return {
    ...{ title, firstname, surname, dateOfBirth, email: contact?.email },
    ...{ phoneHome: home, phoneMobile: mobile, phoneWork: work },
    ...(address === null ? noAddress : address),
  }
}

const noAddress = {
  ...{ addressLine1: null, addressLine2: null, city: null, state: null, postcode: null, country: null },
}

/** A code in the manner of `SMITJOHN22`; letters that are not Latin are left out. Identifiers tell customers apart, codes need not. */
const codeFor = ({ surname, firstname }: CustomerChange) => `${start(surname)}${start(firstname)}${randomInt(10, 100)}`

const start = (name = '') =>
  name
    .normalize('NFD')
    .replace(/[^A-Za-z]/g, '')
    .slice(0, 4)
    .toUpperCase()
