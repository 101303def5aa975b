import { createHash } from 'node:crypto'
import { computeHmac, type Keys } from '../../../crypto/keys.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'

/** Crockford's Base32 alphabet, without letters that look like others. */
const base32Digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Encodes the first `count` × 5 bits in Base32. */
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
 * Derives the number of an order (`W`) or a return (`R`) if the caller sends none. The number is a hash (80 bits) of the write's
 * `reference`, so a retry derives the same number. `attempt` counts from 0, for references that were used long ago.
 */
export const deriveNumber = (letter: 'W' | 'R', reference: string, attempt: number) =>
  letter + encodeBase32(createHash('sha256').update(`${letter} ${reference} ${attempt}`).digest(), 16)

/** The longest number that the back office accepts, in characters. */
const maxNumberLength = 30
const suffixLength = 6

/**
 * Appends a suffix to a caller's return number that depends on service, order and number. If a return with this number already exists
 * in the back office, an earlier attempt created it. (The back office can't look up a return by number.) Truncates a long number.
 */
export function addOwnershipSuffix(keys: Keys, service: Service, orderId: string, returnNumber: string) {
  const suffix = encodeBase32(
    computeHmac(keys.subjects, 'return number', String(service.id), orderId, returnNumber),
    suffixLength,
  )
  return `${returnNumber.slice(0, maxNumberLength - suffixLength - 1).toWellFormed()}-${suffix}`
}
