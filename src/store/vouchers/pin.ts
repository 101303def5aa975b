import { hmac, type Keys } from '../../crypto/keys.ts'
import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** How a PIN is kept: a stolen dump gives none away without the key. */
export const pinHash = (keys: Keys, service: Service, number: string, pin: string) =>
  hmac(keys.pins, String(service.id), number, pin)

/** Gives a voucher another PIN, by its hash: the one before opens it no more. */
export const putPin = (tx: Db, service: Service, number: string, hash: Buffer) =>
  tx.run(sql`update voucher set pin_hash = ${hash} where service_id = ${service.id} and number = ${number}`)

/** What is known where a PIN is guessed at. */
export interface Guarded {
  /** Of our own voucher with this number. */
  pinHash: Buffer | null
  /** Whether the voucher refuses, whatever the PIN. */
  isRefused: boolean
  /** Failures of each that is counted, in this minute, and the seconds that are left of it. */
  counted: number[]
  secondsLeft: number
}

/** Lets nobody else guess at the same number until the transaction ends. Subjects are keyed hashes: of the number, and of all that is counted. */
export async function takeGuess(
  tx: Db,
  service: Service,
  number: string,
  { subject, counted }: { subject: Buffer; counted: readonly Buffer[] },
): Promise<Guarded> {
  // A statement of its own: the next one sees what whoever guessed before has left.
  const held = tx.run(sql`select pg_advisory_xact_lock(${subject.readInt32BE(0)}, ${subject.readInt32BE(4)})`)
  const read = tx.row<Guarded>(sql`
    select v.pin_hash as "pinHash", coalesce(g.refused_until > statement_timestamp(), false) as "isRefused",
           array(select coalesce(f.failures, 0) from unnest(${counted}::bytea[]) with ordinality c(subject, place)
                   left join failure f on f.subject = c.subject and f.window_start = date_trunc('minute', now()) order by place) as counted,
           ceil(extract(epoch from date_trunc('minute', now()) + interval '1 minute' - now()))::integer as "secondsLeft"
      from (values (1)) always
      left join voucher v on v.service_id = ${service.id} and v.number = ${number}
      left join pin_guard g on g.service_id = ${service.id} and g.subject = ${subject}`)
  const [, guarded] = await Promise.all([held, read])
  if (!guarded) throw new Error('a row of one value has a row')
  return guarded
}

/** Counts one more wrong PIN. Returns how many there were in a row. */
export async function countFailureOf(tx: Db, service: Service, subject: Buffer): Promise<number> {
  const counted = await tx.row<{ failures: number }>(sql`
    insert into pin_guard (service_id, subject, failures, refused_until)
    values (${service.id}, ${subject}, 1, statement_timestamp())
    on conflict (service_id, subject) do update set (failures, refused_until) = (pin_guard.failures + 1, excluded.refused_until)
    returning failures`)
  return counted?.failures ?? 0
}

/** Has a voucher refuse for so many seconds from now on. */
export const refuseFor = (tx: Db, service: Service, subject: Buffer, seconds: number) =>
  tx.run(sql`
    update pin_guard set refused_until = statement_timestamp() + make_interval(secs => ${seconds})
     where service_id = ${service.id} and subject = ${subject}`)

/** The PIN was right: the wrong ones before it count no more. */
export const forgetGuesses = (tx: Db, service: Service, { subject }: { subject: Buffer }) =>
  tx.run(sql`delete from pin_guard where service_id = ${service.id} and subject = ${subject}`)

/** Forgets the wrong PINs of numbers that nobody has tried for a day. Returns how many numbers. */
export const forgetWrongPins = (db: Db) =>
  db.run(sql`delete from pin_guard where refused_until < now() - interval '1 day'`)
