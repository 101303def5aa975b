import type { FieldError } from '../../errors/api-error.ts'
import type { Settings } from '../tenancy/service-settings.ts'
import {
  applyConsent,
  type Consent,
  findConsentConflicts,
  fullConsent,
  getConsentInput,
  getConsentWarnings,
  getMappedReferences,
  getMappedTypes,
  noConsent,
} from './consent.ts'
import type { Customer } from './customers.ts'
import { type CustomerChange, checkCustomer, checkReadOnlyFields, getEcommerceIds, getPhones } from './input.ts'
import {
  checkReferences,
  getChosenReferences,
  getNamedValues,
  getValueId,
  mergeReferences,
  type ReferenceLookup,
} from './references.ts'

/** The stored state of a customer before a change. */
export interface CustomerState {
  consent: Consent
  /** Reference values by type. */
  references: ReadonlyMap<string, string>
  /** JSON text (`Customer`). */
  record: string
}

/** A validated change. The other members are valid only if there are no errors. */
export interface ValidatedChange {
  errors: FieldError[]
  /** The consent after the change. */
  consent: Consent
  /** The references that the change sets, by type: those that it names, and those of its consent flags. Null removes a reference. */
  chosen: ReadonlyMap<string, string | null>
  /** All references after the change: value by type. */
  references: Record<string, string>
  /** Warnings about the consent. */
  warnings: { code: string; detail: string }[]
}

/** Validates a new customer or a change by every rule that doesn't concern other customers. `today` is in the service's time zone. */
export function validateCustomerChange(
  change: CustomerChange,
  before: CustomerState | undefined,
  lookUp: ReferenceLookup,
  { subscriptionMapping: mapping, referenceTypes }: Settings,
  today: string,
): ValidatedChange {
  const record = before && (JSON.parse(before.record) as Customer)
  const consentBefore = before?.consent ?? noConsent
  const flags = getConsentInput(consentBefore, change)
  const consent = applyConsent(consentBefore, change)
  const stored = before?.references ?? new Map<string, string>()
  const named = getChosenReferences(change, stored, getMappedTypes(mapping))
  const namedValues = new Map([...named].map(([type, choice]) => [type, getValueId(choice)]))
  const chosen = new Map<string, string | null>([...namedValues, ...getMappedReferences(flags, mapping)])
  const errors = [
    ...(record ? checkReadOnlyFields(change, record) : []),
    ...checkCustomer(change, record, today),
    ...checkReferences(named, stored, lookUp, referenceTypes),
    ...findConsentConflicts(namedValues, stored, flags, consent, mapping),
  ]
  const warnings = getConsentWarnings(consentBefore, change, mapping)
  return { errors, consent, chosen, references: mergeReferences(stored, chosen), warnings }
}

/**
 * Returns all reference values that a change can set, with their types. Assumes full consent before the change, because `privacy: true` then
 * ends every subscription that it can end.
 */
export const getReferenceValues = (change: CustomerChange, mapping: Settings['subscriptionMapping']) => [
  ...getNamedValues(change),
  ...getMappedReferences(getConsentInput(fullConsent, change), mapping),
]

/** Returns the columns that a change sets. Undefined: unchanged. */
export function toColumns(change: CustomerChange) {
  const { title, firstname, surname, dateOfBirth, contact, address } = change
  const { home, mobile, work } = getPhones(change)
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
    ...getEcommerceIds(change),
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
