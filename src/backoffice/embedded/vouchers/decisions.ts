import type { Database, Db } from '../../../database/db.ts'
import type { Writer } from '../../../domain/audit.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import type { VoucherState } from '../../../domain/vouchers/states.ts'
import { listServices } from '../../../store/tenancy/services.ts'
import { listExpiredVouchers } from '../../../store/vouchers/ledger.ts'
import { endValidation } from '../../../store/vouchers/validation.ts'
import { applyAction, lockCurrentVoucher } from './transitions.ts'

/** An operator's decision about a voucher. It is also the action in the voucher's ledger. */
export type Decision = 'activate' | 'suspend' | 'resume' | 'unlock'

/** The state that each decision requires. A suspension unlocks a locked voucher first. */
const requiredStates = { activate: 'pending', suspend: 'active', resume: 'suspended', unlock: 'locked' } as const

interface Outcome {
  isApplied: boolean
  state: VoucherState
}

/**
 * Applies a decision. Returns the voucher's state: the new one if it was applied, otherwise the one that doesn't permit it. Returns
 * undefined if the voucher does not exist.
 */
export async function decideOnVoucher(
  tx: Db,
  service: Service,
  number: string,
  decision: Decision,
  writer?: Writer,
): Promise<Outcome | undefined> {
  let voucher = await lockCurrentVoucher(tx, service, number)
  if (!voucher) return
  if (decision === 'suspend' && voucher.state === 'locked')
    voucher = applyAction(tx, service, voucher, 'unlock', { writer })
  if (voucher.state !== requiredStates[decision]) return { isApplied: false, state: voucher.state }
  await endValidation(tx, service, number)
  return { isApplied: true, state: applyAction(tx, service, voucher, decision, { writer }).state }
}

/**
 * Records in the ledgers which vouchers have expired in the time zone of their service, so that reports need no date arithmetic. Their
 * balance stays in the ledger; it is not written off. Returns the number of expired vouchers. A job runs this daily.
 */
export async function expireVouchers(db: Database): Promise<number> {
  let expired = 0
  for (const service of await listServices(db)) {
    for (const number of await listExpiredVouchers(db, service)) {
      const voucher = await db.transaction(tx => lockCurrentVoucher(tx, service, number))
      if (voucher?.state === 'expired') expired++
    }
  }
  return expired
}
