import { createHash } from 'node:crypto'
import { hmac, type Keys } from '../../../crypto/keys.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'

/** Without letters that look like others (Crockford). */
const base32Digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Five bits a letter. */
function encodeBase32(bytes: Buffer, count: number): string {
  let bits = BigInt(`0x${bytes.toString('hex')}`) >> BigInt(bytes.length * 8 - count * 5)
  let text = ''
  for (let i = 0; i < count; i++) {
    text = base32Digits[Number(bits & 31n)] + text
    bits >>= 5n
  }
  return text
}

/**
 * The number of an order (`W`) or a return (`R`) that is given none: made of the write's `reference`, and so the same when it is
 * repeated, with 80 bits of its own. `turn` counts on where the reference has been used for another one long ago.
 */
export const deriveNumber = (letter: 'W' | 'R', reference: string, attempt: number) =>
  letter + encodeBase32(createHash('sha256').update(`${letter} ${reference} ${attempt}`).digest(), 16)

/** The most letters of a number in the back office. */
const maxNumberLength = 30
const suffixLength = 6

/**
 * A caller's number of a return, with a mark that is made for this service, order and number alone: a return that has it in the back
 * office already was made by an earlier attempt. (It is refused there as taken, and cannot be looked up.) A long number is cut.
 */
export function addOwnershipSuffix(keys: Keys, service: Service, orderId: string, given: string) {
  const mark = encodeBase32(hmac(keys.subjects, 'return number', String(service.id), orderId, given), suffixLength)
  return `${given.slice(0, maxNumberLength - suffixLength - 1).toWellFormed()}-${mark}`
}
