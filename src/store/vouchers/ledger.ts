import { type Db, type Sql, sql } from '../../db.ts'
import { decimalsOf, storedUnits } from '../../domain/money.ts'
import type { VoucherState, VoucherStep } from '../../domain/vouchers/states.ts'
import type { Held } from '../../domain/vouchers/use.ts'
import type { Validated } from '../../domain/vouchers/validations.ts'
import type { Service } from '../../settings.ts'
import { localTime } from '../lists/change.ts'
import { emailsOf } from '../running/mails.ts'

/** A voucher whose row this transaction has: nobody else changes it until the transaction ends. */
export interface TakenVoucher extends Validated {
  number: string
  currency: string
  /** In minor units. */
  balance: bigint
}

/** What time has done to a voucher, and its ledger does not say yet. */
interface Passed {
  /** A lock has run out. */
  hasLapsed: boolean
  /** Its last day is over, in the service's time zone. */
  isPast: boolean
}

/** Takes a voucher for this transaction. Time is the database's. Undefined: there is none. */
export async function takeRow(tx: Db, service: Service, number: string): Promise<(TakenVoucher & Passed) | undefined> {
  const here = sql`service_id = ${service.id} and number = ${number}`
  // A statement of its own: the next one sees what whoever had it before has left, and reads the clock after the wait.
  const held = tx.run(sql`select from voucher where ${here} for update`)
  const read = tx.row<Omit<TakenVoucher, 'balance'> & Passed & { balance: string }>(sql`
    select number, state, currency, balance::text, validation_hash as "validationHash", superseded_hashes as "supersededHashes",
           ${localTime(sql`locked_until`, service)} as "lockedUntil", coalesce(validated_until > statement_timestamp(), false) as "isFresh",
           coalesce(locked_until <= statement_timestamp(), false) as "hasLapsed",
           coalesce(expiry_date < ${today(service)}, false) as "isPast"
      from voucher where ${here}`)
  const [, row] = await Promise.all([held, read])
  return row && { ...row, balance: storedUnits(row.balance, decimalsOf(row.currency)) }
}

/** The day it is, in the service's time zone. */
export const today = (service: Service) => sql`(statement_timestamp() at time zone ${service.settings.timeZone})::date`

/** A step that is taken: balance and state of the voucher follow it. */
interface Entry {
  kind: VoucherStep
  /** With the currency's decimals: below zero for what is drawn. */
  amount: string
  /** The state that it leads to. */
  state: VoucherState
  /** From now on; absent: a lock goes on as it was. */
  lockSeconds?: number | undefined
  heldBy?: string | undefined
  orderNumber?: string | null | undefined
}

/** Adds an entry to the ledger of a voucher that is taken, or new. Returns until when the voucher is locked then. */
export async function addEntry(
  tx: Db,
  service: Service,
  number: string,
  { kind, amount, state, lockSeconds, heldBy, orderNumber }: Entry,
): Promise<string | null> {
  const isLocked = state === 'locked'
  const entered = await tx.row<{ lockedUntil: string | null }>(sql`
    insert into voucher_entry (service_id, number, entry, kind, amount, state, locked_until, held_by, order_number)
    select service_id, number, (select coalesce(max(entry), 0) + 1 from voucher_entry e where e.service_id = v.service_id and e.number = v.number), ${kind},
           ${amount}, ${state},
           case when ${isLocked} then coalesce(statement_timestamp() + make_interval(secs => ${lockSeconds ?? null}), locked_until) end,
           case when ${isLocked} then coalesce(${heldBy ?? null}, held_by) end, ${orderNumber ?? null}
      from voucher v where service_id = ${service.id} and number = ${number}
    returning ${localTime(sql`locked_until`, service)} as "lockedUntil"`)
  return entered?.lockedUntil ?? null
}

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
  return storedUnits(row?.drawn ?? '0', decimalsOf(currency))
}

/** How many vouchers an account holds, and in how many seconds one of them is free again. */
export const heldBy = (tx: Db, service: Service, username: string) =>
  heldAmong(tx, sql`(select * from voucher where state = 'locked')`, service, username)

/** The same of a table of vouchers, or of some of its rows. */
export async function heldAmong(tx: Db, vouchers: Sql, service: Service, username: string): Promise<Held> {
  const held = await tx.row<Held>(sql`
    select count(*)::integer as count, coalesce(ceil(extract(epoch from min(locked_until) - statement_timestamp())), 0)::integer as seconds
      from ${vouchers} v where service_id = ${service.id} and held_by = ${username} and locked_until > statement_timestamp()`)
  if (!held) throw new Error('a count has a row')
  return held
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
  heldBy: string | null
  orderNumber: string | null
}

/** The ledger of a voucher, the oldest step first. */
export const readLedger = (db: Db, service: Service, { number, currency }: Pick<TakenVoucher, 'number' | 'currency'>) =>
  db.rows<LedgerEntry>(sql`
    select ${localTime(sql`created_at`, service)} as at, kind, round(amount, ${decimalsOf(currency)}::integer)::text as amount, state, held_by as "heldBy", order_number as "orderNumber"
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
