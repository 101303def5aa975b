import type { FieldError } from '../../errors/api-error.ts'
import type { Settings } from '../tenancy/service-settings.ts'
import {
  allSaid,
  type Consent,
  consentAfter,
  consentWarnings,
  contradictions,
  fullConsent,
  mappedReferences,
  mappedTypes,
  noConsent,
} from './consent.ts'
import type { Customer } from './customers.ts'
import { type CustomerChange, ecommerceIdsOf, faultsOfCustomer, faultsOfKept, phonesOf } from './input.ts'
import {
  chosenReferences,
  faultsOfReferences,
  type KnownReferences,
  namedValues,
  referencesAfter,
  valueIdOf,
} from './references.ts'

/** What a change of a customer depends on. */
export interface CustomerState {
  consent: Consent
  /** Reference values by type. */
  references: ReadonlyMap<string, string>
  /** JSON text (`Customer`). */
  record: string
}

/** What a change comes to, where it has no faults. */
export interface JudgedChange {
  faults: FieldError[]
  consent: Consent
  /** The references that the change sets, by type; null takes one away. */
  chosen: ReadonlyMap<string, string | null>
  /** All references after it: value by type. */
  references: Record<string, string>
  /** What the caller should know although it was done. */
  warnings: { code: string; detail: string }[]
}

/** Judges a change of a customer, or a new one, by every rule that needs no look at other customers. `today` is the service's. */
export function judgeChange(
  change: CustomerChange,
  before: CustomerState | undefined,
  known: KnownReferences,
  { subscriptionMapping: mapping, referenceTypes }: Settings,
  today: string,
): JudgedChange {
  const record = before && (JSON.parse(before.record) as Customer)
  const consentBefore = before?.consent ?? noConsent
  const said = allSaid(consentBefore, change)
  const consent = consentAfter(consentBefore, change)
  const stored = before?.references ?? new Map<string, string>()
  const choices = chosenReferences(change, stored, mappedTypes(mapping))
  const given = new Map([...choices].map(([type, choice]) => [type, valueIdOf(choice)]))
  const chosen = new Map<string, string | null>([...given, ...mappedReferences(said, mapping)])
  const faults = [
    ...(record ? faultsOfKept(change, record) : []),
    ...faultsOfCustomer(change, record, today),
    ...faultsOfReferences(choices, stored, known, referenceTypes),
    ...contradictions(given, stored, said, consent, mapping),
  ]
  const warnings = consentWarnings(consentBefore, change, mapping)
  return { faults, consent, chosen, references: referencesAfter(stored, chosen), warnings }
}

/** The reference values that a change may set, with their types, whatever the customer has agreed to. */
export const valuesOfChange = (change: CustomerChange, mapping: Settings['subscriptionMapping']) => [
  ...namedValues(change),
  ...mappedReferences(allSaid(fullConsent, change), mapping),
]

/** What a change says by the columns of a customer; undefined is not mentioned. */
export function columnsFrom(change: CustomerChange) {
  const { title, firstname, surname, dateOfBirth, contact, address } = change
  const { home, mobile, work } = phonesOf(change)
  return {
    title,
    firstname,
    surname,
    dateOfBirth,
    email: contact?.email,
    phoneHome: home,
    phoneMobile: mobile,
    phoneWork: work,
    ...(address === null ? noAddress : address),
    ...ecommerceIdsOf(change),
  }
}

const noAddress = {
  addressLine1: null,
  addressLine2: null,
  city: null,
  state: null,
  postcode: null,
  country: null,
}
