import { hmac, type Keys, seal, unseal } from '../../crypto/keys.ts'
import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** Names that one write locks across processes until it ends, for at most a minute after its process died. */
export interface Reservation {
  /** For example `order 8001`. */
  names: readonly string[]
  /** Keeps the lock after the attempt if its outcome is unknown, until the outcome is known. */
  untilResolved?: boolean
}

/** What a write was asked for: all that it takes to find out what has become of it, without its caller. */
export interface WriteRequest {
  operation: string
  params: Record<string, string>
  body: unknown
  username: string
  requestId: string
}

/** A write that a back office is told of, from before that until effect, audit and answer are stored. */
interface Intent {
  /** The write's `reference`: the same for a repeat with the same Idempotency-Key. */
  id: string
  /** Another one for each attempt: only who has the newest may store anything. */
  token: string
  keyHash: Buffer | undefined
  requestHash: Buffer
  requested: WriteRequest
}

/** Seconds that a claim lasts: whoever has died by then is followed by a repeat, or by the job that settles. */
export const claimLeaseSeconds = 45

const lease = sql`statement_timestamp() + ${claimLeaseSeconds} * interval '1 s'`

/**
 * Claims a write for one attempt, and writes down what it was asked for. Returns what stands there: nothing before it (`new`), an attempt
 * that was left open (`open`); or why not: another attempt is under way (`running`), or what was asked for under the key is something else
 * (`other`).
 */
export async function claimIntent(
  tx: Db,
  keys: Keys,
  service: Service,
  { id, token, keyHash, requestHash, requested }: Intent,
): Promise<'new' | 'open' | 'running' | 'other'> {
  const sealed = seal(keys.sealed, sealContext(service.id, id), JSON.stringify(requested))
  const claimed = await tx.row<{ wasOpen: boolean }>(sql`
    with earlier as (select from intent where service_id = ${service.id} and id = ${id} and token <> ${token})
    insert into intent as i (service_id, id, operation, key_hash, request_hash, request, token, claimed_until, next_check_at)
    values (${service.id}, ${id}, ${requested.operation}, ${keyHash}, ${requestHash}, ${sealed}, ${token}, ${lease}, ${lease})
    on conflict (service_id, id) do update
      set (request, token, claimed_until, next_check_at, checks) = (excluded.request, excluded.token, excluded.claimed_until, excluded.next_check_at, 0)
      where i.request_hash = excluded.request_hash and (i.claimed_until <= statement_timestamp() or i.token = excluded.token)
    returning exists (select from earlier) as "wasOpen"`)
  if (claimed) return claimed.wasOpen ? 'open' : 'new'
  const found = await tx.row<{ isOther: boolean }>(sql`
    select request_hash <> ${requestHash} as "isOther" from intent where service_id = ${service.id} and id = ${id}`)
  return found?.isOther ? 'other' : 'running'
}

/** Holds a claim until the transaction ends; false where another attempt has it by now, or the write has ended. */
export const renewClaim = async (tx: Db, service: Service, { id, token }: Pick<Intent, 'id' | 'token'>) =>
  Boolean(
    await tx.row(
      sql`select true as claimed from intent where service_id = ${service.id} and id = ${id} and token = ${token} for update`,
    ),
  )

/** Ends a write, and with it all that it held; false where the claim is another attempt's by now. */
export const endIntent = async (tx: Db, service: Service, { id, token }: Pick<Intent, 'id' | 'token'>) =>
  (await tx.run(sql`
    with ended as (delete from intent where service_id = ${service.id} and id = ${id} and token = ${token} returning id),
         given_back as (delete from reservation where service_id = ${service.id} and owner in (select id from ended))
    select from ended`)) > 0

/**
 * Gives a claim back, with the outcome unknown: a repeat may have it at once, the job that settles after so many seconds. `looksInVain`
 * are counted.
 */
export const releaseIntent = (
  db: Db,
  service: Service,
  { id, token }: Pick<Intent, 'id' | 'token'>,
  seconds: number,
  looksInVain = 0,
) =>
  db.run(sql`
    with left_open as (
      update intent set claimed_until = statement_timestamp(), next_check_at = statement_timestamp() + ${seconds} * interval '1 s', checks = checks + ${looksInVain}
       where service_id = ${service.id} and id = ${id} and token = ${token} returning id)
    delete from reservation where service_id = ${service.id} and not until_resolved and owner in (select id from left_open)`)

