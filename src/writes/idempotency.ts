import { randomUUID } from 'node:crypto'
import { hmac, type Keys } from '../crypto/keys.ts'
import type { Db } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { ApiError } from '../errors/api-error.ts'
import { type Answer, type KeyedWrite, storedAnswer } from '../store/writes/idempotency.ts'

/** The value of an `Idempotency-Key` header, quoted or bare: 1 to 255 printable characters (contract 1.5). */
export function readIdempotencyKey(header: string | undefined, service: Service): string | undefined {
  if (header === undefined) {
    if (service.settings.requireIdempotencyKey)
      throw new ApiError(
        'idempotency_key_invalid',
        '`Idempotency-Key` is required: the service setting `requireIdempotencyKey` is on.',
      )
    return
  }
  const [, quoted, bare] =
    /^(?:"([\x20\x21\x23-\x7e]{1,255})"|([\x21\x23-\x7e][\x20\x21\x23-\x7e]{0,254}))$/.exec(header) ?? []
  const key = quoted ?? bare
  if (key === undefined) throw new ApiError('idempotency_key_invalid')
  return key
}

/** What a write is told apart by. */
export interface Identity {
  /** A UUID: from the key where there is one, so that it is a repeat's too. */
  id: string
  requestHash: Buffer
  keyed: KeyedWrite | undefined
}

/** `requested`: path and body, as canonical JSON. */
export function identityOf(
  keys: Keys,
  service: Service,
  operation: string,
  key: string | undefined,
  requested: string,
): Identity {
  const requestHash = hmac(keys.subjects, 'request', requested)
  if (key === undefined) return { id: randomUUID(), requestHash, keyed: undefined }
  const keyHash = hmac(keys.subjects, 'idempotency key', String(service.id), operation, key)
  return { id: uuidFrom(keyHash), requestHash, keyed: { operation, keyHash, requestHash } }
}

const uuidFrom = (hash: Buffer) =>
  hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** The write was carried out before: this is what was answered. */
export class AnsweredBefore extends Error {
  readonly answer: Answer
  constructor(answer: Answer) {
    super('The write was carried out before.')
    this.answer = answer
  }
}

/** Why a key is not free, to be thrown: `AnsweredBefore` where there is an answer; else another transaction has it, or it is another write's. */
export async function whyUsed(db: Db, keys: Keys, service: Service, write: KeyedWrite): Promise<Error> {
  const stored = await storedAnswer(db, keys, service, write)
  if (!stored) return inProgress()
  if (!stored.requestHash.equals(write.requestHash)) return new ApiError('idempotency_key_reused')
  if (stored.answer) return new AnsweredBefore(stored.answer)
  return new ApiError(
    'idempotency_key_reused',
    'The response for this key was deleted, because the customer was erased.',
  )
}

export const inProgress = () => new ApiError('idempotency_in_progress', undefined, { retryAfter: 1 })
