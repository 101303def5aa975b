import { computeHmac, type Keys, seal, unseal } from '../../crypto/keys.ts'
import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** A response as it is stored and replayed. */
export interface StoredResponse {
  status: number
  body: string
  headers: Record<string, string>
}

/** A write with an Idempotency-Key. Key and request are keyed hashes. */
export interface KeyedWrite {
  operation: string
  keyHash: Buffer
  requestHash: Buffer
}

/** Locks the key until the transaction ends. Throws if the key is used (`isKeyUsed`), so that statements can be pipelined behind it. */
export const lockKey = (tx: Db, service: Service, { operation, keyHash }: KeyedWrite) =>
  tx.run(
    sql`select lock_idempotency_key(${service.id}, ${operation}, ${keyHash}, ${keyHash.readInt32BE(0)}, ${keyHash.readInt32BE(4)})`,
  )

/** True if another transaction has locked the key, or a response is stored for it. */
export const isKeyUsed = (error: unknown) =>
  (error as { constraint?: unknown } | undefined)?.constraint === 'idempotency_key_available'

/** Returns the response of the key's last 24 hours and its request. The response is undefined if it was about a customer who was erased. */
export async function findStoredResponse(
  db: Db,
  keys: Keys,
  service: Service,
  { operation, keyHash }: KeyedWrite,
): Promise<{ requestHash: Buffer; response: StoredResponse | undefined } | undefined> {
  const stored = await db.row<{ requestHash: Buffer; sealed: Buffer | null }>(sql`
    select request_hash as "requestHash", response as sealed from idempotent_response
     where service_id = ${service.id} and operation = ${operation} and key_hash = ${keyHash} and created_at > expiry_clock() - interval '24 hours'`)
  if (!stored) return
  const { requestHash, sealed } = stored
  const json = sealed && unseal(keys, getResponseContext(service, operation, keyHash), sealed)
  return { requestHash, response: json === null ? undefined : JSON.parse(json) }
}

/** Stores a response, encrypted, in the transaction of its write. `subject`: the path of the written record. */
export async function storeResponse(
  tx: Db,
  keys: Keys,
  service: Service,
  { operation, keyHash, requestHash }: KeyedWrite,
  response: StoredResponse,
  subject: string | undefined,
) {
  const sealed = seal(keys, getResponseContext(service, operation, keyHash), JSON.stringify(response))
  await tx.run(sql`
    insert into idempotent_response (service_id, operation, key_hash, request_hash, response, subject) values (${service.id}, ${operation}, ${keyHash}, ${requestHash}, ${sealed}, ${subject === undefined ? null : hashSubject(keys, service, subject)})
    on conflict (service_id, operation, key_hash) do update set (request_hash, response, subject, created_at) = (excluded.request_hash, excluded.response, excluded.subject, excluded.created_at)`)
}

/** The context that an encrypted response is bound to. */
export const getResponseContext = (service: Pick<Service, 'id'>, operation: string, keyHash: Buffer) =>
  `${service.id} ${operation} ${keyHash.toString('hex')}`

/** Writes whose responses contain personal data. */
const personalOperations = ['POST /customers', 'POST /orders', 'POST /orders/:id/returns']

/** Deletes the responses about these paths. Their keys stay used. */
export const deleteResponsesAbout = (tx: Db, keys: Keys, service: Service, subjects: readonly string[]) =>
  tx.run(sql`
    update idempotent_response set response = null
     where service_id = ${service.id} and operation = any(${personalOperations}) and subject = any(${subjects.map(subject => hashSubject(keys, service, subject))})`)

const hashSubject = (keys: Keys, service: Service, path: string) =>
  computeHmac(keys.subjects, 'answer about', String(service.id), path)

const rowsPerBatch = 1_000

/** Deletes expired responses in batches, also for services that have moved to another database. */
export async function purgeResponses(db: Db, isOver: () => boolean): Promise<void> {
  const services = await db.rows<{ id: number }>(
    sql`select service_id as id from service where move_state is distinct from 'incoming' order by 1`,
  )
  for (const { id } of services)
    for (let deleted = rowsPerBatch; deleted === rowsPerBatch && !isOver(); ) deleted = await deleteBatch(db, id)
}

const deleteBatch = (db: Db, serviceId: number) => {
  const isOld = sql`service_id = ${serviceId} and created_at <= expiry_clock() - interval '24 hours'`
  return db.run(sql`
    delete from idempotent_response
     where ${isOld} and ctid = any(array(
             select ctid from idempotent_response where ${isOld} order by created_at limit ${rowsPerBatch}))`)
}
