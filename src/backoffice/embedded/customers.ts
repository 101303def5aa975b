import { randomInt, randomUUIDv7 } from 'node:crypto'
import { judgeChange, toColumns } from '../../domain/customers/changes.ts'
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

/** A new customer in our own tables. */
export async function createCustomer(write: WithTransaction, given: CustomerInput): Promise<CustomerWritten> {
  const { tx, service } = write
  const input = withoutNulls(given)
  const now = nowIn(service)
  const { columns, consent, warnings } = judged(
    write,
    undefined,
    input,
    await lockSettableReferences(write.tx, write.service, input),
    now,
  )
  const id = randomUUIDv7()
  const startDate = now.toString({ smallestUnit: 'second' })
  const [added] = await Promise.all([
    addCustomer(tx, service, { ...columns, id, code: codeFor(input), startDate }),
    recordConsent(write.tx, write.service, write, id, getConsentChanges(undefined, consent)),
  ])
  if (!added) throw await taken(write, input)
  return { id, record: added.record, warnings }
}

/** Changes a customer; undefined: there is none. */
export async function updateCustomer(
  write: WithTransaction,
  id: string,
  change: CustomerChange,
): Promise<CustomerWritten | undefined> {
  const { tx, service } = write
  const known = await lockSettableReferences(write.tx, write.service, change)
  const before = await lockCustomer(tx, service, id)
  if (!before) return
  write.requireMatch(before.record)
  const { columns, consent, warnings } = judged(write, before, change, known, nowIn(service))
  if (!(await upsertCustomer(tx, service, { ...columns, id }))) throw await taken(write, change)
  const [written] = await Promise.all([
    findCustomer(tx, service, id),
    recordConsent(write.tx, write.service, write, id, getConsentChanges(before.consent, consent)),
  ])
  if (!written) throw new Error('a customer that was put in is there')
  return { id, record: written.record, warnings }
}

const nowIn = ({ settings }: Service) => Temporal.Now.plainDateTimeISO(settings.timeZone)

/** What becomes of a customer by a change, by the columns; throws what stands against it. */
function judged(
  { service }: WithTransaction,
  before: StoredCustomer | undefined,
  change: CustomerChange,
  known: ReferenceLookup,
  now: Temporal.PlainDateTime,
) {
  const {
    errors: faults,
    consent,
    references,
    warnings,
  } = judgeChange(change, before, known, service.settings, now.toPlainDate().toString())
  throwIfAny(faults)
  return { columns: { ...toColumns(change), ...consent, referenceValues: references }, consent, warnings }
}

const taken = async ({ tx, service }: WithTransaction, { contact }: CustomerChange) =>
  createEmailTaken((await findCustomerByEmail(tx, service, contact?.email ?? ''))?.id)

/** A code in the manner of `SMITJOHN22`; letters that are not Latin are left out. Identifiers tell customers apart, codes need not. */
const codeFor = ({ surname, firstname }: CustomerChange) => `${start(surname)}${start(firstname)}${randomInt(10, 100)}`

const start = (name: string | null | undefined) =>
  (name ?? '')
    .normalize('NFD')
    .replace(/[^A-Za-z]/g, '')
    .slice(0, 4)
    .toUpperCase()
