import { type Keys, seal, unseal } from '../../crypto/keys.ts'
import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { getDecimals, parseStoredAmount, formatAmount as text } from '../../domain/values/money.ts'
import type { VoucherLockState } from '../../domain/vouchers/validations.ts'
import type { Voucher } from '../../domain/vouchers/vouchers.ts'
import { localTime } from '../lists/change-timestamp.ts'
import { countLocks, today } from './ledger.ts'
import { superseded } from './validation.ts'

/** What a back office behind us says of a voucher; amounts with the decimals of the currency. */
export type UpstreamVoucher = Pick<
  Voucher,
  'number' | 'currency' | 'originalAmount' | 'usedAmount' | 'availableAmount' | 'expiryDate'
>

/** A voucher of another back office. This transaction has locked its row, so no other can validate, lock or redeem it. */
interface LockedUpstreamVoucher extends VoucherLockState {
  voucher: UpstreamVoucher
  currency: string
  /** The balance in minor units. */
  balance: bigint
  /** The ID of the newest validation in the back office, encrypted. */
  upstreamValidation: Buffer | null
}

interface Row
  extends Omit<UpstreamVoucher, 'originalAmount' | 'usedAmount' | 'availableAmount'>,
    Omit<VoucherLockState, 'state'> {
  original: string
  used: string
  available: string
  isHeld: boolean
  upstreamValidation: Buffer | null
}

const placeOf = (service: Service, number: string) => `${service.id} upstream validation ${number}`

/**
 * Locks the row of a voucher. Expired locks of the voucher are ignored, by the clock of the database. To avoid deadlocks, lock several vouchers
 * in the order of their numbers. Returns undefined if the voucher was never validated here.
 */
export async function lockUpstream(
  tx: Db,
  service: Service,
  number: string,
): Promise<LockedUpstreamVoucher | undefined> {
  const here = sql`service_id = ${service.id} and number = ${number}`
  // A separate statement, so that the next one sees the changes of the previous lock owner and reads the clock after the wait.
  const rowLock = tx.run(sql`select from upstream_voucher where ${here} for update`)
  const read = tx.row<Row>(sql`
    select number, currency, original_amount::text as original, used_amount::text as used, available_amount::text as available,
           expiry_date::text as "expiryDate", validation_hash as "validationHash", superseded_hashes as "supersededHashes",
           upstream_validation as "upstreamValidation", coalesce(validated_until > statement_timestamp(), false) as "isFresh",
           coalesce(locked_until > statement_timestamp(), false) as "isHeld", ${localTime(sql`locked_until`, service)} as "lockedUntil"
      from upstream_voucher where ${here}`)
  const [, row] = await Promise.all([rowLock, read])
  if (!row) return
  const { original, used, available, isHeld, lockedUntil, currency, number: _, expiryDate, ...rest } = row
  const decimals = getDecimals(currency)
  const units = (stored: string) => parseStoredAmount(stored, decimals)
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
export const upstreamValidationOf = (
  keys: Keys,
  service: Service,
  { voucher, upstreamValidation }: LockedUpstreamVoucher,
) => {
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

/** Ends the validation of a voucher and its lock, after it was redeemed or the back office no longer accepts it. */
export const endUpstreamValidation = (tx: Db, service: Service, number: string) =>
  tx.run(sql`
    update upstream_voucher
       set validation_hash = null, upstream_validation = null, validated_until = null, superseded_hashes = ${superseded}, locked_until = null, locked_by = null
     where service_id = ${service.id} and number = ${number}`)

/** Subtracts a redeemed amount from the stored balance of a voucher. */
export const takeOff = (tx: Db, service: Service, number: string, drawn: string) =>
  tx.run(sql`
    update upstream_voucher set used_amount = used_amount + ${drawn}::numeric, available_amount = available_amount - ${drawn}::numeric
     where service_id = ${service.id} and number = ${number}`)

/** Stores the lock of a voucher. 0 seconds: unlocked. */
export const storeLock = (tx: Db, service: Service, number: string, lockSeconds: number, username: string) =>
  tx.run(sql`
    update upstream_voucher
       set locked_until = case when ${lockSeconds}::integer > 0 then statement_timestamp() + make_interval(secs => ${lockSeconds}::integer) end,
           locked_by = case when ${lockSeconds}::integer > 0 then ${username}::text end
     where service_id = ${service.id} and number = ${number}`)

/** Counts the vouchers of another back office that an account has locked. */
export const countUpstreamLocks = (tx: Db, service: Service, username: string) =>
  countLocks(tx, sql`upstream_voucher`, service, username)

/** Returns the current lock of a voucher, and whether its expiry date has passed. */
export async function readLockState(
  db: Db,
  service: Service,
  { number, expiryDate }: UpstreamVoucher,
): Promise<{ lockedUntil: string | null; isPast: boolean }> {
  const row = await db.row<{ lockedUntil: string | null; isPast: boolean }>(sql`
    select (select ${localTime(sql`locked_until`, service)} from upstream_voucher
             where service_id = ${service.id} and number = ${number} and locked_until > statement_timestamp()) as "lockedUntil",
           coalesce(${expiryDate}::date < ${today(service)}, false) as "isPast"`)
  if (!row) throw new Error('select returned no row')
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
