import { randomInt, randomUUIDv7 } from 'node:crypto'
import { columnsFrom, judgeChange } from '../../domain/customers/change.ts'
import { consentChanges } from '../../domain/customers/consent.ts'
import {
  type CustomerChange,
  type CustomerInput,
  type CustomerWritten,
  emailTaken,
  withoutNulls,
} from '../../domain/customers/input.ts'
import type { KnownReferences } from '../../domain/customers/references.ts'
import type { Finishing } from '../../domain/write.ts'
import { refuse } from '../../refuse.ts'
import { recordConsent } from '../../store/customers/consent.ts'
import { customerRecord, customerWithEmail } from '../../store/customers/customers.ts'
import { lockReferencesOf } from '../../store/customers/references-written.ts'
import { lockCustomer, putCustomer, type StoredCustomer } from '../../store/customers/writes.ts'

/** A new customer in our own tables. */
export async function createCustomer(write: Finishing, given: CustomerInput): Promise<CustomerWritten> {
  const input = withoutNulls(given)
  return carryOut(write, undefined, input, await lockReferencesOf(write, input))
}

/** Changes a customer; undefined: there is none. */
export async function updateCustomer(
  write: Finishing,
  id: string,
  change: CustomerChange,
): Promise<CustomerWritten | undefined> {
  const known = await lockReferencesOf(write, change)
  const before = await lockCustomer(write.tx, write.service, id)
  if (!before) return
  write.requireMatch(before.record)
  return carryOut(write, before, change, known)
}

async function carryOut(
  write: Finishing,
  before: StoredCustomer | undefined,
  change: CustomerChange,
  known: KnownReferences,
): Promise<CustomerWritten> {
  const { tx, service } = write
  const now = Temporal.Now.plainDateTimeISO(service.settings.timeZone)
  const judged = judgeChange(change, before, known, service.settings, now.toPlainDate().toString())
  refuse(judged.faults)

  const { consent, references, warnings } = judged
  const id = before?.id ?? randomUUIDv7()
  const isPut = await putCustomer(tx, service, {
    ...(before ? {} : { code: codeFor(change), startDate: now.toString({ smallestUnit: 'second' }) }),
    ...columnsFrom(change),
    ...consent,
    id,
    referenceValues: references,
  })
  if (!isPut) throw emailTaken((await customerWithEmail(tx, service, change.contact?.email ?? ''))?.id)
  const [written] = await Promise.all([
    customerRecord(tx, service, id),
    recordConsent(write, id, consentChanges(before?.consent, consent)),
  ])
  if (!written) throw new Error('a customer that was put in is there')
  return { id, record: written.record, warnings }
}

/** A code in the manner of `SMITJOHN22`; letters that are not Latin are left out. Identifiers tell customers apart, codes need not. */
const codeFor = ({ surname, firstname }: CustomerChange) => `${start(surname)}${start(firstname)}${randomInt(10, 100)}`

const start = (name: string | null | undefined) =>
  (name ?? '')
    .normalize('NFD')
    .replace(/[^A-Za-z]/g, '')
    .slice(0, 4)
    .toUpperCase()
