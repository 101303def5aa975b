import { findRewardAccount } from '../../store/rewards/rewards.ts'
import type { RewardReads } from '../port/rewards.ts'

/** Reward accounts of our own tables, which are always up to date. */
export const rewardReads: RewardReads = { rewardAccount: ({ db, service }, by) => findRewardAccount(db, service, by) }
