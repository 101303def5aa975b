import { timingSafeEqual } from 'node:crypto'
import { type Db, sql } from '../../db.ts'
import { ApiError } from '../../errors.ts'
import { countFailure } from '../../failures.ts'
import { hmac, type Keys } from '../../secrets.ts'
import type { Service } from '../../settings.ts'
import { raiseAlert } from '../running/alerts.ts'

/** How a PIN is kept: a stolen dump gives none away without the key. */
export const pinHash = (keys: Keys, service: Service, number: string, pin: string) =>
  hmac(keys.pins, String(service.id), number, pin)

/** Wrong PINs of one address in a minute, over all vouchers of a service; then it is refused whatever it sends. */
const allowedFromAddress = 30
/** After so many wrong PINs a voucher refuses, for 30 s at first, then twice as long each time, a day at most. */
const freeFailures = 5

interface Guarded {
  pinHash: Buffer | null
  isRefused: boolean
  fromAddress: number
  secondsLeft: number
}

/** A guess at a PIN. Until the transaction ends nobody else guesses at the same number. */
export interface Guess {
  number: string
  subject: Buffer
  addressSubject: Buffer
  /** Of our own voucher with this number. */
  pinHash: Buffer | null
  /** Whether the voucher refuses, whatever the PIN. */
  isRefused: boolean
}

interface Guessing {
  number: string
  address: string
}

/**
 * Judges a PIN; returns why the voucher does not open, undefined where it does. A wrong PIN, an unknown number and a voucher that
 * refuses are one and the same answer: whether the number exists makes no difference to what is read, compared and written, so
 * time does not tell either (contract 7). What is counted has to be committed: the error is returned, not thrown.
 */
export async function judgePin(
  tx: Db,
  keys: Keys,
  service: Service,
  { number, pin, address }: Guessing & { pin: string },
): Promise<ApiError | undefined> {
  const given = pinHash(keys, service, number, pin)
  const guess = await beginGuess(tx, keys, service, { number, address })
  if (guess instanceof ApiError) return guess
  const isRight = timingSafeEqual(given, guess.pinHash ?? Buffer.alloc(given.length))
  if (!isRight || guess.isRefused) return countWrongGuess(tx, service, guess)
  await forgetGuesses(tx, service, guess)
  return
}

/** Begins a guess; an error where the address has had too many wrong ones. One that comes to nothing is counted: `countWrongGuess`. */
export async function beginGuess(
  tx: Db,
  keys: Keys,
  service: Service,
  { number, address }: Guessing,
): Promise<Guess | ApiError> {
  const subject = hmac(keys.subjects, 'voucher', String(service.id), number)
  const addressSubject = hmac(keys.subjects, 'pin', String(service.id), address)
  // One guess at a time for each number: many at once must not all be judged before the first is counted.
  await tx.run(sql`select pg_advisory_xact_lock(${subject.readInt32BE(0)}, ${subject.readInt32BE(4)})`)
  const guarded = await tx.row<Guarded>(sql`
    select v.pin_hash as "pinHash", coalesce(g.refused_until > statement_timestamp(), false) as "isRefused", coalesce(f.failures, 0) as "fromAddress",
           ceil(extract(epoch from date_trunc('minute', now()) + interval '1 minute' - now()))::integer as "secondsLeft"
      from (values (1)) always
      left join voucher v on v.service_id = ${service.id} and v.number = ${number}
      left join pin_guard g on g.service_id = ${service.id} and g.subject = ${subject}
      left join failure f on f.subject = ${addressSubject} and f.window_start = date_trunc('minute', now())`)
  if (!guarded) throw new Error('a row of one value has a row')
  if (guarded.fromAddress >= allowedFromAddress)
    return new ApiError('too_many_failures', undefined, { retryAfter: Math.max(1, guarded.secondsLeft) })
  return { number, subject, addressSubject, pinHash: guarded.pinHash, isRefused: guarded.isRefused }
}

/** The PIN was right: the wrong ones before it count no more. */
export const forgetGuesses = (tx: Db, service: Service, { subject }: Guess) =>
  tx.run(sql`delete from pin_guard where service_id = ${service.id} and subject = ${subject}`)

/** Counts a guess at a PIN that was wrong, or not looked at. Returns the answer to it. */
export async function countWrongGuess(tx: Db, service: Service, { number, subject, addressSubject }: Guess) {
  await countWrongPin(tx, service, { number, subject })
  if (await countFailure(tx, [{ subject: addressSubject, allowed: allowedFromAddress - 1 }]))
    await raiseAlert(tx, service.id, {
      kind: 'voucher_address_refused',
      subject: '',
      detail: `An address that tried ${allowedFromAddress} wrong voucher PINs within a minute is refused until the minute ends.`,
    })
  return new ApiError('voucher_not_accepted')
}

async function countWrongPin(tx: Db, service: Service, { number, subject }: { number: string; subject: Buffer }) {
  const counted = await tx.row<{ failures: number }>(sql`
    insert into pin_guard as g (service_id, subject, failures, refused_until) values (${service.id}, ${subject}, 1, now())
    on conflict (service_id, subject) do update
      set failures = g.failures + 1,
          refused_until = case when g.failures + 1 < ${freeFailures} then statement_timestamp()
                               else statement_timestamp() + least(interval '1 day', interval '30 s' * power(2, least(g.failures + 1 - ${freeFailures}, 12))) end
    returning failures`)
  if (!counted || counted.failures < freeFailures) return
  await raiseAlert(tx, service.id, {
    kind: 'voucher_refused',
    subject: number,
    detail: `After ${counted.failures} wrong PINs in a row the voucher refuses for a while.`,
  })
}

/** Forgets the wrong PINs of numbers that nobody has tried for a day. Returns how many numbers. */
export const forgetWrongPins = (db: Db) =>
  db.run(sql`delete from pin_guard where refused_until < now() - interval '1 day'`)
