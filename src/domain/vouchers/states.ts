/** The states of a voucher. */
export const voucherStates = ['pending', 'active', 'locked', 'redeemed', 'expired', 'suspended'] as const
export type VoucherState = (typeof voucherStates)[number]

/** The steps of a voucher, which are the kinds of its ledger entries. */
export const voucherActions = [
  'issue',
  'activate',
  'lock',
  'unlock',
  'redeem',
  'refund',
  'expire',
  'suspend',
  'resume',
] as const
export type VoucherAction = (typeof voucherActions)[number]

/**
 * The state after each permitted step. Redeeming needs a lock and ends it. A refund is possible in every state except `pending`, and makes a
 * redeemed voucher active again.
 */
const transitions: Record<VoucherState, Partial<Record<VoucherAction, VoucherState>>> = {
  pending: { activate: 'active' },
  active: { lock: 'locked', suspend: 'suspended', expire: 'expired', refund: 'active' },
  locked: { lock: 'locked', unlock: 'active', redeem: 'active', refund: 'locked' },
  redeemed: { refund: 'active' },
  expired: { refund: 'expired' },
  suspended: { resume: 'active', refund: 'suspended' },
}

/** Returns the state after a step, or undefined if it is not permitted. `balance` is the balance after the step. Without one, a redeemed voucher is `redeemed`. */
export function getNextState(state: VoucherState, step: VoucherAction, balance: bigint): VoucherState | undefined {
  const next = transitions[state][step]
  return step === 'redeem' && next && balance === 0n ? 'redeemed' : next
}
