import { hashSecret, type Keys, listHashes } from '../../crypto/keys.ts'
import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** Returns the stored form of a PIN, a keyed hash: a stolen dump is useless without the key. */
export const hashPin = (keys: Keys, service: Service, number: string, pin: string) =>
  hashSecret(keys, 'pins', String(service.id), number, pin)

/** Returns all hashes that can be stored for a PIN, the current one first. */
export const listPinHashes = (keys: Keys, service: Service, number: string, pin: string) =>
  listHashes(keys, 'pins', String(service.id), number, pin)

/** Replaces the PIN of a voucher by its hash. */
export const updatePin = (tx: Db, service: Service, number: string, hash: Buffer) =>
  tx.run(sql`update voucher set pin_hash = ${hash} where service_id = ${service.id} and number = ${number}`)

/** The state that decides about an attempt to open a voucher. */
export interface PinState {
  /** Hash of the PIN, if the voucher was issued in Tillbridge. */
  pinHash: Buffer | null
  /** True if the voucher is blocked, whatever the PIN. */
  isBlocked: boolean
  /** Failures of each counted subject in the current minute. */
  failureCounts: number[]
  secondsLeft: number
}

/**
 * Locks a voucher number against concurrent attempts until the transaction ends. Subjects are keyed hashes: of the number, and of
 * everything whose failures are counted.
 */
export async function lockGuesses(
  tx: Db,
  service: Service,
  number: string,
  { subject, counted }: { subject: Buffer; counted: readonly Buffer[] },
): Promise<PinState> {
  // A separate statement: the next one sees the results of earlier attempts.
  const lock = tx.run(sql`select pg_advisory_xact_lock(${subject.readInt32BE(0)}, ${subject.readInt32BE(4)})`)
  const read = tx.row<PinState>(sql`
    select v.pin_hash as "pinHash", coalesce(g.blocked_until > statement_timestamp(), false) as "isBlocked",
           array(select coalesce(f.failures, 0) from unnest(${counted}::bytea[]) with ordinality c(subject, ordinal)
                   left join failure f on f.subject = c.subject and f.window_start = date_trunc('minute', now()) order by ordinal) as "failureCounts",
           ceil(extract(epoch from date_trunc('minute', now()) + interval '1 minute' - now()))::integer as "secondsLeft"
      from (values (1)) always
      left join voucher v on v.service_id = ${service.id} and v.number = ${number}
      left join pin_guard g on g.service_id = ${service.id} and g.subject = ${subject}`)
  const [, state] = await Promise.all([lock, read])
  if (!state) throw new Error('select of the PIN state returned no row')
  return state
}

/** Counts a wrong PIN. Returns the number of consecutive wrong PINs. */
export async function countWrongPin(tx: Db, service: Service, subject: Buffer): Promise<number> {
  const counted = await tx.row<{ failures: number }>(sql`
    insert into pin_guard (service_id, subject, failures, blocked_until)
    values (${service.id}, ${subject}, 1, statement_timestamp())
    on conflict (service_id, subject) do update set (failures, blocked_until) = (pin_guard.failures + 1, excluded.blocked_until)
    returning failures`)
  return counted?.failures ?? 0
}

/** Blocks further guesses of a subject, such as a voucher, for `seconds`. */
export const blockGuesses = (tx: Db, service: Service, subject: Buffer, seconds: number) =>
  tx.run(sql`
    update pin_guard set blocked_until = statement_timestamp() + make_interval(secs => ${seconds})
     where service_id = ${service.id} and subject = ${subject}`)

/** Resets the count after a correct PIN. */
export const resetWrongPins = (tx: Db, service: Service, { subject }: { subject: Buffer }) =>
  tx.run(sql`delete from pin_guard where service_id = ${service.id} and subject = ${subject}`)

/** Deletes the counts of numbers without an attempt for a day. Returns their number. */
export const purgeWrongPins = (db: Db) =>
  db.run(sql`delete from pin_guard where blocked_until < now() - interval '1 day'`)
