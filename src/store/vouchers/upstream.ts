import { type Keys, seal, unseal } from '../../crypto/keys.ts'
import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { decimalsOf, storedUnits, amount as text } from '../../domain/values/money.ts'
import type { Validated } from '../../domain/vouchers/validations.ts'
import type { Voucher } from '../../domain/vouchers/vouchers.ts'
import { localTime } from '../lists/change-timestamp.ts'
import { heldAmong, today } from './ledger.ts'
import { superseded } from './validation.ts'

/** What a back office behind us says of a voucher; amounts with the decimals of the currency. */
export type UpstreamVoucher = Pick<
  Voucher,
  'number' | 'currency' | 'originalAmount' | 'usedAmount' | 'availableAmount' | 'expiryDate'
>

/** A voucher of a back office behind us whose row this transaction has: nobody else validates, holds or draws it until that ends. */
interface TakenUpstream extends Validated {
  voucher: UpstreamVoucher
  currency: string
  /** What can be drawn of it, in minor units. */
  balance: bigint
  /** What the back office calls the newest validation; encrypted. */
  upstreamValidation: Buffer | null
}

interface Row
  extends Omit<UpstreamVoucher, 'originalAmount' | 'usedAmount' | 'availableAmount'>,
    Omit<Validated, 'state'> {
  original: string
  used: string
  available: string
  isHeld: boolean
  upstreamValidation: Buffer | null
}

const placeOf = (service: Service, number: string) => `${service.id} upstream validation ${number}`

/**
 * Takes a voucher for this transaction. Time is the database's: a lock that has run out is none. Who takes several takes them in the
 * order of their numbers. Undefined: it was never validated here.
 */
export async function takeUpstream(tx: Db, service: Service, number: string): Promise<TakenUpstream | undefined> {
  const here = sql`service_id = ${service.id} and number = ${number}`
  // A statement of its own: the next one sees what whoever had it before has left, and reads the clock after the wait.
  const held = tx.run(sql`select from upstream_voucher where ${here} for update`)
  const read = tx.row<Row>(sql`
    select number, currency, original_amount::text as original, used_amount::text as used, available_amount::text as available,
           expiry_date::text as "expiryDate", validation_hash as "validationHash", superseded_hashes as "supersededHashes",
           upstream_validation as "upstreamValidation", coalesce(validated_until > statement_timestamp(), false) as "isFresh",
           coalesce(locked_until > statement_timestamp(), false) as "isHeld", ${localTime(sql`locked_until`, service)} as "lockedUntil"
      from upstream_voucher where ${here}`)
  const [, row] = await Promise.all([held, read])
  if (!row) return
  const { original, used, available, isHeld, lockedUntil, currency, number: _, expiryDate, ...rest } = row
  const decimals = decimalsOf(currency)
  const units = (stored: string) => storedUnits(stored, decimals)
  const shown = (stored: string) => text(units(stored), decimals)
  return {
    ...rest,
    currency,
    balance: units(available),
    voucher: {
      number,
      currency,
      expiryDate,
      originalAmount: shown(original),
      usedAmount: shown(used),
      availableAmount: shown(available),
    },
    state: isHeld ? 'locked' : 'active',
    lockedUntil: isHeld ? lockedUntil : null,
  }
}

/** What the back office calls the newest validation. */
export const upstreamValidationOf = (keys: Keys, service: Service, { voucher, upstreamValidation }: TakenUpstream) => {
  if (!upstreamValidation) throw new Error('a validation that is the newest is there')
  return unseal(keys.sealed, placeOf(service, voucher.number), upstreamValidation)
}

/** Keeps a validation, in place of the one before: by the hash of our own id of it, and what the back office calls it. */
export async function keepValidation(
  tx: Db,
  keys: Keys,
  service: Service,
  voucher: UpstreamVoucher,
  { hash, upstreamId }: { hash: Buffer; upstreamId: string },
): Promise<void> {
  const { number, currency, originalAmount, usedAmount, availableAmount, expiryDate } = voucher
  const sealed = seal(keys.sealed, placeOf(service, number), upstreamId)
  const ended = endUpstreamValidation(tx, service, number)
  const kept = tx.run(sql`
    insert into upstream_voucher as v (service_id, number, currency, original_amount, used_amount, available_amount, expiry_date, validation_hash, upstream_validation, validated_until)
    values (${service.id}, ${number}, ${currency}, ${originalAmount}, ${usedAmount}, ${availableAmount}, ${expiryDate}, ${hash}, ${sealed}, statement_timestamp() + interval '24 hours')
    on conflict (service_id, number) do update
      set (currency, original_amount, used_amount, available_amount, expiry_date, validation_hash, upstream_validation, validated_until)
        = (excluded.currency, excluded.original_amount, excluded.used_amount, excluded.available_amount, excluded.expiry_date,
           excluded.validation_hash, excluded.upstream_validation, excluded.validated_until)`)
  await Promise.all([ended, kept])
}

/** Ends the validation of a voucher, and the lock that it held: it is spent, or the back office does not know it any more. */
export const endUpstreamValidation = (tx: Db, service: Service, number: string) =>
  tx.run(sql`
    update upstream_voucher
       set validation_hash = null, upstream_validation = null, validated_until = null, superseded_hashes = ${superseded}, locked_until = null, locked_by = null
     where service_id = ${service.id} and number = ${number}`)

/** Takes what an order draws off what is known of a voucher. */
export const takeOff = (tx: Db, service: Service, number: string, drawn: string) =>
  tx.run(sql`
    update upstream_voucher set used_amount = used_amount + ${drawn}::numeric, available_amount = available_amount - ${drawn}::numeric
     where service_id = ${service.id} and number = ${number}`)

/** Notes who holds a voucher from now on; 0 seconds: nobody. */
export const noteHeld = (tx: Db, service: Service, number: string, lockSeconds: number, username: string) =>
  tx.run(sql`
    update upstream_voucher
       set locked_until = case when ${lockSeconds}::integer > 0 then statement_timestamp() + make_interval(secs => ${lockSeconds}::integer) end,
           locked_by = case when ${lockSeconds}::integer > 0 then ${username}::text end
     where service_id = ${service.id} and number = ${number}`)

/** How many vouchers an account holds, and in how many seconds one of them is free again. */
export const upstreamHeldBy = (tx: Db, service: Service, username: string) =>
  heldAmong(tx, sql`upstream_voucher`, service, username)

/** Until when somebody holds a voucher, and whether its last day is over, at this moment. */
export async function standingNow(
  db: Db,
  service: Service,
  { number, expiryDate }: UpstreamVoucher,
): Promise<{ lockedUntil: string | null; isPast: boolean }> {
  const row = await db.row<{ lockedUntil: string | null; isPast: boolean }>(sql`
    select (select ${localTime(sql`locked_until`, service)} from upstream_voucher
             where service_id = ${service.id} and number = ${number} and locked_until > statement_timestamp()) as "lockedUntil",
           coalesce(${expiryDate}::date < ${today(service)}, false) as "isPast"`)
  if (!row) throw new Error('a row of values has a row')
  return row
}

/**
 * Deletes what is known of vouchers whose validation has ended, and of those that were left alone for a week. All that
 * is lost is which ids were right once: they are wrong ones from then on. Returns how many.
 */
export const forgetUpstreamVouchers = (db: Db) =>
  db.run(sql`
    delete from upstream_voucher
     where coalesce(validated_until < now() - interval '7 days', true) and coalesce(locked_until < now() - interval '7 days', true)`)
