// Generated from the OpenAPI document by `npm run docs`.
import type { Open } from './general.ts'

export interface RedemptionInput {
  /** Your own UUID for the redemption. A repeated request with it has no further effect. */
  requestId: string
  /** Points to redeem. */
  points?: number | undefined
  /** The value of rewards to redeem. */
  amount?: string | undefined
  /** Seconds until the redemption expires, unless it is confirmed. */
  seconds?: number | undefined
}

export interface RewardProgram {
  /** The program. */
  id: string
  /** The name of the program. */
  name: string
  /** The description of the program. */
  description: string | null
  /** ISO 4217. */
  currency: string
  tiers: RewardTier[]
  gifts: ProgramGift[]
}

export interface RewardTier {
  /** The tier. */
  id: string
  /** The name of the tier. */
  name: string
  /** The position of the tier, lowest first. */
  sequence: number
  /** The spend that earns `accrualPoints`. */
  accrualSpend: string | null
  /** The points earned for each `accrualSpend`. */
  accrualPoints: number | null
  /** The number of points that are converted into a reward. */
  autoRewardPointThreshold: number | null
  /** The value of a reward that is converted from points. */
  autoRewardValue: string | null
  /** The spend in the qualifying period that reaches the tier. */
  qualifySpend: string | null
  qualifyPeriod: Span
  pointsExpiry: Span
  rewardExpiry: Span
}

export interface Span {
  /** Months. */
  months: number | null
  /** Days. */
  days: number | null
}

export interface ProgramGift {
  /** The gift. */
  id: string
  /** The name of the gift. */
  name: string
  styles: string[]
}

export interface RewardAccount {
  /** The reward account. */
  id: string
  /** The shopper. */
  customerId: string
  /** The program. */
  programId: string
  /** The name of the program. */
  programName: string
  /** The tier. */
  tierId: string | null
  /** The name of the tier. */
  tierName: string | null
  /** The last day on which the tier is kept whatever the spend is. */
  tierLockedUntilDate: string | null
  /** When the shopper joined the program. */
  joinDate: string | null
  /** ISO 4217. */
  currency: string
  /** Points that can be used. */
  availablePoints: number
  /** The shopper's reward balance: unexpired, unredeemed rewards. */
  availableRewards: string
  /** The points that are missing for the next reward. Null if points are not converted into rewards. */
  pointsToNextReward: number | null
  /** The spend that is missing for the next tier. Null in the highest tier. */
  spendToNextTier: string | null
  /** The tier. */
  nextTierId: string | null
  points: Points[]
  rewards: Reward[]
  gifts: Gift[]
}

export interface Points {
  /** The lot. */
  id: string
  /** When the lot was created. */
  createdAt: string
  /** The reason for the lot. */
  description: string | null
  /** Points in total. */
  total: number
  /** Points used. */
  redeemed: number
  /** Points reserved by a pending redemption. */
  pending: number
  /** Remaining points. */
  available: number
  /** The last day on which it can be used. */
  expiryDate: string | null
}

export interface Reward {
  /** The lot. */
  id: string
  /** When the lot was created. */
  createdAt: string
  /** The reason for the lot. */
  description: string | null
  /** The value in total. */
  total: string
  /** The value used. */
  redeemed: string
  /** The value reserved by a pending redemption. */
  pending: string
  /** The remaining value. */
  available: string
  /** The last day on which it can be used. */
  expiryDate: string | null
}

export interface Gift {
  /** The lot. */
  id: string
  /** The gift. */
  giftId: string | null
  /** The name of the gift. */
  name: string | null
  /** True if the gift can still be redeemed. */
  available: boolean
  /** The last day on which it can be used. */
  expiryDate: string | null
}

export interface RewardRedemption {
  /** Your own UUID for the redemption. A repeated request with it has no further effect. */
  requestId: string
  /** The reward account. */
  accountId: string
  /** `pending` reserves the amount until `expiresAt`. `unknown`: the back office has not answered yet. Repeat the last request. */
  status: Open<'pending' | 'confirmed' | 'cancelled' | 'expired' | 'unknown'>
  /** Points to redeem. */
  points: number | null
  /** The value of rewards to redeem. */
  amount: string | null
  /** ISO 4217. */
  currency: string
  /** When the redemption was created. */
  createdAt: string
  /** When a pending redemption expires. */
  expiresAt: string
}
