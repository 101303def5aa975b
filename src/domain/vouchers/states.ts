/** Contract 7. */
export const voucherStates = ['pending', 'active', 'locked', 'redeemed', 'expired', 'suspended'] as const
export type VoucherState = (typeof voucherStates)[number]

/** What can happen to a voucher: the kinds of entries in its ledger. */
export const voucherSteps = [
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
export type VoucherStep = (typeof voucherSteps)[number]

/**
 * Which step may be taken in which state, and where it leads. A voucher is drawn on by whoever holds it, and then nobody holds it
 * any more; a refund finds its way back to any voucher, and opens again one that was spent.
 */
const table: Record<VoucherState, Partial<Record<VoucherStep, VoucherState>>> = {
  pending: { activate: 'active' },
  active: { lock: 'locked', suspend: 'suspended', expire: 'expired', refund: 'active' },
  locked: { lock: 'locked', unlock: 'active', redeem: 'active', refund: 'locked' },
  redeemed: { refund: 'active' },
  expired: { refund: 'expired' },
  suspended: { resume: 'active', refund: 'suspended' },
}

/** The state after a step; undefined where the step cannot be taken. `left` is the balance after it: with nothing left, a voucher is redeemed. */
export function stateAfter(state: VoucherState, step: VoucherStep, left: bigint): VoucherState | undefined {
  const next = table[state][step]
  return step === 'redeem' && next && left === 0n ? 'redeemed' : next
}
