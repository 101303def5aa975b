import { type Db, type Sql, sql } from '../../database/db.ts'
import type { Writer } from '../../domain/audit.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { getDecimals, parseStoredAmount } from '../../domain/values/money.ts'
import type { VoucherAction, VoucherState } from '../../domain/vouchers/states.ts'
import type { VoucherLockState } from '../../domain/vouchers/validations.ts'
import type { OpenRecords } from '../../errors/account-limit.ts'
import { localTime } from '../lists/change-timestamp.ts'
import { materialized } from '../lists/planner-fences.ts'
import { type EmailStatus, selectNewestEmailStatus, selectVoucherEmails } from '../mail/emails.ts'

/** A voucher whose row is locked until the transaction ends. */
export interface LockedVoucher extends VoucherLockState {
  number: string
  currency: string
  /** In minor units, like `balance`. */
  original: bigint
  balance: bigint
  /** `YYYY-MM-DD`. */
  expiryDate: string | null
  /** Status of its newest email, read before the row was locked. For display only. */
  mail: EmailStatus | null
  /** When the row was locked, by the database's clock: text of a `timestamptz`. */
  lockedAt: string
  /** True if its last day had ended then, in the service's time zone. */
  isPast: boolean
}

/** A voucher whose ledger may lack the expiry of its lock or of the voucher. */
interface LockedVoucherRow extends LockedVoucher {
  hasLapsed: boolean
}

/** Locks a voucher. Uses the database's clock. Returns undefined if the voucher does not exist. */
export async function lockVoucherRow(tx: Db, service: Service, number: string): Promise<LockedVoucherRow | undefined> {
  // The clock must be read after the lock, which can be a long wait, so this subquery depends on the locked row.
  const row = await tx.row<Omit<LockedVoucherRow, 'original' | 'balance'> & Record<'original' | 'balance', string>>(sql`
    select number, state, currency, original_amount::text as original, balance::text, expiry_date::text as "expiryDate", ${selectNewestEmailStatus} as mail,
           validation_hash as "validationHash", superseded_hashes as "supersededHashes",
           ${localTime(sql`locked_until`, service)} as "lockedUntil", coalesce(validated_until > now, false) as "isFresh",
           coalesce(locked_until <= now, false) as "hasLapsed", coalesce(expiry_date < ${today(service, sql`now`)}, false) as "isPast", now::text as "lockedAt"
      from (select * from voucher where service_id = ${service.id} and number = ${number} for update) v
     cross join lateral ${materialized(sql`select clock_timestamp() as now where v.number is not null`)} clock`)
  if (!row) return
  const units = (text: string) => parseStoredAmount(text, getDecimals(row.currency))
  return { ...row, original: units(row.original), balance: units(row.balance) }
}

/** The current date in the service's time zone. */
export const today = (service: Service, now = sql`statement_timestamp()`) =>
  sql`(${now} at time zone ${service.settings.timeZone})::date`

/** A ledger entry, from which balance and state of the voucher follow. */
interface Entry {
  kind: VoucherAction
  /** With the currency's decimals. Negative for amounts that are drawn. */
  amount: string
  state: VoucherState
  /** RFC 3339. Undefined: a lock continues unchanged. */
  lockedUntil?: string | undefined
  lockedBy?: string | undefined
  orderNumber?: string | null | undefined
  writer?: Writer | undefined
}

/** Appends an entry to the ledger of a voucher that is locked or new. */
export const addEntry = (
  tx: Db,
  service: Service,
  number: string,
  { kind, amount, state, lockedUntil, lockedBy, orderNumber, writer }: Entry,
) =>
  tx.run(sql`
    insert into voucher_entry (service_id, number, entry, kind, amount, state, locked_until, locked_by, order_number, username, api_key)
    select service_id, number, (select coalesce(max(entry), 0) + 1 from voucher_entry e where e.service_id = v.service_id and e.number = v.number), ${kind},
           ${amount}, ${state}, ${state === 'locked' ? sql`coalesce(${lockedUntil ?? null}::timestamptz, locked_until), coalesce(${lockedBy ?? null}, locked_by)` : sql`null, null`}, ${orderNumber ?? null}, ${writer?.username ?? null}, ${writer?.apiKey ?? null}
      from voucher v where service_id = ${service.id} and number = ${number}`)

/**
 * Returns the amount that an order has drawn from a voucher, minus refunds, in minor units. An imported order has drawn the payment that
 * it lists, although the ledger begins later. A voucher never gets back more than its original amount.
 */
