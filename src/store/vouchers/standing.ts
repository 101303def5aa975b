import { listServices } from '../../accounts.ts'
import { type Database, type Db, sql } from '../../db.ts'
import { decimalsOf } from '../../domain/money.ts'
import type { VoucherState } from '../../domain/vouchers/states.ts'
import type { Service } from '../../settings.ts'
import { localTime } from '../lists/change.ts'
import { takeStep, takeVoucher } from './ledger.ts'
import { endValidation } from './validation.ts'

/** What somebody decides about a voucher. */
export type Decision = 'activate' | 'suspend' | 'resume'

/** The state each decision is made in; a suspension takes the voucher from whoever holds it. */
const from = { activate: 'pending', suspend: 'active', resume: 'suspended' } as const

/** Carries out a decision. Returns the voucher's state: another one than `from` was no state for it. Undefined: there is no such voucher. */
export function decideOnVoucher(
  db: Database,
  service: Service,
  number: string,
  decision: Decision,
): Promise<{ done: boolean; state: VoucherState } | undefined> {
  return db.transaction(async tx => {
    let voucher = await takeVoucher(tx, service, number)
    if (!voucher) return
    if (decision === 'suspend' && voucher.state === 'locked') voucher = await takeStep(tx, service, voucher, 'unlock')
    if (voucher.state !== from[decision]) return { done: false, state: voucher.state }
    await endValidation(tx, service, number)
    return { done: true, state: (await takeStep(tx, service, voucher, decision)).state }
  })
}

/**
 * The daily job: writes into the ledgers which vouchers are past their last day in their service's time zone, so that a report
 * need not know it. What they still had stays in the ledger: it can no longer be drawn, and is not written off here. Returns how many.
 */
export async function expireVouchers(db: Database): Promise<number> {
  let expired = 0
  for (const service of await listServices(db)) {
    for (const number of await pastTheirDay(db, service)) {
      const voucher = await db.transaction(tx => takeVoucher(tx, service, number))
      if (voucher?.state === 'expired') expired++
    }
  }
  return expired
}

/** Those that nobody holds: a sale under way is let come to its end. */
const pastTheirDay = async (db: Db, service: Service) =>
  (
    await db.rows<{ number: string }>(sql`
      select number from voucher
       where service_id = ${service.id} and state in ('active', 'locked') and expiry_date < (now() at time zone ${service.settings.timeZone})::date
         and (locked_until is null or locked_until <= now())`)
  ).map(({ number }) => number)

/** A step as the ledger has it. */
export interface LedgerEntry {
  at: string
  kind: string
  amount: string
  state: VoucherState
  heldBy: string | null
  orderNumber: string | null
}

/** The ledger of a voucher, the oldest step first. */
export const readLedger = (db: Db, service: Service, number: string) =>
  db.rows<LedgerEntry>(sql`
    select ${localTime(sql`created_at`, service)} as at, kind, round(amount, ${decimalsOf(service.settings.currency)}::integer)::text as amount, state, held_by as "heldBy", order_number as "orderNumber"
      from voucher_entry where service_id = ${service.id} and number = ${number} order by entry`)
