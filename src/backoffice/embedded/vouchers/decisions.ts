import type { Database, Db } from '../../../database/db.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import type { VoucherState } from '../../../domain/vouchers/states.ts'
import { listServices } from '../../../store/tenancy/services.ts'
import { listExpiredVouchers } from '../../../store/vouchers/ledger.ts'
import { endValidation } from '../../../store/vouchers/validation.ts'
import { takeStep, takeVoucher } from './transitions.ts'

/** What somebody decides about a voucher. */
export type Decision = 'activate' | 'suspend' | 'resume' | 'unlock'

/** The state each decision is made in; a suspension ends a lock. */
const from = { activate: 'pending', suspend: 'active', resume: 'suspended', unlock: 'locked' } as const
/** The step in its ledger. */
const steps = { activate: 'activate', suspend: 'suspend', resume: 'resume', unlock: 'unlock' } as const

interface Outcome {
  done: boolean
  state: VoucherState
}

/** Carries out a decision, and returns the state after it. Not `done`: the voucher is in this state, in which it cannot be made. Undefined: there is no such voucher. */
export async function decideOnVoucher(
  tx: Db,
  service: Service,
  number: string,
  decision: Decision,
): Promise<Outcome | undefined> {
  let voucher = await takeVoucher(tx, service, number)
  if (!voucher) return
  if (decision === 'suspend' && voucher.state === 'locked') voucher = takeStep(tx, service, voucher, 'unlock')
  if (voucher.state !== from[decision]) return { done: false, state: voucher.state }
  await endValidation(tx, service, number)
  return { done: true, state: takeStep(tx, service, voucher, steps[decision]).state }
}

/**
 * The daily job: writes into the ledgers which vouchers are past their last day in their service's time zone, so that a report
 * need not know it. What they still had stays in the ledger: it can no longer be drawn, and is not written off here. Returns how many.
 */
export async function expireVouchers(db: Database): Promise<number> {
  let expired = 0
  for (const service of await listServices(db)) {
    for (const number of await listExpiredVouchers(db, service)) {
      const voucher = await db.transaction(tx => takeVoucher(tx, service, number))
      if (voucher?.state === 'expired') expired++
    }
  }
  return expired
}
