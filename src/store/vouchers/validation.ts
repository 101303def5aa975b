import { randomBytes, timingSafeEqual } from 'node:crypto'
import { type Db, sql } from '../../db.ts'
import { ApiError } from '../../errors.ts'
import { hmac, type Keys } from '../../secrets.ts'
import type { Service } from '../../settings.ts'
import type { TakenVoucher } from './ledger.ts'

const hashOf = (keys: Keys, service: Service, number: string, validationId: string) =>
  hmac(keys.subjects, 'validation', String(service.id), number, validationId)

/** How many validations a voucher remembers after the next one has taken their place. */
const remembered = 20

/** A new validation: its id, which has 192 random bits, and the keyed hash that is kept of it. */
export function makeValidation(keys: Keys, service: Service, number: string) {
  const validationId = randomBytes(24).toString('base64url')
  return { validationId, hash: hashOf(keys, service, number, validationId) }
}

/** Makes a validation, in place of the one before it. Returns its id. */
export async function addValidation(tx: Db, keys: Keys, service: Service, number: string): Promise<string> {
  const { validationId, hash } = makeValidation(keys, service, number)
  await tx.run(sql`
    update voucher
       set validation_hash = ${hash}, validated_until = statement_timestamp() + interval '24 hours',
           superseded_hashes = ${superseded}
     where service_id = ${service.id} and number = ${number}`)
  return validationId
}

/** Ends the validation of a voucher: it is spent, or taken back. */
export const endValidation = (tx: Db, service: Service, number: string) =>
  tx.run(sql`
    update voucher set validation_hash = null, validated_until = null, superseded_hashes = ${superseded}
     where service_id = ${service.id} and number = ${number}`)

/** With the validation that ends now. */
export const superseded = sql`(case when validation_hash is null then superseded_hashes else array_prepend(validation_hash, superseded_hashes) end)[1:${remembered}::integer]`

/** What a validation is judged by. */
export type Validated = Pick<TakenVoucher, 'state' | 'lockedUntil' | 'validationHash' | 'supersededHashes' | 'isFresh'>

/**
 * What a validation id is to a voucher: the newest one; one that was right once, and opens nothing any more; or none that there
 * ever was. For a voucher that there is not it is wrong, after as much work.
 */
export function judgeValidation(
  keys: Keys,
  service: Service,
  voucher: Validated | undefined,
  number: string,
  validationId: string,
): 'newest' | 'superseded' | 'wrong' {
  const given = hashOf(keys, service, number, validationId)
  const isNewest = timingSafeEqual(given, voucher?.validationHash ?? Buffer.alloc(given.length))
  // A lock keeps the validation that it was made with alive beyond its 24 hours.
  if (isNewest) return voucher?.isFresh || voucher?.state === 'locked' ? 'newest' : 'superseded'
  return voucher?.supersededHashes.some(hash => timingSafeEqual(given, hash)) ? 'superseded' : 'wrong'
}

/** What is told of a validation that opens nothing any more: of the lock, where somebody else has it. */
export const supersededError = (voucher: Pick<Validated, 'state' | 'lockedUntil'> | undefined) =>
  voucher?.state === 'locked' ? lockedError(voucher) : new ApiError('validation_id_incorrect')

export const lockedError = ({ lockedUntil }: Pick<Validated, 'lockedUntil'>) =>
  new ApiError('voucher_locked', `Another sale holds the voucher until ${lockedUntil}.`, {
    members: lockedUntil === null ? {} : { lockedUntil },
  })
