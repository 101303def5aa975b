// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { RewardAccount, RewardProgram } from '../shapes/rewards.ts'

/** Loyalty programs, tiers, points, rewards and gifts. */
export interface RewardsApi {
  /** List reward programs. The programs with their tiers and gifts. */
  programs(options?: CallOptions): Promise<RewardProgram[]>
  /** Get a reward account. Read from the back office at the time of the request, never from a copy. If the back office is unavailable, the response is 503. */
  account(id: string, options?: CallOptions): Promise<RewardAccount>
}

export const rewards = (call: Calls): RewardsApi => ({
  programs: (options) => call.get('/rewards/programs', {}, options),
  account: (id, options) => call.get(`/rewards/accounts/${segment(id)}`, {}, options),
})