export async function readDrawnAmount(
  tx: Db,
  service: Service,
  { number, currency }: Pick<LockedVoucher, 'number' | 'currency'>,
  orderNumber: string,
): Promise<bigint> {
  const row = await tx.row<{ drawn: string }>(sql`
    select least(v.original_amount - v.balance, before.paid - since.moved)::text as drawn
      from voucher v
     cross join lateral (
       select coalesce(sum(amount), 0) as moved from voucher_entry e
        where e.service_id = v.service_id and e.number = v.number and e.order_number = ${orderNumber} and e.kind in ('redeem', 'refund')) since
     cross join lateral (
       select coalesce(sum(p.amount), 0) as paid
         from sales_order o join order_payment p on p.service_id = o.service_id and p.order_id = o.id
        where o.service_id = v.service_id and o.order_number = ${orderNumber} and o.imported_at is not null and p.voucher_number = v.number) before
     where v.service_id = ${service.id} and v.number = ${number}`)
  return parseStoredAmount(row?.drawn ?? '0', getDecimals(currency))
}

/** Counts the vouchers that an account has locked. Returns also the seconds until the first of these locks ends. */
export const countAccountLocks = (tx: Db, service: Service, username: string) =>
  countLocks(tx, sql`(select * from voucher where state = 'locked')`, service, username)

/** Like `countAccountLocks`, for a table of vouchers. */
export async function countLocks(tx: Db, vouchers: Sql, service: Service, username: string): Promise<OpenRecords> {
  const locks = await tx.row<OpenRecords>(sql`
    select count(*)::integer as count, coalesce(ceil(extract(epoch from min(locked_until) - statement_timestamp())), 0)::integer as seconds
      from ${vouchers} v where service_id = ${service.id} and locked_by = ${username} and locked_until > statement_timestamp()`)
  if (!locks) throw new Error('count of voucher locks returned no row')
  return locks
}

/**
 * Returns the numbers of vouchers after their last day whose ledger says active, or locked with an expired lock. A valid lock may end in a
 * sale, so it stays.
 */
export const listExpiredVouchers = async (db: Db, service: Service) =>
  (
    await db.rows<{ number: string }>(sql`
      select number from voucher
       where service_id = ${service.id} and state in ('active', 'locked') and expiry_date < ${today(service)}
         and (locked_until is null or locked_until <= now())`)
  ).map(({ number }) => number)

interface LedgerEntry {
  at: string
  kind: string
  amount: string
  state: VoucherState
  lockedBy: string | null
  orderNumber: string | null
  username: string | null
  apiKey: string | null
}

/** Returns the ledger of a voucher, oldest entry first. */
export const readLedger = (
  db: Db,
  service: Service,
  { number, currency }: Pick<LockedVoucher, 'number' | 'currency'>,
) =>
  db.rows<LedgerEntry>(sql`
    select ${localTime(sql`created_at`, service)} as at, kind, round(amount, ${getDecimals(currency)}::integer)::text as amount, state, locked_by as "lockedBy", order_number as "orderNumber", username, api_key as "apiKey"
      from voucher_entry where service_id = ${service.id} and number = ${number} order by entry`)

/** The fields of a voucher's sale that its email needs. */
interface VoucherPersons {
  senderName: string | null
  receiverName: string | null
  receiverEmail: string | null
  /** `YYYY-MM-DD`. */
  deliveryDate: string | null
  expiryDate: string | null
}

/** Returns sender and recipient of a voucher that was issued in Tillbridge. */
export const readVoucherPersons = (db: Db, service: Service, number: string) =>
  db.row<VoucherPersons>(sql`
    select sender_name as "senderName", receiver_name as "receiverName", receiver_email as "receiverEmail", delivery_date::text as "deliveryDate",
           expiry_date::text as "expiryDate"
      from voucher_sale join voucher using (service_id, number) where service_id = ${service.id} and number = ${number}`)

/** Locks sender and recipient of a voucher. A concurrent erasure waits, and then sees emails that were sent. */
export const lockVoucherPersons = (tx: Db, service: Service, number: string) =>
  tx.run(sql`select from voucher_sale where service_id = ${service.id} and number = ${number} for no key update`)

/** Returns the emails of a voucher as a JSON array. */
export const readEmails = async (db: Db, service: Service, number: string) =>
  (await db.row<{ emails: string }>(sql`select ${selectVoucherEmails(service, sql`${number}`)}::text as emails`))
    ?.emails ?? '[]'
