import type { VoucherInput } from '../../domain/vouchers.ts'
import { ApiError, faulty } from '../../errors.ts'
import type { Client } from './http.ts'
import { type Field, payload } from './payload.ts'
import { refusalBehind } from './refusal.ts'
import { text } from './values.ts'
import type { Xml } from './xml.ts'

type Receiver = Pick<VoucherInput, 'receiverName' | 'receiverEmail' | 'mobile'>

/**
 * The person whom a voucher is for, by e-mail address; made where there is none, without consent to any marketing. A repeat after
 * an outcome that nobody knows finds whom the first attempt has made.
 */
export async function receiverOf(client: Client, receiver: Receiver): Promise<string> {
  const found = await personWith(client, receiver.receiverEmail)
  if (found !== undefined) return found
  const made = await makePerson(client, receiver)
  const id = made ?? (await personWith(client, receiver.receiverEmail))
  if (id === undefined)
    throw faulty([
      {
        pointer: '/receiverEmail',
        code: 'invalid_field',
        detail: 'The back office has this address with somebody whom it does not show.',
      },
    ])
  return id
}

/** The person with an address, whatever its case; of several the one who was there first. */
async function personWith(client: Client, email: string): Promise<string | undefined> {
  const { records } = await client.list({
    ...{ endpoint: 'persons', path: ['Persons'], query: { email } },
    ...{ roots: ['Persons', 'Person'], record: 'Person' },
  })
  const isTheirs = (person: Xml) => text(person, 'Contacts', 'Email')?.toLowerCase() === email.toLowerCase()
  const ids: string[] = []
  for await (const person of records) if (isTheirs(person)) ids.push(text(person, 'Id') ?? '')
  const [first] = ids.filter(Boolean).sort((a, b) => Number(a) - Number(b))
  return first
}

/** Makes a person; undefined where the address is taken by now, or nobody says what the person's identifier is. */
async function makePerson(client: Client, { receiverName, receiverEmail, mobile }: Receiver) {
  const [firstname, surname] = namesIn(receiverName)
  // Some field of an address has to be there. Where the receiver lives is not known; the address that is given is the payer's.
  const addresses: Field = ['Addresses', [['Billing', [['ContactName', receiverName]]]]]
  const body = payload('Person', [
    ['Firstname', firstname],
    ['Surname', surname],
    ['Privacy', true],
    addresses,
    [
      'Contacts',
      [
        ['Email', receiverEmail],
        ['Phones', [['Home', mobile ?? undefined]]],
      ],
    ],
  ])
  try {
    return (await client.write({ endpoint: 'persons', method: 'POST', path: ['Persons'], body })).id
  } catch (error) {
    const code = refusalBehind(error)?.code
    if (code === 5006) return
    // The errors of a person point into another body than this one.
    if (code === undefined || (error instanceof ApiError && error.status >= 500)) throw error
    throw Object.assign(new ApiError('back_office_error'), { cause: (error as Error).cause })
  }
}

/** How long a first name and a surname may be here. */
const longest = 20

/** A name in two, at its last blank; a name of one word is a surname. Both have to be there, and are cut to what fits. */
function namesIn(name: string): [firstname: string, surname: string] {
  const words = name.trim().split(/\s+/)
  const surname = words.pop() ?? name
  return [cut(words.join(' ')) || '-', cut(surname)]
}

/** Lengths here are those of .NET: in UTF-16. */
function cut(text: string) {
  let short = ''
  for (const character of text) {
    if (short.length + character.length > longest) break
    short += character
  }
  return short.trim()
}