/** A write that nobody is at any more, claimed for settling. */
export interface InDoubtWrite extends Intent {
  serviceId: number
  /** How often it was looked for in vain before. */
  failedChecks: number
}

interface Row {
  serviceId: number
  id: string
  token: string
  keyHash: Buffer | null
  requestHash: Buffer
  request: Buffer
  failedChecks: number
}

/** Claims a write that nobody is at any more, and of which it is time to find out; undefined where there is none. */
export async function claimInDoubtWrite(db: Db, keys: Keys): Promise<InDoubtWrite | undefined> {
  const row = await db.row<Row>(sql`
    update intent set token = gen_random_uuid(), claimed_until = ${lease}, next_check_at = ${lease}
     where ctid = (select ctid from intent
                    where next_check_at <= statement_timestamp() and claimed_until <= statement_timestamp()
                      and exists (select from service s where s.service_id = intent.service_id and s.move_state is null and s.shard_name is null)
                    order by next_check_at limit 1 for update skip locked)
    returning service_id as "serviceId", id, token, key_hash as "keyHash", request_hash as "requestHash", request, checks as "failedChecks"`)
  if (!row) return
  const { keyHash, request, ...rest } = row
  const requested = JSON.parse(unseal(keys.sealed, sealContext(row.serviceId, row.id), request)) as WriteRequest
  return { ...rest, keyHash: keyHash ?? undefined, requested }
}

const sealContext = (serviceId: number, id: string) => `${serviceId} intent ${id}`

/**
 * Takes things, by their names, for a write or a reading (`owner`), until it gives them back; false where another one has one of them,
 * and is under way, or has left open what it did with it. To be undone then: some may be taken.
 */
export async function reserveNames(
  tx: Db,
  keys: Keys,
  service: Service,
  owner: string,
  { names, untilResolved }: Required<Reservation>,
): Promise<boolean> {
  const subjects = [...new Set(names)].map(name => hashName(keys, name))
  const taken = await tx.run(sql`
    insert into reservation as h (service_id, subject, owner, until_resolved, reserved_until)
    select ${service.id}, subject, ${owner}, ${untilResolved}, ${lease} from unnest(${subjects}::bytea[]) subject order by subject
    on conflict (service_id, subject) do update set (owner, until_resolved, reserved_until) = (excluded.owner, excluded.until_resolved, excluded.reserved_until)
      where h.owner = excluded.owner or not ${isReserved}`)
  return taken === subjects.length
}

/** Whether a service has this, whichever it is, and is under way, or has left open what it did with it: several may have one back office. */
export const isReservedByAnyService = async (db: Db, keys: Keys, name: string) =>
  Boolean(
    await db.row(sql`
      select true as taken
        from service s join reservation h on h.service_id = s.service_id and h.subject = ${hashName(keys, name)}
       where ${isReserved} limit 1`),
  )

/** By the name alone, since the key of the table has the service: so what another service holds is found by its name too. */
const hashName = (keys: Keys, name: string) => hmac(keys.subjects, 'hold', name)

/** Whether a hold `h` counts still. */
const isReserved = sql`
  (h.reserved_until > statement_timestamp()
   or h.until_resolved and exists (select from intent i where i.service_id = h.service_id and i.id = h.owner))`

/** Takes for this transaction what a write or a reading holds. Returns how many things: one whose time was up may be another one's now. */
export const lockReservations = (tx: Db, service: Service, owner: string) =>
  tx.run(sql`select from reservation where service_id = ${service.id} and owner = ${owner} for update`)

export const releaseReservations = (tx: Db, service: Service, owner: string) =>
  tx.run(sql`delete from reservation where service_id = ${service.id} and owner = ${owner}`)

/** Forgets what was held by readings that died. Returns how many. */
export const purgeReservations = (db: Db) =>
  db.run(sql`
    delete from reservation h
     where reserved_until < now() - interval '1 hour'
       and not exists (select from intent i where i.service_id = h.service_id and i.id = h.owner)`)
