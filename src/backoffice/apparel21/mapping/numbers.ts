import { createHash } from 'node:crypto'
import { hmac, type Keys } from '../../../crypto/keys.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'

/** Without letters that look like others (Crockford). */
const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Five bits a letter. */
function letters(bytes: Buffer, count: number): string {
  let bits = BigInt(`0x${bytes.toString('hex')}`) >> BigInt(bytes.length * 8 - count * 5)
  let text = ''
  for (let i = 0; i < count; i++) {
    text = digits[Number(bits & 31n)] + text
    bits >>= 5n
  }
  return text
}

/**
 * The number of an order (`W`) or a return (`R`) that is given none: made of the write's `reference`, and so the same when it is
 * repeated, with 80 bits of its own. `turn` counts on where the reference has been used for another one long ago.
 */
export const derivedNumber = (letter: 'W' | 'R', reference: string, turn: number) =>
  letter + letters(createHash('sha256').update(`${letter} ${reference} ${turn}`).digest(), 16)

/** The most letters of a number in the back office. */
const longest = 30
const markLetters = 6

/**
 * A caller's number of a return, with a mark that is made for this service, order and number alone: a return that has it in the back
 * office already was made by an earlier attempt. (It is refused there as taken, and cannot be looked up.) A long number is cut.
 */
export function markedNumber(keys: Keys, service: Service, orderId: string, given: string) {
  const mark = letters(hmac(keys.subjects, 'return number', String(service.id), orderId, given), markLetters)
  return `${given.slice(0, longest - markLetters - 1).toWellFormed()}-${mark}`
}
