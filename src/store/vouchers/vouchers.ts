import type { Keys } from '../../crypto/keys.ts'
import { type Database, type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { formatAmount, getDecimals, parseStoredAmount } from '../../domain/values/money.ts'
import type { Voucher } from '../../domain/vouchers/vouchers.ts'
import { localTime } from '../lists/change-timestamp.ts'
import { type EmailStatus, selectNewestEmailStatus } from '../mail/emails.ts'
import { createImportedVoucher, importVouchers } from './imported-vouchers.ts'
import { today } from './ledger.ts'

/** A voucher with its used amount. */
export interface VoucherWithUsage {
  number: string
  pin: string
  /** `redeemed`: the complete amount was used. */
  state: 'pending' | 'active' | 'redeemed' | 'suspended'
  /** Amounts have the currency's decimals. */
  originalAmount: string
  usedAmount: string
  expiryDate: string | null
}

/** Imports vouchers by their used amounts instead of their balances. For seeds and tests: see `importVouchers`. */
export async function insertVouchers(
  db: Database,
  keys: Keys,
  service: Service,
  rows: readonly VoucherWithUsage[],
): Promise<void> {
  const decimals = getDecimals(service.settings.currency)
  const units = (text: string) => parseStoredAmount(text, decimals)
  const imported = rows.map(({ pin, usedAmount, ...row }) => {
    const balance = formatAmount(units(row.originalAmount) - units(usedAmount), decimals)
    return createImportedVoucher(keys, service, { ...row, pin, balance })
  })
  await importVouchers(db, service, imported)
}

/** The fields of a voucher response. Amounts are in minor units. */
interface VoucherFields extends Pick<Voucher, 'number' | 'status' | 'currency' | 'expiryDate' | 'lockedUntil'> {
  original: bigint
  balance: bigint
  mail: EmailStatus | null
}

/** Builds the response of a voucher. Its available amount is 0 unless the voucher can be used. */
export function toVoucher({ original, balance, mail, ...voucher }: VoucherFields): Voucher {
  const { number, status, currency, expiryDate, lockedUntil } = voucher
  const isUsable = status === 'active' || status === 'locked'
  const format = (units: bigint) => formatAmount(units, getDecimals(currency))
  return {
    number,
    status,
    currency,
    originalAmount: format(original),
    usedAmount: format(original - balance),
    availableAmount: format(isUsable ? balance : 0n),
    expiryDate,
    lockedUntil,
    email: mail === null ? null : { status: mail },
  }
}

/** Returns the current state of a voucher: an expired lock does not count, and a voucher after its last day is expired. */
export async function readVoucher(db: Db, service: Service, number: string): Promise<Voucher | undefined> {
  const row = await db.row<Omit<VoucherFields, 'original' | 'balance'> & Record<'original' | 'balance', string>>(sql`
    select v.number, s.status, v.currency, v.original_amount::text as original, v.balance::text, v.expiry_date::text as "expiryDate",
           case s.status when 'locked' then ${localTime(sql`v.locked_until`, service)} end as "lockedUntil",
           ${selectNewestEmailStatus} as mail
      from voucher v
     cross join lateral (select case when v.state = 'locked' and v.locked_until > statement_timestamp() then 'locked'
                                     when v.state in ('active', 'locked') then case when v.expiry_date < ${today(service)} then 'expired' else 'active' end
                                     else v.state end as status) s
     where v.service_id = ${service.id} and v.number = ${number}`)
  if (!row) return
  const units = (text: string) => parseStoredAmount(text, getDecimals(row.currency))
  return toVoucher({ ...row, original: units(row.original), balance: units(row.balance) })
}
