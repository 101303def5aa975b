import type { Db } from '../../database/db.ts'
import type { Redemption, RedemptionAction, RewardRedemption } from '../../domain/rewards/redemptions.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { ApiError } from '../../errors/api-error.ts'
import type { CommitPhase, Write } from '../../writes/write.ts'

export interface RewardReads {
  /** Returns the current account (`RewardAccount`) as JSON. Returns undefined if the account or the customer does not exist. */
  rewardAccount(
    reading: { db: Db; service: Service },
    by: { id: string } | { customerId: string },
  ): Promise<{ record: string } | undefined>
}

/**
 * A driver's redemptions of points and rewards. Each is executed once per request ID. All throw `not_found`, and return errors that must be
 * committed.
 */
export interface RewardWrites {
  /** Reserves an amount. A repetition returns the redemption. Throws `insufficient_rewards`. */
  redeemRewards(write: Write, redemption: Redemption & { seconds: number }): Promise<CommitPhase<RedemptionResult>>
  /** Confirms a redemption or cancels it. Throws `invalid_transition`. */
  endRedemption(
    write: Write,
    key: Pick<Redemption, 'accountId' | 'requestId'>,
    action: RedemptionAction,
  ): Promise<CommitPhase<RedemptionResult>>
}

type RedemptionResult = RewardRedemption | ApiError
