import { type Db, sql } from '../../db.ts'
import { type Keys, seal, unseal } from '../../secrets.ts'
import type { Service } from '../../settings.ts'

/** An answer as it is stored and given again. */
export interface Answer {
  status: number
  body: string
  headers: Record<string, string>
}

/** A write by its Idempotency-Key: what was asked for under it, as keyed hashes. */
export interface KeyedWrite {
  operation: string
  keyHash: Buffer
  requestHash: Buffer
}

/** Takes the key for this transaction; false where another one has it. */
export async function takeKey(tx: Db, { keyHash }: KeyedWrite): Promise<boolean> {
  const locked = await tx.row<{ taken: boolean }>(
    sql`select pg_try_advisory_xact_lock(${keyHash.readInt32BE(0)}, ${keyHash.readInt32BE(4)}) as taken`,
  )
  return locked?.taken ?? false
}

/** What was answered under the key in the last 24 hours, and to what. */
export async function storedAnswer(
  tx: Db,
  keys: Keys,
  service: Service,
  { operation, keyHash }: KeyedWrite,
): Promise<{ requestHash: Buffer; answer: Answer } | undefined> {
  const stored = await tx.row<{ requestHash: Buffer; answer: Buffer }>(sql`
    select request_hash as "requestHash", answer from idempotent_answer
     where service_id = ${service.id} and operation = ${operation} and key_hash = ${keyHash} and created_at > now() - interval '24 hours'`)
  if (!stored) return
  const { requestHash, answer } = stored
  return { requestHash, answer: JSON.parse(unseal(keys.sealed, placeOf(service, operation, keyHash), answer)) }
}

/** Keeps an answer, encrypted, in the transaction of what it tells. */
export async function keepAnswer(
  tx: Db,
  keys: Keys,
  service: Service,
  { operation, keyHash, requestHash }: KeyedWrite,
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
