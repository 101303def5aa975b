import { randomUUID } from 'node:crypto'
import { computeHmac, type Keys } from '../crypto/keys.ts'
import type { Db } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { ApiError } from '../errors/api-error.ts'
import { findStoredResponse, type KeyedWrite, type StoredResponse } from '../store/writes/idempotency.ts'

/**
 * Returns the value of an `Idempotency-Key` header, quoted or bare: 1 to 255 printable characters. Returns undefined if the header is
 * absent. Throws `idempotency_key_invalid` if the key is invalid, or absent although the service requires it.
 */
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

/** The identity of a write. */
export interface Identity {
  /** A UUID. It is derived from the key if there is one, so that a repeat has the same ID. */
  id: string
  requestHash: Buffer
  keyed: KeyedWrite | undefined
}

/** Creates the identity of a write. `request` is path and body as canonical JSON. */
export function createIdentity(
  keys: Keys,
  service: Service,
  operation: string,
  key: string | undefined,
  request: string,
): Identity {
  const requestHash = computeHmac(keys.subjects, 'request', request)
  if (key === undefined) return { id: randomUUID(), requestHash, keyed: undefined }
  const keyHash = computeHmac(keys.subjects, 'idempotency key', String(service.id), operation, key)
  return { id: toUuid(keyHash), requestHash, keyed: { operation, keyHash, requestHash } }
}

const toUuid = (hash: Buffer) =>
  hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** Thrown if the write was executed before. Carries the stored response. */
export class IdempotentReplay extends Error {
  readonly response: StoredResponse
  constructor(response: StoredResponse) {
    super('the write was executed before')
    this.response = response
  }
}

/**
 * Finds out why a key can't be used. Returns the error to throw: `IdempotentReplay` if there is a response, `idempotency_in_progress` if
 * another transaction has the key. If the key belongs to another request, returns `idempotency_key_reused`.
 */
export async function findKeyConflict(db: Db, keys: Keys, service: Service, write: KeyedWrite): Promise<Error> {
  const stored = await findStoredResponse(db, keys, service, write)
  if (!stored) return inProgress()
  if (!stored.requestHash.equals(write.requestHash)) return new ApiError('idempotency_key_reused')
  if (stored.response) return new IdempotentReplay(stored.response)
  return new ApiError(
    'idempotency_key_reused',
    'The response for this key was deleted, because the customer was erased.',
  )
}

export const inProgress = () => new ApiError('idempotency_in_progress', undefined, { retryAfter: 1 })

export const isInProgress = (error: unknown) => error instanceof ApiError && error.code === 'idempotency_in_progress'
