import { computeHmac, type Keys, seal, unseal } from '../../crypto/keys.ts'
import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** Names that one write locks across processes until it ends, for at most a minute after its process died. */
export interface Reservation {
  /** For example `order 8001`. */
  names: readonly string[]
  /** Keeps the lock after the attempt if its outcome is unknown, until the outcome is known. */
  untilResolved?: boolean
}

/** The stored request of a write, with everything that recovery needs. */
export interface WriteRequest {
  operation: string
  params: Record<string, string>
  body: unknown
  username: string
  requestId: string
  agent?: string | undefined
  apiKey?: string | undefined
}

/** A write that calls a back office, from before the call until effect, audit entry and response are stored. */
interface Intent {
  /** The write's `reference`. The same for a retry with the same Idempotency-Key. */
  id: string
  /** Fencing token, new for each attempt. Only the newest attempt can store anything. */
  token: string
  keyHash: Buffer | undefined
  requestHash: Buffer
  requested: WriteRequest
}

/** Seconds of the lease. After that, a retry or the job `reconcile-writes` can take over. */
export const claimLeaseSeconds = 45

const lease = sql`statement_timestamp() + ${claimLeaseSeconds} * interval '1 s'`

/**
 * Claims a write for one attempt, and stores its request. Returns `new`, or `open` if an earlier attempt ended with an unknown outcome. The
 * claim fails with `running` if another attempt has the lease, and with `other` if the key belongs to another request.
 */
export async function claimIntent(
  tx: Db,
  keys: Keys,
  service: Service,
  { id, token, keyHash, requestHash, requested }: Intent,
): Promise<'new' | 'open' | 'running' | 'other'> {
  const sealed = seal(keys, getIntentContext(service.id, id), JSON.stringify(requested))
  const claimed = await tx.row<{ wasOpen: boolean }>(sql`
    with previous_claim as (select from intent where service_id = ${service.id} and id = ${id} and token <> ${token})
    insert into intent as i (service_id, id, operation, key_hash, request_hash, request, token, claimed_until, next_check_at)
    values (${service.id}, ${id}, ${requested.operation}, ${keyHash}, ${requestHash}, ${sealed}, ${token}, ${lease}, ${lease})
    on conflict (service_id, id) do update
      set (request, token, claimed_until, next_check_at, checks) = (excluded.request, excluded.token, excluded.claimed_until, excluded.next_check_at, 0)
      where i.request_hash = excluded.request_hash and (i.claimed_until <= statement_timestamp() or i.token = excluded.token)
    returning exists (select from previous_claim) as "wasOpen"`)
  if (claimed) return claimed.wasOpen ? 'open' : 'new'
  const row = await tx.row<{ isOther: boolean }>(sql`
    select request_hash <> ${requestHash} as "isOther" from intent where service_id = ${service.id} and id = ${id}`)
  return row?.isOther ? 'other' : 'running'
}

/** Locks a claim until the transaction ends. Returns false if another attempt has taken over, or the write has ended. */
export const renewClaim = async (tx: Db, service: Service, { id, token }: Pick<Intent, 'id' | 'token'>) =>
  Boolean(
    await tx.row(
      sql`select true as claimed from intent where service_id = ${service.id} and id = ${id} and token = ${token} for update`,
    ),
  )

/** Ends a write and its reservations. Returns false if another attempt has taken over. */
export const endIntent = async (tx: Db, service: Service, { id, token }: Pick<Intent, 'id' | 'token'>) =>
  (await tx.run(sql`
    with ended as (delete from intent where service_id = ${service.id} and id = ${id} and token = ${token} returning id),
         released as (delete from reservation where service_id = ${service.id} and owner in (select id from ended))
    select from ended`)) > 0

/**
 * Releases a claim with an unknown outcome. A retry can claim it at once, the job `reconcile-writes` after `checkAfterSeconds`. `isMiss`:
 * true if the back office has just been checked and does not have the write.
 */
export const releaseIntent = (
  db: Db,
  service: Service,
  { id, token }: Pick<Intent, 'id' | 'token'>,
  { checkAfterSeconds, isMiss = false }: { checkAfterSeconds: number; isMiss?: boolean },
) =>
  db.run(sql`
    with released as (
      update intent set claimed_until = statement_timestamp(), next_check_at = statement_timestamp() + ${checkAfterSeconds} * interval '1 s', checks = checks + ${isMiss ? 1 : 0}
       where service_id = ${service.id} and id = ${id} and token = ${token} returning id)
    delete from reservation where service_id = ${service.id} and not until_resolved and owner in (select id from released)`)

