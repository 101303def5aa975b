import type { VoucherInput } from '../../../domain/vouchers/vouchers.ts'
import { ApiError, toApiError } from '../../../errors/api-error.ts'
import type { Write } from '../../../writes/write.ts'
import type { Client } from '../client/client.ts'
import { performWrite } from '../client/perform-write.ts'
import { emailTaken, findRetailApiError } from '../client/retail-api-error.ts'
import { readPersonId } from '../mapping/person-from-xml.ts'
import { buildNewPerson } from '../mapping/person-to-xml.ts'
import { fetchPersonByEmail } from '../queries/persons.ts'
import { toLocalTime } from '../syncs/checkpoint.ts'

type Receiver = Pick<VoucherInput, 'receiverName' | 'receiverEmail' | 'mobile'>

/**
 * Returns the identifier of the person with the receiver's email address. Creates the person, without marketing consent, if there is
 * none. A retry after an unknown outcome finds the person that the first attempt created.
 */
export async function findOrCreateReceiver(client: Client, write: Write, receiver: Receiver): Promise<string> {
  const email = receiver.receiverEmail
  const existing = await fetchPersonByEmail(client, email)
  if (existing) return readPersonId(existing)
  const createdId = await createPerson(client, write, receiver)
  if (createdId !== undefined) return createdId
  const concurrent = await fetchPersonByEmail(client, email)
  if (concurrent) return readPersonId(concurrent)
  const detail = "The back office has a person with this address, but the person can't be read."
  throw toApiError([{ pointer: '/receiverEmail', code: 'invalid_field', detail }])
}

/** Creates a person and returns its identifier. Returns undefined if the address was taken concurrently, or if the response has no identifier. */
async function createPerson(client: Client, write: Write, { receiverName, receiverEmail, mobile }: Receiver) {
  // The receiver's address is unknown: the address of the request is the payer's.
  const person = { ...splitName(receiverName), contact: { email: receiverEmail }, ...(mobile && { mobile }) }
  const startDate = toLocalTime(Date.now(), client.connection.timeZone).slice(0, 10)
  const body = buildNewPerson(person, { privacy: true, references: new Map() }, startDate)
  try {
    return (await performWrite(client, write, { endpoint: 'persons', method: 'POST', path: ['Persons'], body })).id
  } catch (error) {
    const rejection = findRetailApiError(error)
    if (rejection?.code === emailTaken) return
    // The pointers of a person's errors don't apply to the caller's body.
    if (rejection) throw Object.assign(new ApiError('back_office_error'), { cause: rejection })
    throw error
  }
}

/** The longest first name and surname that the back office accepts, in UTF-16 code units. */
const maxNameLength = 20

/** Splits a name at its last space. A single word is the surname. Both parts are required and truncated. */
function splitName(name: string) {
  const words = name.trim().split(/\s+/)
  const surname = words.pop() ?? name
  return { firstname: truncate(words.join(' ')) || '-', surname: truncate(surname) }
}

/** Truncates to .NET's string length, which counts UTF-16 code units. */
const truncate = (text: string) => text.slice(0, maxNameLength).toWellFormed().replaceAll('\ufffd', '').trim()
