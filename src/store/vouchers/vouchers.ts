import { type Database, type Db, sql } from '../../db.ts'
import { amount, decimalsOf, storedUnits } from '../../domain/money.ts'
import type { VoucherState } from '../../domain/vouchers/states.ts'
import type { Voucher } from '../../domain/vouchers/vouchers.ts'
import type { Keys } from '../../secrets.ts'
import type { Service } from '../../settings.ts'
import { localTime } from '../lists/change.ts'
import type { MailStatus } from '../running/mails.ts'
import { today } from './ledger.ts'
import { bringVouchers, broughtVoucher } from './moving-in.ts'

/** A voucher as a feed of finished vouchers brings it: with what was drawn so far. */
export interface VoucherRow {
  number: string
  pin: string
  /** Redeemed is one of which all was drawn. */
  state: 'pending' | 'active' | 'redeemed' | 'suspended'
  /** Amounts with the currency's decimals. */
  originalAmount: string
  usedAmount: string
  expiryDate: string | null
}

/** Adds vouchers, each with its ledger. */
export async function insertVouchers(
  db: Database,
  keys: Keys,
  service: Service,
  rows: readonly VoucherRow[],
): Promise<void> {
  const decimals = decimalsOf(service.settings.currency)
  const units = (text: string) => storedUnits(text, decimals)
  const brought = rows.map(({ pin, usedAmount, ...row }) => {
    const balance = amount(units(row.originalAmount) - units(usedAmount), decimals)
    return broughtVoucher(keys, service, { ...row, pin, balance })
  })
  await bringVouchers(db, service, brought)
}

interface Row {
  number: string
  status: VoucherState
  currency: string
  original: string
  balance: string
  expiryDate: string | null
  lockedUntil: string | null
  mail: MailStatus | null
}

/** One voucher as it is at this moment: a lock that has run out is none, and one past its last day is expired. */
export async function readVoucher(db: Db, service: Service, number: string): Promise<Voucher | undefined> {
  const row = await db.row<Row>(sql`
    select v.number, s.status, v.currency, v.original_amount::text as original, v.balance::text, v.expiry_date::text as "expiryDate",
           case s.status when 'locked' then ${localTime(sql`v.locked_until`, service)} end as "lockedUntil",
           (select m.status from mail m where m.service_id = v.service_id and m.voucher_number = v.number order by m.created_at desc limit 1) as mail
      from voucher v
     cross join lateral (select case when v.state = 'locked' and v.locked_until > statement_timestamp() then 'locked'
                                     when v.state in ('active', 'locked') then case when v.expiry_date < ${today(service)} then 'expired' else 'active' end
                                     else v.state end as status) s
     where v.service_id = ${service.id} and v.number = ${number}`)
  if (!row) return
  const decimals = decimalsOf(row.currency)
  const units = (text: string) => storedUnits(text, decimals)
  const [original, balance] = [units(row.original), units(row.balance)]
  const isUsable = row.status === 'active' || row.status === 'locked'
  return {
    number: row.number,
    status: row.status,
    currency: row.currency,
    originalAmount: amount(original, decimals),
    usedAmount: amount(original - balance, decimals),
    availableAmount: amount(isUsable ? balance : 0n, decimals),
    expiryDate: row.expiryDate,
    lockedUntil: row.lockedUntil,
    email: row.mail === null ? null : { status: row.mail },
  }
}
