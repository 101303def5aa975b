import { randomInt, randomUUIDv7 } from 'node:crypto'
import { toColumns, validateCustomerChange } from '../../domain/customers/changes.ts'
import { getConsentChanges } from '../../domain/customers/consent.ts'
import {
  type CustomerChange,
  type CustomerInput,
  createEmailTaken,
  withoutNulls,
} from '../../domain/customers/input.ts'
import type { ReferenceLookup } from '../../domain/customers/references.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import { recordConsent } from '../../store/customers/consent.ts'
import { addCustomer, findCustomer, findCustomerByEmail } from '../../store/customers/customers.ts'
import { lockSettableReferences } from '../../store/customers/reference-locks.ts'
import { lockCustomer, type StoredCustomer, upsertCustomer } from '../../store/customers/writes.ts'
import type { WithTransaction } from '../../writes/write.ts'
import type { CustomerWritten } from '../port/customers.ts'

/** Creates a customer in our own tables. */
export async function createCustomer(write: WithTransaction, body: CustomerInput): Promise<CustomerWritten> {
  const { tx, service } = write
  const input = withoutNulls(body)
  const now = getLocalNow(service)
  const { columns, consent, warnings } = validateChange(
    write,
    undefined,
    input,
    await lockSettableReferences(tx, service, input),
    now,
  )
  const id = randomUUIDv7()
  const startDate = now.toString({ smallestUnit: 'second' })
  const [added] = await Promise.all([
    addCustomer(tx, service, { ...columns, id, code: generateCode(input), startDate }),
    recordConsent(tx, service, write, id, getConsentChanges(undefined, consent)),
  ])
  if (!added) throw await buildEmailTakenError(write, input)
  return { id, record: added.record, warnings }
}

/** Changes a customer. Returns undefined if it does not exist. */
export async function updateCustomer(
  write: WithTransaction,
  id: string,
  change: CustomerChange,
): Promise<CustomerWritten | undefined> {
  const { tx, service } = write
  const references = await lockSettableReferences(tx, service, change)
  const before = await lockCustomer(tx, service, id)
  if (!before) return
  write.requireMatch(before.record)
  const { columns, consent, warnings } = validateChange(write, before, change, references, getLocalNow(service))
  if (!(await upsertCustomer(tx, service, { ...columns, id }))) throw await buildEmailTakenError(write, change)
  const [written] = await Promise.all([
    findCustomer(tx, service, id),
    recordConsent(tx, service, write, id, getConsentChanges(before.consent, consent)),
  ])
  if (!written) throw new Error('updated customer not found')
  return { id, record: written.record, warnings }
}

const getLocalNow = ({ settings }: Service) => Temporal.Now.plainDateTimeISO(settings.timeZone)

/** Validates a change. Returns the columns to write. Throws all field errors at once. */
function validateChange(
  { service }: WithTransaction,
  before: StoredCustomer | undefined,
  change: CustomerChange,
  settableReferences: ReferenceLookup,
  now: Temporal.PlainDateTime,
) {
  const today = now.toPlainDate().toString()
  const { errors, consent, references, warnings } = validateCustomerChange(
    change,
    before,
    settableReferences,
    service.settings,
    today,
  )
  throwIfAny(errors)
  return { columns: { ...toColumns(change), ...consent, referenceValues: references }, consent, warnings }
}

const buildEmailTakenError = async ({ tx, service }: WithTransaction, { contact }: CustomerChange) =>
  createEmailTaken((await findCustomerByEmail(tx, service, contact?.email ?? ''))?.id)

/** Generates a code such as `SMITJOHN22`, without non-Latin letters. Codes need not be unique, because customers have IDs. */
const generateCode = ({ surname, firstname }: CustomerChange) =>
  `${abbreviate(surname)}${abbreviate(firstname)}${randomInt(10, 100)}`

const abbreviate = (name: string | null | undefined) =>
  (name ?? '')
    .normalize('NFD')
    .replace(/[^A-Za-z]/g, '')
    .slice(0, 4)
    .toUpperCase()
