export const voucherStates = ['pending', 'active', 'locked', 'redeemed', 'expired', 'suspended'] as const
export type VoucherState = (typeof voucherStates)[number]

/** The actions on a voucher, which are the kinds of its ledger entries. */
export const voucherActions = [
  'issue',
  'activate',
  'lock',
  'unlock',
  'redeem',
  'load',
  'refund',
  'expire',
  'suspend',
  'resume',
] as const
export type VoucherAction = (typeof voucherActions)[number]

/**
 * The state after each permitted action. Redeeming needs a lock and ends it. A refund or a load is possible in every state except `pending`,
 * and makes a redeemed voucher active again.
 */
const transitions: Record<VoucherState, Partial<Record<VoucherAction, VoucherState>>> = {
  pending: { activate: 'active' },
  active: { lock: 'locked', suspend: 'suspended', expire: 'expired', load: 'active', refund: 'active' },
  locked: { lock: 'locked', unlock: 'active', redeem: 'active', load: 'locked', refund: 'locked' },
  redeemed: { load: 'active', refund: 'active' },
  expired: { load: 'expired', refund: 'expired' },
  suspended: { resume: 'active', load: 'suspended', refund: 'suspended' },
}

/** Returns the state after an action, or undefined if it is not permitted. `balance` is the balance after it. A redeemed voucher without a balance is `redeemed`. */
export function getNextState(state: VoucherState, action: VoucherAction, balance: bigint): VoucherState | undefined {
  const next = transitions[state][action]
  return action === 'redeem' && next && balance === 0n ? 'redeemed' : next
}
