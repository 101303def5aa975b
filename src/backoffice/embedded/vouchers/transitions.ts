import { awaitAtCommit, type Db } from '../../../database/db.ts'
import type { Writer } from '../../../domain/audit.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { formatAmount, getDecimals } from '../../../domain/values/money.ts'
import { formatLocalTime } from '../../../domain/values/timestamp.ts'
import { getNextState, type VoucherAction } from '../../../domain/vouchers/states.ts'
import { addEntry, type LockedVoucher, lockVoucherRow } from '../../../store/vouchers/ledger.ts'

/**
 * Locks a voucher's row, and records in its ledger if its lock or the voucher itself has expired. Returns undefined if it does not exist.
 * To prevent deadlocks, lock several vouchers in the order of their numbers.
 */
export async function lockCurrentVoucher(tx: Db, service: Service, number: string): Promise<LockedVoucher | undefined> {
  const row = await lockVoucherRow(tx, service, number)
  if (!row) return
  const voucher = row.hasLapsed ? applyAction(tx, service, row, 'unlock') : row
  return row.isPast && voucher.state === 'active' ? applyAction(tx, service, voucher, 'expire') : voucher
}

interface ActionDetails {
  /** Change of the balance in minor units: negative if redeemed. */
  change?: bigint
  lockSeconds?: number
  lockedBy?: string
  orderNumber?: string
  /** Undefined: the passage of time. */
  writer?: Writer | undefined
}

/**
 * Applies an action and queues its ledger entry for the commit. Returns the voucher after it. Throws if the state doesn't permit the action
 * (domain/vouchers/states.ts).
 */
export function applyAction(
  tx: Db,
  service: Service,
  voucher: LockedVoucher,
  action: VoucherAction,
  { change = 0n, lockSeconds, ...details }: ActionDetails = {},
): LockedVoucher {
  const balance = voucher.balance + change
  const state = getNextState(voucher.state, action, balance)
  if (!state) throw new Error(`voucher state ${voucher.state} doesn't permit ${action}`)
  const end =
    lockSeconds === undefined ? undefined : Temporal.Instant.from(voucher.lockedAt).add({ seconds: lockSeconds })
  const entry = { ...details, kind: action, state, amount: formatAmount(change, getDecimals(voucher.currency)) }
  awaitAtCommit(addEntry(tx, service, voucher.number, { ...entry, lockedUntil: end?.toString() }))
  const lockedUntil = end ? formatLocalTime(end, service.settings.timeZone) : voucher.lockedUntil
  return { ...voucher, balance, state, lockedUntil: state === 'locked' ? lockedUntil : null }
}
