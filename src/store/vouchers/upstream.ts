import { type Keys, seal, unseal } from '../../crypto/keys.ts'
import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { formatAmount, getDecimals, parseStoredAmount } from '../../domain/values/money.ts'
import type { VoucherLockState } from '../../domain/vouchers/validations.ts'
import type { Voucher } from '../../domain/vouchers/vouchers.ts'
import { localTime } from '../lists/change-timestamp.ts'
import { countLocks, today } from './ledger.ts'
import { superseded } from './validation.ts'

/** A voucher of a back office. Amounts are strings with the currency's decimals. */
export type UpstreamVoucher = Pick<
  Voucher,
  'number' | 'currency' | 'originalAmount' | 'usedAmount' | 'availableAmount' | 'expiryDate'
>

/** A voucher of a back office whose row is locked: no other transaction can validate, lock or draw it. */
interface LockedUpstreamVoucher extends VoucherLockState {
  voucher: UpstreamVoucher
  currency: string
  /** The available amount in minor units. */
  balance: bigint
  /** The back office's ID of the newest validation, encrypted. */
  upstreamValidation: Buffer | null
}

interface Row
  extends Omit<UpstreamVoucher, 'originalAmount' | 'usedAmount' | 'availableAmount'>,
    Omit<VoucherLockState, 'state'> {
  original: string
  used: string
  available: string
  isLocked: boolean
  upstreamValidation: Buffer | null
}

/** The context that the encrypted ID of a validation is bound to. */
export const getValidationContext = (service: Pick<Service, 'id'>, number: string) =>
  `${service.id} upstream validation ${number}`

/**
 * Locks a voucher. Uses the database's clock; an expired lock of the voucher does not count. Lock several vouchers in the order of their
 * numbers. Returns undefined if the voucher was never validated in Tillbridge.
 */
export async function lockUpstream(
  tx: Db,
  service: Service,
  number: string,
): Promise<LockedUpstreamVoucher | undefined> {
  const isVoucher = sql`service_id = ${service.id} and number = ${number}`
  // A separate statement: the next one sees the changes of previous lock holders, and reads the clock after the wait.
  const lock = tx.run(sql`select from upstream_voucher where ${isVoucher} for update`)
  const read = tx.row<Row>(sql`
    select number, currency, original_amount::text as original, used_amount::text as used, available_amount::text as available,
           expiry_date::text as "expiryDate", validation_hash as "validationHash", superseded_hashes as "supersededHashes",
           upstream_validation as "upstreamValidation", coalesce(validated_until > statement_timestamp(), false) as "isFresh",
           coalesce(locked_until > statement_timestamp(), false) as "isLocked", ${localTime(sql`locked_until`, service)} as "lockedUntil"
      from upstream_voucher where ${isVoucher}`)
  const [, row] = await Promise.all([lock, read])
  if (!row) return
  const { original, used, available, isLocked, lockedUntil, currency, number: _, expiryDate, ...fields } = row
  const decimals = getDecimals(currency)
  const toUnits = (stored: string) => parseStoredAmount(stored, decimals)
  const format = (stored: string) => formatAmount(toUnits(stored), decimals)
  return {
    ...fields,
    currency,
    balance: toUnits(available),
    voucher: {
      number,
      currency,
      expiryDate,
      originalAmount: format(original),
      usedAmount: format(used),
      availableAmount: format(available),
    },
    state: isLocked ? 'locked' : 'active',
    lockedUntil: isLocked ? lockedUntil : null,
  }
}

/** Returns the back office's ID of the newest validation. */
export const decryptUpstreamValidation = (
  keys: Keys,
  service: Service,
  { voucher, upstreamValidation }: LockedUpstreamVoucher,
) => {
  if (!upstreamValidation) throw new Error('the voucher has no current validation')
  return unseal(keys, getValidationContext(service, voucher.number), upstreamValidation)
}

