import { type Db, sendWithCommit } from '../../../database/db.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { formatAmount, getDecimals } from '../../../domain/values/money.ts'
import { formatLocalTime } from '../../../domain/values/timestamp.ts'
import { getNextState, type VoucherStep } from '../../../domain/vouchers/states.ts'
import { addEntry, type LockedVoucher, lockVoucherRow } from '../../../store/vouchers/ledger.ts'

/**
 * Takes a voucher for this transaction, and writes into its ledger what time has done to it: a lock that has run out, a last day
 * that is over. Who takes several takes them in the order of their numbers. Undefined: there is none.
 */
export async function takeVoucher(tx: Db, service: Service, number: string): Promise<LockedVoucher | undefined> {
  const row = await lockVoucherRow(tx, service, number)
  if (!row) return
  const voucher = row.hasLapsed ? takeStep(tx, service, row, 'unlock') : row
  return row.isPast && voucher.state === 'active' ? takeStep(tx, service, voucher, 'expire') : voucher
}

interface Step {
  /** Minor units: below zero for what is drawn. */
  change?: bigint
  lockSeconds?: number
  lockedBy?: string
  orderNumber?: string
}

/**
 * Takes a step that the table of states allows (domain/vouchers/states.ts), as an entry of the ledger, which nobody waits for. Returns
 * the voucher after it.
 */
export function takeStep(
  tx: Db,
  service: Service,
  voucher: LockedVoucher,
  kind: VoucherStep,
  { change = 0n, lockSeconds, ...rest }: Step = {},
): LockedVoucher {
  const balance = voucher.balance + change
  const state = getNextState(voucher.state, kind, balance)
  if (!state) throw new Error(`a voucher that is ${voucher.state} cannot take the step ${kind}`)
  const end =
    lockSeconds === undefined ? undefined : Temporal.Instant.from(voucher.takenAt).add({ seconds: lockSeconds })
  const entry = { ...rest, kind, state, amount: formatAmount(change, getDecimals(voucher.currency)) }
  sendWithCommit(addEntry(tx, service, voucher.number, { ...entry, lockedUntil: end?.toString() }))
  const lockedUntil = end ? formatLocalTime(end, service.settings.timeZone) : voucher.lockedUntil
  return { ...voucher, balance, state, lockedUntil: state === 'locked' ? lockedUntil : null }
}
