import { randomBytes, timingSafeEqual } from 'node:crypto'
import { computeHmac, type Keys } from '../../crypto/keys.ts'
import type { Service } from '../tenancy/service-settings.ts'
import type { VoucherState } from './states.ts'

/** The lock and validations of a voucher, of the embedded or another back office. */
export interface VoucherLockState {
  state: VoucherState
  /** A local time in the service's time zone. */
  lockedUntil: string | null
  validationHash: Buffer | null
  supersededHashes: Buffer[]
  /** True if the newest validation is younger than 24 hours. */
  isFresh: boolean
}

/** The status of a validation ID. `superseded`: it was valid before. `wrong`: it never existed. */
export type ValidationStatus = 'newest' | 'superseded' | 'wrong'

const hashValidationId = (keys: Keys, service: Service, number: string, validationId: string) =>
  computeHmac(keys.subjects, 'validation', String(service.id), number, validationId)

/** Creates a validation: an ID with 192 random bits, and its keyed hash, which is stored. */
export const createValidation = (keys: Keys, service: Service, number: string) =>
  toValidation(keys, service, number, randomBytes(24))

/** Derives the validation of a request, so that a retry gets the same ID. It can't be computed without our keys. */
export const deriveValidation = (keys: Keys, service: Service, number: string, request: readonly string[]) =>
  toValidation(
    keys,
    service,
    number,
    computeHmac(keys.subjects, 'validation of a request', String(service.id), number, ...request).subarray(0, 24),
  )

function toValidation(keys: Keys, service: Service, number: string, secret: Buffer) {
  const validationId = secret.toString('base64url')
  return { validationId, hash: hashValidationId(keys, service, number, validationId) }
}

/** Returns the status of a validation ID. For an unknown voucher it is `wrong`, after the same amount of work. */
export function checkValidation(
  keys: Keys,
  service: Service,
  voucher: VoucherLockState | undefined,
  number: string,
  validationId: string,
): ValidationStatus {
  const hash = hashValidationId(keys, service, number, validationId)
  const isNewest = timingSafeEqual(hash, voucher?.validationHash ?? Buffer.alloc(hash.length))
  // A lock keeps its validation valid beyond 24 hours.
  if (isNewest) return voucher?.isFresh || voucher?.state === 'locked' ? 'newest' : 'superseded'
  return voucher?.supersededHashes.some(stored => timingSafeEqual(hash, stored)) ? 'superseded' : 'wrong'
}