/** A write in doubt that was claimed for recovery. */
export interface InDoubtWrite extends Intent {
  serviceId: number
  /** Earlier checks that did not find the write. */
  misses: number
}

interface Row {
  serviceId: number
  id: string
  token: string
  keyHash: Buffer | null
  requestHash: Buffer
  request: Buffer
  misses: number
}

/** Claims a write in doubt whose next check is due. Returns undefined if no check is due. */
export async function claimInDoubtWrite(db: Db, keys: Keys): Promise<InDoubtWrite | undefined> {
  const row = await db.row<Row>(sql`
    update intent set token = gen_random_uuid(), claimed_until = ${lease}, next_check_at = ${lease}
     where ctid = (select ctid from intent
                    where next_check_at <= statement_timestamp() and claimed_until <= statement_timestamp()
                      and exists (select from service s where s.service_id = intent.service_id and s.move_state is null and s.shard_name is null)
                    order by next_check_at limit 1 for update skip locked)
    returning service_id as "serviceId", id, token, key_hash as "keyHash", request_hash as "requestHash", request, checks as misses`)
  if (!row) return
  const { keyHash, request, ...claim } = row
  const requested = JSON.parse(unseal(keys, getIntentContext(row.serviceId, row.id), request)) as WriteRequest
  return { ...claim, keyHash: keyHash ?? undefined, requested }
}

/** The context that the encrypted request of an intent is bound to. */
export const getIntentContext = (serviceId: number, id: string) => `${serviceId} intent ${id}`

/**
 * Reserves names for a write or a read (`owner`). Returns false if another owner has one of them and is in flight or in doubt. The caller
 * must roll back then, because some names may be reserved.
 */
export async function reserveNames(
  tx: Db,
  keys: Keys,
  service: Service,
  owner: string,
  { names, untilResolved }: Required<Reservation>,
): Promise<boolean> {
  const subjects = [...new Set(names)].map(name => hashName(keys, name))
  const reserved = await tx.run(sql`
    insert into reservation as h (service_id, subject, owner, until_resolved, reserved_until)
    select ${service.id}, subject, ${owner}, ${untilResolved}, ${lease} from unnest(${subjects}::bytea[]) subject order by subject
    on conflict (service_id, subject) do update set (owner, until_resolved, reserved_until) = (excluded.owner, excluded.until_resolved, excluded.reserved_until)
      where h.owner = excluded.owner or not ${isReserved}`)
  return reserved === subjects.length
}

/** True if any service has reserved this name, because several services can share one back office. */
export const isReservedByAnyService = async (db: Db, keys: Keys, name: string) =>
  Boolean(
    await db.row(sql`
      select true as taken
        from service s join reservation h on h.service_id = s.service_id and h.subject = ${hashName(keys, name)}
       where ${isReserved} limit 1`),
  )

/** Hashes the name without the service, so that reservations of other services are found too. */
const hashName = (keys: Keys, name: string) => computeHmac(keys.subjects, 'hold', name)

/** SQL condition: true if a reservation `h` is in effect. */
const isReserved = sql`
  (h.reserved_until > statement_timestamp()
   or h.until_resolved and exists (select from intent i where i.service_id = h.service_id and i.id = h.owner))`

/** Locks the reservations of an owner until the transaction ends. Returns their number: expired ones may belong to another owner now. */
export const lockReservations = (tx: Db, service: Service, owner: string) =>
  tx.run(sql`select from reservation where service_id = ${service.id} and owner = ${owner} for update`)

/** Releases all reservations of an owner. */
export const releaseReservations = (tx: Db, service: Service, owner: string) =>
  tx.run(sql`delete from reservation where service_id = ${service.id} and owner = ${owner}`)

/** Deletes reservations of dead processes. Returns their number. */
export const purgeReservations = (db: Db) =>
  db.run(sql`
    delete from reservation h
     where reserved_until < now() - interval '1 hour'
       and not exists (select from intent i where i.service_id = h.service_id and i.id = h.owner)`)
