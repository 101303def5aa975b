// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { RewardAccount, RewardProgram } from '../shapes/rewards.ts'

/** Loyalty programmes, and the points, rewards and gifts of their members. */
export interface RewardsApi {
  /** The reward programmes with their tiers and gifts. What points and spending lead to, tier by tier. */
  programs(options?: CallOptions): Promise<RewardProgram[]>
  /** One reward account with its balances. What the back office says at this moment, never what it said some time ago: where it cannot be reached there is no answer. */
  account(id: string, options?: CallOptions): Promise<RewardAccount>
}

export const rewards = (call: Calls): RewardsApi => ({
  programs: (options) => call.get('/rewards/programs', {}, options),
  account: (id, options) => call.get(`/rewards/accounts/${segment(id)}`, {}, options),
})
