// Made of the operations of the API by `npm run docs`.

export interface RewardProgram {
  /** The programme. */
  id: string
  /** The name of the programme. */
  name: string
  /** What it is, in words. */
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
  /** Where the tier stands, the lowest first. */
  sequence: number
  /** Each time this much is spent … */
  accrualSpend: string | null
  /** … this many points are earned. */
  accrualPoints: number | null
  /** At this many points … */
  autoRewardPointThreshold: number | null
  /** … a reward of this value is made of them. */
  autoRewardValue: string | null
  /** What must be spent in the qualifying period to reach the tier. */
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
  /** The programme. */
  programId: string
  /** The name of the programme. */
  programName: string
  /** The tier. */
  tierId: string | null
  /** The name of the tier. */
  tierName: string | null
  /** The tier is kept until this day, whatever is spent. */
  tierLockedUntilDate: string | null
  /** When the shopper joined the programme. */
  joinDate: string | null
  /** ISO 4217. */
  currency: string
  /** Points that can be used. */
  availablePoints: number
  /** The shopper's reward balance: unexpired, unredeemed rewards. */
  availableRewards: string
  /** Points missing for the next reward; null where rewards are not made of points. */
  pointsToNextReward: number | null
  /** What is left to spend for the next tier; null in the highest. */
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
  /** When it was given. */
  createdAt: string
  /** Why it was given. */
  description: string | null
  /** Points given. */
  total: number
  /** Points used. */
  redeemed: number
  /** Points about to be used. */
  pending: number
  /** Points left. */
  available: number
  /** The last day on which it can be used. */
  expiryDate: string | null
}

export interface Reward {
  /** The lot. */
  id: string
  /** When it was given. */
  createdAt: string
  /** Why it was given. */
  description: string | null
  /** The value given. */
  total: string
  /** The value used. */
  redeemed: string
  /** The value about to be used. */
  pending: string
  /** The value left. */
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
  /** Whether the gift can still be taken. */
  available: boolean
  /** The last day on which it can be used. */
  expiryDate: string | null
}
