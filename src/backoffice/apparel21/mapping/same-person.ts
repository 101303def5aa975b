import { toColumns, type ValidatedChange } from '../../../domain/customers/changes.ts'
import type { CustomerChange, CustomerInput } from '../../../domain/customers/input.ts'
import type { SyncRows } from '../../../domain/sync/port.ts'
import { normalizeText } from '../xml/values.ts'
import { normalizeEmail } from './person-from-xml.ts'

/** Fields that only the creator of a person sets. */
const callerFields = [
  ...(['title', 'firstname', 'surname', 'dateOfBirth', 'phoneHome', 'phoneMobile', 'phoneWork'] as const),
] as const
/** Fields that the back office can fill in from a template of the retailer. */
const addressFields = [...(['addressLine1', 'addressLine2', 'city', 'state', 'postcode', 'country'] as const)] as const

/**
 * True if an earlier attempt at this write created this person of the back office: all requested values match, and the person was
 * created on or after `sinceDay` (`YYYY-MM-DD`). The values must be compared, because no field of a person can carry a reference.
 */
export function isCreatedByAttempt(
  row: SyncRows['customers'],
  input: CustomerInput,
  { consent, references }: Pick<ValidatedChange, 'consent' | 'references'>,
  sinceDay: string,
): boolean {
  const requested = toColumns(input)
  const isSame = (name: (typeof callerFields | typeof addressFields)[number]) =>
    normalizeText(requested[name] ?? '') === normalizeText(row[name] ?? '')
  return (
    callerFields.every(isSame) &&
    addressFields.every(name => !requested[name] || isSame(name)) &&
    row.privacy === consent.privacy &&
    Object.entries(references).every(([type, value]) => row.referenceValues[type] === value) &&
    (row.startDate ?? '') >= sinceDay
  )
}

/** True if a person has all values of a change. */
export function isChangeApplied(
  row: SyncRows['customers'],
  change: CustomerChange,
  { consent, chosen }: Pick<ValidatedChange, 'consent' | 'chosen'>,
): boolean {
  const requested = toColumns(change)
  const { email } = requested
  return (
    (email === undefined || normalizeEmail(normalizeText(email ?? '') ?? '') === normalizeEmail(row.email ?? '')) &&
    [...callerFields, ...addressFields].every(
      name => requested[name] === undefined || normalizeText(requested[name] ?? '') === normalizeText(row[name] ?? ''),
    ) &&
    row.privacy === consent.privacy &&
    [...chosen].every(([type, value]) => (row.referenceValues[type] ?? null) === value)
  )
}
