// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { RewardAccount, RewardProgram } from '../shapes/rewards.ts'

/** Loyalty programs, tiers, points, rewards and gifts. */
export interface RewardsApi {
  /** List reward programs. What points and spending lead to, tier by tier. */
  programs(options?: CallOptions): Promise<RewardProgram[]>
  /** Get a reward account. What the back office says at this moment, never what it said some time ago: where it cannot be reached there is no answer. */
  account(id: string, options?: CallOptions): Promise<RewardAccount>
}

export const rewards = (call: Calls): RewardsApi => ({
  programs: (options) => call.get('/rewards/programs', {}, options),
  account: (id, options) => call.get(`/rewards/accounts/${segment(id)}`, {}, options),
})
