import { type Db, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { getDecimals, parseStoredAmount } from '../../domain/values/money.ts'
import type { AccountLocks } from '../../domain/vouchers/redemption.ts'
import type { VoucherState, VoucherStep } from '../../domain/vouchers/states.ts'
import type { VoucherLockState } from '../../domain/vouchers/validations.ts'
import { localTime } from '../lists/change-timestamp.ts'
import { materialized } from '../lists/planner-fences.ts'
import { emailsOf, type MailStatus, newestMail } from '../mail/mails.ts'

/** A voucher whose row this transaction has: nobody else changes it until the transaction ends. */
export interface TakenVoucher extends VoucherLockState {
  number: string
  currency: string
  /** In minor units, as the balance is. */
  original: bigint
  balance: bigint
  /** `YYYY-MM-DD`. */
  expiryDate: string | null
  /** Of its newest e-mail, as it was before the row was waited for: it is only shown, and nothing is decided by it. */
  mail: MailStatus | null
  /** When it was taken, by the database's clock: text of a `timestamptz`. */
  takenAt: string
  /** Whether its last day was over then, in the service's time zone. */
  isPast: boolean
}

/** A voucher whose ledger may not say yet that its lock has run out, or that it has expired. */
interface FoundVoucher extends TakenVoucher {
  hasLapsed: boolean
}

/** Takes a voucher for this transaction. Time is the database's. Undefined: there is none. */
export async function takeRow(tx: Db, service: Service, number: string): Promise<FoundVoucher | undefined> {
  // The clock is read after the row is locked, and depends on the row for that, because the wait for the lock can be long.
  const row = await tx.row<Omit<FoundVoucher, 'original' | 'balance'> & Record<'original' | 'balance', string>>(sql`
    select number, state, currency, original_amount::text as original, balance::text, expiry_date::text as "expiryDate", ${newestMail} as mail,
           validation_hash as "validationHash", superseded_hashes as "supersededHashes",
           ${localTime(sql`locked_until`, service)} as "lockedUntil", coalesce(validated_until > now, false) as "isFresh",
           coalesce(locked_until <= now, false) as "hasLapsed", coalesce(expiry_date < ${today(service, sql`now`)}, false) as "isPast", now::text as "takenAt"
      from (select * from voucher where service_id = ${service.id} and number = ${number} for update) v
     cross join lateral ${materialized(sql`select clock_timestamp() as now where v.number is not null`)} clock`)
  if (!row) return
  const units = (text: string) => parseStoredAmount(text, getDecimals(row.currency))
  return { ...row, original: units(row.original), balance: units(row.balance) }
}

/** The day it is, in the service's time zone. */
export const today = (service: Service, now = sql`statement_timestamp()`) =>
  sql`(${now} at time zone ${service.settings.timeZone})::date`

/** A step that is taken: balance and state of the voucher follow it. */
interface Entry {
  kind: VoucherStep
  /** With the currency's decimals: below zero for what is drawn. */
  amount: string
  /** The state that it leads to. */
  state: VoucherState
  /** RFC 3339; absent: a lock goes on as it was. */
  lockedUntil?: string | undefined
  lockedBy?: string | undefined
  orderNumber?: string | null | undefined
}

/** Adds an entry to the ledger of a voucher that is taken, or new. */
export const addEntry = (
  tx: Db,
  service: Service,
  number: string,
  { kind, amount, state, lockedUntil, lockedBy, orderNumber }: Entry,
) =>
  tx.run(sql`
    insert into voucher_entry (service_id, number, entry, kind, amount, state, locked_until, locked_by, order_number)
    select service_id, number, (select coalesce(max(entry), 0) + 1 from voucher_entry e where e.service_id = v.service_id and e.number = v.number), ${kind},
           ${amount}, ${state}, ${state === 'locked' ? sql`coalesce(${lockedUntil ?? null}::timestamptz, locked_until), coalesce(${lockedBy ?? null}, locked_by)` : sql`null, null`}, ${orderNumber ?? null}
      from voucher v where service_id = ${service.id} and number = ${number}`)

/**
 * What an order has drawn of a voucher and not had given back, in minor units. An order that was imported has drawn what it says it was
 * paid with the voucher, though the ledger begins later; the voucher never gets back more than it was issued for.
 */
export async function drawnFor(
  tx: Db,
  service: Service,
  { number, currency }: Pick<TakenVoucher, 'number' | 'currency'>,
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

/** Counts the vouchers that an account has locked. */
export const countAccountLocks = (tx: Db, service: Service, username: string) =>
  countLocks(tx, sql`(select * from voucher where state = 'locked')`, service, username)

/** Counts the locked vouchers of an account in a table, or in some of its rows. */
export async function countLocks(tx: Db, vouchers: Sql, service: Service, username: string): Promise<AccountLocks> {
  const locks = await tx.row<AccountLocks>(sql`
    select count(*)::integer as count, coalesce(ceil(extract(epoch from min(locked_until) - statement_timestamp())), 0)::integer as seconds
      from ${vouchers} v where service_id = ${service.id} and locked_by = ${username} and locked_until > statement_timestamp()`)
  if (!locks) throw new Error('count returned no row')
  return locks
}

/** The vouchers past their last day that the ledger has as active, or as locked by a lock that has run out: a sale under way is let come to its end. */
export const pastTheirDay = async (db: Db, service: Service) =>
  (
    await db.rows<{ number: string }>(sql`
      select number from voucher
       where service_id = ${service.id} and state in ('active', 'locked') and expiry_date < ${today(service)}
         and (locked_until is null or locked_until <= now())`)
  ).map(({ number }) => number)

/** A step as the ledger has it. */
interface LedgerEntry {
  at: string
  kind: string
  amount: string
  state: VoucherState
  lockedBy: string | null
  orderNumber: string | null
}

/** The ledger of a voucher, the oldest step first. */
export const readLedger = (db: Db, service: Service, { number, currency }: Pick<TakenVoucher, 'number' | 'currency'>) =>
  db.rows<LedgerEntry>(sql`
    select ${localTime(sql`created_at`, service)} as at, kind, round(amount, ${getDecimals(currency)}::integer)::text as amount, state, locked_by as "lockedBy", order_number as "orderNumber"
      from voucher_entry where service_id = ${service.id} and number = ${number} order by entry`)

/** A sale of a voucher, as far as its e-mail goes by it. */
interface Persons {
  senderName: string | null
  receiverName: string | null
  receiverEmail: string | null
  /** `YYYY-MM-DD`. */
  deliveryDate: string | null
  /** Of the voucher. */
  expiryDate: string | null
}

/** Who has bought a voucher that was issued here, and whom it is for. */
export const personsOf = (db: Db, service: Service, number: string) =>
  db.row<Persons>(sql`
    select sender_name as "senderName", receiver_name as "receiverName", receiver_email as "receiverEmail", delivery_date::text as "deliveryDate",
           expiry_date::text as "expiryDate"
      from voucher_sale join voucher using (service_id, number) where service_id = ${service.id} and number = ${number}`)

/** Holds who has bought a voucher, and whom it is for: an erasure of either waits, and sees what is sent meanwhile. */
export const holdPersons = (tx: Db, service: Service, number: string) =>
  tx.run(sql`select from voucher_sale where service_id = ${service.id} and number = ${number} for no key update`)

/** The e-mails of a voucher, as one JSON text. */
export const readEmails = async (db: Db, service: Service, number: string) =>
  (await db.row<{ emails: string }>(sql`select ${emailsOf(service, sql`${number}`)}::text as emails`))?.emails ?? '[]'
