import { toColumns, type ValidatedChange } from '../../../domain/customers/changes.ts'
import type { CustomerChange, CustomerInput } from '../../../domain/customers/input.ts'
import type { SyncRows } from '../../../domain/sync/port.ts'
import { normalizeText } from '../xml/values.ts'
import { normalizeEmail } from './person-from-xml.ts'

/** What nobody but the one who creates a person gives. */
const callerFields = [
  ...(['title', 'firstname', 'surname', 'dateOfBirth', 'phoneHome', 'phoneMobile', 'phoneWork'] as const),
] as const
/** What the back office may fill in by itself, from a template of the retailer's. */
const addressFields = [...(['addressLine1', 'addressLine2', 'city', 'state', 'postcode', 'country'] as const)] as const

/**
 * Whether a person of the back office, whose e-mail address it is, is what an earlier attempt to create this customer has made: all
 * that is asked for is there, and it was made since that day (`YYYY-MM-DD`). No field of a person could carry the attempt's own mark.
 */
export function isCreatedByAttempt(
  row: SyncRows['customers'],
  input: CustomerInput,
  { consent, references }: Pick<ValidatedChange, 'consent' | 'references'>,
  sinceDay: string,
): boolean {
  const asked = toColumns(input)
  const same = (name: (typeof callerFields | typeof addressFields)[number]) =>
    normalizeText(asked[name] ?? '') === normalizeText(row[name] ?? '')
  return (
    callerFields.every(same) &&
    addressFields.every(name => !asked[name] || same(name)) &&
    row.privacy === consent.privacy &&
    Object.entries(references).every(([type, value]) => row.referenceValues[type] === value) &&
    (row.startDate ?? '') >= sinceDay
  )
}

/** Whether a person has all that a change asks for: it was carried out, or was so before. */
export function isChangeApplied(
  row: SyncRows['customers'],
  change: CustomerChange,
  { consent, chosen }: Pick<ValidatedChange, 'consent' | 'chosen'>,
): boolean {
  const asked = toColumns(change)
  const { email } = asked
  return (
    (email === undefined || normalizeEmail(normalizeText(email ?? '') ?? '') === normalizeEmail(row.email ?? '')) &&
    [...callerFields, ...addressFields].every(
      name => asked[name] === undefined || normalizeText(asked[name] ?? '') === normalizeText(row[name] ?? ''),
    ) &&
    row.privacy === consent.privacy &&
    [...chosen].every(([type, value]) => (row.referenceValues[type] ?? null) === value)
  )
}
