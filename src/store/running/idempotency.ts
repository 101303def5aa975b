import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Database, type Db, sql } from '../../db.ts'
import { ApiError } from '../../errors.ts'
import { failpoint } from '../../failpoints.ts'
import { hmac, type Keys, seal, unseal } from '../../secrets.ts'
import type { Service } from '../../settings.ts'
import { isContention } from './contention.ts'

/** An answer as it is stored and given again. */
export interface Answer {
  status: number
  body: string
  headers: Record<string, string>
}

/** The value of an `Idempotency-Key` header, quoted or bare: 1 to 255 printable characters (contract 1.5). */
export function readIdempotencyKey(header: string | undefined, service: Service): string | undefined {
  if (header === undefined) {
    if (service.settings.requireIdempotencyKey)
      throw new ApiError(
        'idempotency_key_invalid',
        'This service wants an `Idempotency-Key` with every write that takes one.',
      )
    return
  }
  const [, quoted, bare] =
    /^(?:"([\x20\x21\x23-\x7e]{1,255})"|([\x21\x23-\x7e][\x20\x21\x23-\x7e]{0,254}))$/.exec(header) ?? []
  const key = quoted ?? bare
  if (key === undefined) throw new ApiError('idempotency_key_invalid')
  return key
}

/**
 * Does a write once for its key: the first answer is stored with the effect, in one transaction, and given again for 24 hours.
 * Two at once: the second is refused while the first runs; the lock that says so goes with the first one's transaction, however
 * that ends, so that nothing outlives a process that was killed. An `ApiError` that `work` throws undoes everything; one that it
 * returns commits what was done. Neither uses up the key.
 */
export async function once(
  { db, keys }: { db: Database; keys: Keys },
  service: Service,
  operation: string,
  key: string | undefined,
  requested: string,
  work: (tx: Db, reference: string) => Promise<Answer | ApiError>,
): Promise<{ answer: Answer; replayed: boolean }> {
  const entry = key === undefined ? undefined : entryOf(keys, service, operation, key, requested)
  const reference = entry?.keyHash.toString('hex').slice(0, 32) ?? randomUUID().replaceAll('-', '')
  for (let attempt = 1; ; attempt++) {
    let isWorkDone = false
    try {
      const outcome = await db.transaction(async tx => {
        const stored = entry && (await claim(tx, service, operation, entry, keys))
        isWorkDone = stored !== undefined
        if (stored) return { answer: stored, replayed: true }
        const answer = await work(tx, reference)
        if (entry && !(answer instanceof ApiError)) await keep(tx, service, operation, entry, keys, answer)
        isWorkDone = true
        failpoint('before_commit')
        return { answer, replayed: false }
      })
      const { answer, replayed } = outcome
      if (answer instanceof ApiError) throw answer
      return { answer, replayed }
    } catch (error) {
      // With a key it can be asked whether the commit got through: the next attempt finds the answer, or does the work. What the work
      // itself leaves open, a back office that has not answered, is for the caller to repeat: it has taken all the time there is.
      const again = isContention(error) || (entry !== undefined && isWorkDone && isUnknown(error))
      if (!again || attempt === attempts)
        throw isContention(error) ? new ApiError('concurrent_update', undefined, { retryAfter: 1 }) : error
      await delay(attempt * (isContention(error) ? 10 + Math.random() * 40 : 500))
    }
  }
}

const attempts = 4

const isUnknown = (error: unknown) => error instanceof ApiError && error.code === 'outcome_unknown'

interface Entry {
  keyHash: Buffer
  requestHash: Buffer
}

const entryOf = (keys: Keys, service: Service, operation: string, key: string, requested: string): Entry => ({
  keyHash: hmac(keys.subjects, 'idempotency key', String(service.id), operation, key),
  requestHash: hmac(keys.subjects, 'request', requested),
})

/** Takes the key for this transaction; the stored answer where there is one. */
async function claim(tx: Db, service: Service, operation: string, { keyHash, requestHash }: Entry, keys: Keys) {
  const locked = await tx.row<{ taken: boolean }>(
    sql`select pg_try_advisory_xact_lock(${keyHash.readInt32BE(0)}, ${keyHash.readInt32BE(4)}) as taken`,
  )
  if (!locked?.taken) throw new ApiError('idempotency_in_progress', undefined, { retryAfter: 1 })
  const stored = await tx.row<{ request_hash: Buffer; answer: Buffer }>(sql`
    select request_hash, answer from idempotent_answer
     where service_id = ${service.id} and operation = ${operation} and key_hash = ${keyHash} and created_at > now() - interval '24 hours'`)
  if (!stored) return
  if (!stored.request_hash.equals(requestHash)) throw new ApiError('idempotency_key_reused')
  return JSON.parse(unseal(keys.sealed, placeOf(service, operation, keyHash), stored.answer)) as Answer
}

async function keep(
  tx: Db,
  service: Service,
  operation: string,
  { keyHash, requestHash }: Entry,
  keys: Keys,
  answer: Answer,
) {
  const sealed = seal(keys.sealed, placeOf(service, operation, keyHash), JSON.stringify(answer))
  await tx.run(sql`
    insert into idempotent_answer (service_id, operation, key_hash, request_hash, answer) values (${service.id}, ${operation}, ${keyHash}, ${requestHash}, ${sealed})
    on conflict (service_id, operation, key_hash) do update set (request_hash, answer, created_at) = (excluded.request_hash, excluded.answer, excluded.created_at)`)
}

const placeOf = (service: Service, operation: string, keyHash: Buffer) =>
  `${service.id} ${operation} ${keyHash.toString('hex')}`

/** Deletes the answers that are no longer given again. Returns how many. */
export const forgetAnswers = (db: Db) =>
  db.run(sql`delete from idempotent_answer where created_at <= now() - interval '24 hours'`)
