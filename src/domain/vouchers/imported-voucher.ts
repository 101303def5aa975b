import { getNextState, type VoucherAction, type VoucherState } from './states.ts'
import type { ImportedState } from './voucher-row.ts'

/** The state of a voucher by its ledger. The balance is in minor units. */
interface ImportedVoucherState {
  state: VoucherState
  balance: bigint
}

/** An action in the ledger, its change of the balance in minor units, and the state after it. */
export interface LedgerStep {
  kind: VoucherAction
  change: bigint
  state: VoucherState
}

/** Returns the first step of a voucher, which adds the original amount. */
export const createIssueStep = (original: bigint, state: 'active' | 'pending'): LedgerStep => ({
  kind: 'issue',
  change: original,
  state,
})

/**
 * Returns the steps that bring an unlocked voucher to an imported state and balance, along the table of transitions. Returns undefined if no
 * steps lead there: an expired voucher stays expired, and an active one can't become pending. A voucher without a balance is redeemed.
 * `load` is money that was added after the issue.
 */
export function planSteps(
  from: ImportedVoucherState,
  { state: importedState, balance, load }: { state: ImportedState; balance: bigint; load: bigint },
) {
  const steps: LedgerStep[] = []
  let { state, balance: current } = from
  const addStep = (kind: VoucherAction, change = 0n) => {
    current += change
    const next = getNextState(state, kind, current)
    if (next === undefined) throw new Error(`step ${kind} is not permitted in state ${state}`)
    state = next
    steps.push({ kind, change, state })
  }
  const target = balance === 0n ? 'redeemed' : importedState
  const changesBalance = balance !== current || load > 0n
  if (state === target && !changesBalance) return steps
  if (target === 'pending' || (state === 'expired' && target !== 'expired')) return
  if (state === 'pending') addStep('activate')
  if (state === 'suspended' && (target !== 'suspended' || changesBalance)) addStep('resume')
  if (load) addStep('load', load)
  if (balance < current && state !== 'active') return
  if (balance < current) {
    addStep('lock')
    addStep('redeem', balance - current)
  }
  if (balance > current) addStep('refund', balance - current)
  if (state === 'active' && target === 'suspended') addStep('suspend')
  if (state === 'active' && target === 'expired') addStep('expire')
  return state === target ? steps : undefined
}
