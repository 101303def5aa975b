import type { VoucherInput } from '../../../domain/vouchers/vouchers.ts'
import { ApiError, toApiError } from '../../../errors/api-error.ts'
import type { Write } from '../../../writes/write.ts'
import type { Client } from '../client/client.ts'
import { performWrite } from '../client/perform-write.ts'
import { findRetailApiError } from '../client/retail-api-error.ts'
import { readPersonId } from '../mapping/person-from-xml.ts'
import { buildNewPerson } from '../mapping/person-to-xml.ts'
import { fetchPersonByEmail } from '../queries/persons.ts'
import { wallAt } from '../syncs/checkpoint.ts'

type Receiver = Pick<VoucherInput, 'receiverName' | 'receiverEmail' | 'mobile'>

/** An e-mail already exists for another person. */
const emailTaken = 5006

/**
 * The person whom a voucher is for, by e-mail address; made where there is none, without consent to any marketing. A repeat after
 * an outcome that nobody knows finds whom the first attempt has made.
 */
export async function findOrCreateReceiver(client: Client, write: Write, receiver: Receiver): Promise<string> {
  const email = receiver.receiverEmail
  const found = await fetchPersonByEmail(client, email)
  if (found) return readPersonId(found)
  const made = await createPerson(client, write, receiver)
  if (made !== undefined) return made
  const other = await fetchPersonByEmail(client, email)
  if (other) return readPersonId(other)
  const detail = 'The back office has this address with somebody whom it does not show.'
  throw toApiError([{ pointer: '/receiverEmail', code: 'invalid_field', detail }])
}

/** Makes a person; undefined where the address is taken by now, or nobody says what the person's identifier is. */
async function createPerson(client: Client, write: Write, { receiverName, receiverEmail, mobile }: Receiver) {
  // Where the receiver lives is not known: the address that is given is the payer's.
  const person = { ...splitName(receiverName), contact: { email: receiverEmail }, ...(mobile && { mobile }) }
  const startDate = wallAt(Date.now(), client.connection.timeZone).slice(0, 10)
  const body = buildNewPerson(person, { privacy: true, references: new Map() }, startDate)
  try {
    return (await performWrite(client, write, { endpoint: 'persons', method: 'POST', path: ['Persons'], body })).id
  } catch (error) {
    const refusal = findRetailApiError(error)
    if (refusal?.code === emailTaken) return
    // What this system says of a person points into another body than the caller's.
    if (refusal) throw Object.assign(new ApiError('back_office_error'), { cause: refusal })
    throw error
  }
}

/** How long a first name and a surname may be here. */
const maxNameLength = 20

/** A name in two, at its last blank; a name of one word is a surname. Both have to be there, and are cut to what fits. */
function splitName(name: string) {
  const words = name.trim().split(/\s+/)
  const surname = words.pop() ?? name
  return { firstname: truncate(words.join(' ')) || '-', surname: truncate(surname) }
}

/** Lengths here are those of .NET: in UTF-16. */
const truncate = (text: string) => text.slice(0, maxNameLength).toWellFormed().replaceAll('\ufffd', '').trim()