/** Replaces the validation of a voucher. `hash`: hash of our own validation ID. `upstreamId`: the back office's ID. */
export async function storeUpstreamValidation(
  tx: Db,
  keys: Keys,
  service: Service,
  voucher: UpstreamVoucher,
  { hash, upstreamId }: { hash: Buffer; upstreamId: string },
): Promise<void> {
  const { number, currency, originalAmount, usedAmount, availableAmount, expiryDate } = voucher
  const sealed = seal(keys, getValidationContext(service, number), upstreamId)
  const ending = endUpstreamValidation(tx, service, number)
  const stored = tx.run(sql`
    insert into upstream_voucher as v (service_id, number, currency, original_amount, used_amount, available_amount, expiry_date, validation_hash, upstream_validation, validated_until)
    values (${service.id}, ${number}, ${currency}, ${originalAmount}, ${usedAmount}, ${availableAmount}, ${expiryDate}, ${hash}, ${sealed}, statement_timestamp() + interval '24 hours')
    on conflict (service_id, number) do update
      set (currency, original_amount, used_amount, available_amount, expiry_date, validation_hash, upstream_validation, validated_until)
        = (excluded.currency, excluded.original_amount, excluded.used_amount, excluded.available_amount, excluded.expiry_date,
           excluded.validation_hash, excluded.upstream_validation, excluded.validated_until)`)
  await Promise.all([ending, stored])
}

/** Ends the validation and the lock of a voucher that was spent, or that the back office no longer has. */
export const endUpstreamValidation = (tx: Db, service: Service, number: string) =>
  tx.run(sql`
    update upstream_voucher
       set validation_hash = null, upstream_validation = null, validated_until = null, superseded_hashes = ${superseded}, locked_until = null, locked_by = null
     where service_id = ${service.id} and number = ${number}`)

/** Subtracts an order's draw from the stored amounts of a voucher. */
export const recordDraw = (tx: Db, service: Service, number: string, drawn: string) =>
  tx.run(sql`
    update upstream_voucher set used_amount = used_amount + ${drawn}::numeric, available_amount = available_amount - ${drawn}::numeric
     where service_id = ${service.id} and number = ${number}`)

/** Stores which account has locked a voucher. 0 seconds: unlocks it. */
export const storeLock = (tx: Db, service: Service, number: string, lockSeconds: number, username: string) =>
  tx.run(sql`
    update upstream_voucher
       set locked_until = case when ${lockSeconds}::integer > 0 then statement_timestamp() + make_interval(secs => ${lockSeconds}::integer) end,
           locked_by = case when ${lockSeconds}::integer > 0 then ${username}::text end
     where service_id = ${service.id} and number = ${number}`)

/** Counts the vouchers that an account has locked. Returns also the seconds until the first of these locks ends. */
export const countUpstreamLocks = (tx: Db, service: Service, username: string) =>
  countLocks(tx, sql`upstream_voucher`, service, username)

/** Returns the end of a voucher's lock, and whether its last day has ended. */
export async function readLockState(
  db: Db,
  service: Service,
  { number, expiryDate }: UpstreamVoucher,
): Promise<{ lockedUntil: string | null; isPast: boolean }> {
  const row = await db.row<{ lockedUntil: string | null; isPast: boolean }>(sql`
    select (select ${localTime(sql`locked_until`, service)} from upstream_voucher
             where service_id = ${service.id} and number = ${number} and locked_until > statement_timestamp()) as "lockedUntil",
           coalesce(${expiryDate}::date < ${today(service)}, false) as "isPast"`)
  if (!row) throw new Error('select of the lock state returned no row')
  return row
}

/**
 * Deletes vouchers without a validation, and those unused for a week. Only the list of earlier validation IDs is lost: they then count as
 * unknown. Returns the number deleted.
 */
export const purgeUpstreamVouchers = (db: Db) =>
  db.run(sql`
    delete from upstream_voucher
     where coalesce(validated_until < now() - interval '7 days', true) and coalesce(locked_until < now() - interval '7 days', true)`)
