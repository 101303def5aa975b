import { randomBytes, timingSafeEqual } from 'node:crypto'
import { hmac, type Keys } from '../../crypto/keys.ts'
import type { Service } from '../tenancy/service-settings.ts'
import type { VoucherState } from './states.ts'

/** A voucher as its validations are judged, whoever keeps it. */
export interface Validated {
  state: VoucherState
  /** On the clock of the service's time zone. */
  lockedUntil: string | null
  validationHash: Buffer | null
  supersededHashes: Buffer[]
  /** Whether the newest validation is younger than 24 hours. */
  isFresh: boolean
}

/** What a validation id is to a voucher: the newest one; one that was right once, and opens nothing any more; or none that there ever was. */
export type Judged = 'newest' | 'superseded' | 'wrong'

const hashOf = (keys: Keys, service: Service, number: string, validationId: string) =>
  hmac(keys.subjects, 'validation', String(service.id), number, validationId)

/** A new validation: its id, which has 192 random bits, and the keyed hash that is kept of it. */
export const makeValidation = (keys: Keys, service: Service, number: string) =>
  validationOf(keys, service, number, randomBytes(24))

/** The validation of this request, which is the same for its repeat; nobody can work it out who does not have our keys. */
export const repeatableValidation = (keys: Keys, service: Service, number: string, request: readonly string[]) =>
  validationOf(
    keys,
    service,
    number,
    hmac(keys.subjects, 'validation of a request', String(service.id), number, ...request).subarray(0, 24),
  )

function validationOf(keys: Keys, service: Service, number: string, secret: Buffer) {
  const validationId = secret.toString('base64url')
  return { validationId, hash: hashOf(keys, service, number, validationId) }
}

/** For a voucher that there is not a validation id is wrong, after as much work. */
export function judgeValidation(
  keys: Keys,
  service: Service,
  voucher: Validated | undefined,
  number: string,
  validationId: string,
): Judged {
  const given = hashOf(keys, service, number, validationId)
  const isNewest = timingSafeEqual(given, voucher?.validationHash ?? Buffer.alloc(given.length))
  // A lock keeps the validation that it was made with alive beyond its 24 hours.
  if (isNewest) return voucher?.isFresh || voucher?.state === 'locked' ? 'newest' : 'superseded'
  return voucher?.supersededHashes.some(hash => timingSafeEqual(given, hash)) ? 'superseded' : 'wrong'
}
