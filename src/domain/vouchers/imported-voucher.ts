import { stateAfter, type VoucherState, type VoucherStep } from './states.ts'
import type { BroughtState } from './voucher-row.ts'

/** A voucher as its ledger has it; what is left in minor units. */
interface Standing {
  state: VoucherState
  balance: bigint
}

/** A step with what it moves, in minor units, and the state that it leads to. */
export interface TakenStep {
  kind: VoucherStep
  change: bigint
  state: VoucherState
}

/** The first step of a voucher: all that it was issued for. */
export const issued = (original: bigint, state: 'active' | 'pending'): TakenStep => ({
  kind: 'issue',
  change: original,
  state,
})

/**
 * The steps by which a voucher that nobody holds comes to stand as an earlier system says it does, along the table of states; undefined
 * where no steps lead there: an expired voucher stays expired, and what was issued is not pending again. With nothing left it is redeemed.
 */
export function stepsTo(from: Standing, { state: wanted, balance }: { state: BroughtState; balance: bigint }) {
  const steps: TakenStep[] = []
  let { state, balance: left } = from
  const take = (kind: VoucherStep, change = 0n) => {
    left += change
    const next = stateAfter(state, kind, left)
    if (next === undefined) throw new Error(`a voucher that is ${state} cannot take the step ${kind}`)
    state = next
    steps.push({ kind, change, state })
  }
  const target = balance === 0n ? 'redeemed' : wanted
  const moves = balance !== left
  if (state === target && !moves) return steps
  if (target === 'pending' || (state === 'expired' && target !== 'expired')) return
  if (state === 'pending') take('activate')
  if (state === 'suspended' && (target !== 'suspended' || moves)) take('resume')
  if (balance < left && state !== 'active') return
  if (balance < left) {
    take('lock')
    take('redeem', balance - left)
  }
  if (balance > left) take('refund', balance - left)
  if (state === 'active' && target === 'suspended') take('suspend')
  if (state === 'active' && target === 'expired') take('expire')
  return state === target ? steps : undefined
}
