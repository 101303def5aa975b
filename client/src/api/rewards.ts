// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { RedemptionInput, RewardAccount, RewardProgram, RewardRedemption } from '../shapes/rewards.ts'

/** Loyalty programs, tiers, points, rewards and gifts. */
export interface RewardsApi {
  /** List reward programs. The programs with their tiers and gifts. */
  programs(options?: CallOptions): Promise<RewardProgram[]>
  /** Get a reward account. Read from the back office at the time of the request, never from a copy. If the back office is unavailable, the response is 503. */
  account(id: string, options?: CallOptions): Promise<RewardAccount>
  /** Reserve rewards. Reserves points or rewards for a checkout, until they are confirmed, cancelled or expired. An account can have at most 1,000 pending redemptions. */
  redeem(id: string, body: RedemptionInput, options?: WriteOptions): Promise<RewardRedemption>
  /** Get a redemption. Redemptions stay for 90 days. */
  redemption(id: string, requestId: string, options?: CallOptions): Promise<RewardRedemption>
  /** Confirm a redemption. The reserved amount is used. Confirm it when the order is placed. Has no effect if it is already confirmed. */
  confirm(id: string, requestId: string, options?: WriteOptions): Promise<RewardRedemption>
  /** Cancel a redemption. The reserved amount can be used again. Has no effect if the redemption is already cancelled or expired. A confirmed one can't be cancelled. */
  cancel(id: string, requestId: string, options?: WriteOptions): Promise<RewardRedemption>
}

export const rewards = (call: Calls): RewardsApi => ({
  programs: (options) => call.get('/rewards/programs', {}, options),
  account: (id, options) => call.get(`/rewards/accounts/${segment(id)}`, {}, options),
  redeem: (id, body, options) => call.post(`/rewards/accounts/${segment(id)}/redemptions`, body, options),
  redemption: (id, requestId, options) => call.get(`/rewards/accounts/${segment(id)}/redemptions/${segment(requestId)}`, {}, options),
  confirm: (id, requestId, options) => call.post(`/rewards/accounts/${segment(id)}/redemptions/${segment(requestId)}/confirm`, undefined, options),
  cancel: (id, requestId, options) => call.post(`/rewards/accounts/${segment(id)}/redemptions/${segment(requestId)}/cancel`, undefined, options),
})
