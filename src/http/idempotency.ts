import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { CommitUnknown, type Database, type Db } from '../db.ts'
import { ApiError } from '../errors.ts'
import { failpoint } from '../failpoints.ts'
import { hmac, type Keys } from '../secrets.ts'
import type { Service } from '../settings.ts'
import { isContention } from '../store/running/contention.ts'
import { type Answer, type KeyedWrite, keepAnswer, storedAnswer, takeKey } from '../store/running/idempotency.ts'

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
  const write = key === undefined ? undefined : keyedWrite(keys, service, operation, key, requested)
  const reference = write?.keyHash.toString('hex').slice(0, 32) ?? randomUUID().replaceAll('-', '')
  for (let attempt = 1; ; attempt++) {
    try {
      const outcome = await db.transaction(async tx => {
        const stored = write && (await claim(tx, keys, service, write))
        if (stored) return { answer: stored, replayed: true }
        const answer = await work(tx, reference)
        if (write && !(answer instanceof ApiError)) await keepAnswer(tx, keys, service, write, answer)
        failpoint('before_commit')
        return { answer, replayed: false }
      })
      const { answer, replayed } = outcome
      if (answer instanceof ApiError) throw answer
      return { answer, replayed }
    } catch (error) {
      // With a key it can be asked whether the commit got through: the next attempt finds the answer, or does the work.
      const again = isContention(error) || (write !== undefined && error instanceof CommitUnknown)
      if (!again || attempt === attempts)
        throw isContention(error) ? new ApiError('concurrent_update', undefined, { retryAfter: 1 }) : error
      await delay(attempt * (isContention(error) ? 10 + Math.random() * 40 : 500))
    }
  }
}

const attempts = 4

const keyedWrite = (keys: Keys, service: Service, operation: string, key: string, requested: string): KeyedWrite => ({
  operation,
  keyHash: hmac(keys.subjects, 'idempotency key', String(service.id), operation, key),
  requestHash: hmac(keys.subjects, 'request', requested),
})

/** Takes the key for this transaction; the stored answer where there is one. */
async function claim(tx: Db, keys: Keys, service: Service, write: KeyedWrite): Promise<Answer | undefined> {
  if (!(await takeKey(tx, write))) throw new ApiError('idempotency_in_progress', undefined, { retryAfter: 1 })
  const stored = await storedAnswer(tx, keys, service, write)
  if (stored && !stored.requestHash.equals(write.requestHash)) throw new ApiError('idempotency_key_reused')
  return stored?.answer
}
