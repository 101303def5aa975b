import { type Static, Type } from '../../schemas/schemas.ts'
import { Currency, Flag, Id, LocalDate, LocalTime, Money, Nullable, Text, Whole, Words } from '../values/fields.ts'

const programId = Id('The programme.', '1')
const programName = Text('The name of the programme.', 'Retail Rewards', 100)
const description = Text('What it is, in words.', 'A point for each dollar', 1000)
const tierId = Id('The tier.', '2')
const tierName = Text('The name of the tier.', 'Merino', 100)
const tierSequence = Whole('Where the tier stands, the lowest first.', 2)
const accrualSpend = Money('Each time this much is spent …', '1.00')
const accrualPoints = Whole('… this many points are earned.', 1, { minimum: 0 })
const autoRewardPointThreshold = Whole('At this many points …', 300, { minimum: 1 })
const autoRewardValue = Money('… a reward of this value is made of them.', '10.00')
const qualifySpend = Money('What must be spent in the qualifying period to reach the tier.', '500.00')
const months = Whole('Months.', 12, { minimum: 0 })
const days = Whole('Days.', 0, { minimum: 0 })
const giftId = Id('The gift.', '21')
const giftName = Text('The name of the gift.', 'Merino socks', 100)
const accountId = Id('The reward account.', '22672')
const customerId = Id('The shopper.', '73152')
const tierLockedUntilDate = LocalDate('The tier is kept until this day, whatever is spent.', '2027-09-01')
const joinDate = LocalDate('When the shopper joined the programme.', '2023-01-05')
const lotId = Id('The lot.', '42181')
const lotDescription = Text('Why it was given.', 'Birthday reward')
const createdAt = LocalTime('When it was given.', '2026-01-05 15:19:10')
const expiryDate = LocalDate('The last day on which it can be used.', '2027-01-05')
const points = (description: string, example: number) =>
  Type.Integer({ description, minimum: 0, maximum: Number.MAX_SAFE_INTEGER, examples: [example] })

const Span = Type.Object(
  { months: Nullable(months), days: Nullable(days) },
  { $id: 'Span', additionalProperties: false },
)

/** Contract 8. */
export type RewardProgram = Static<typeof RewardProgram>
export const RewardProgram = Type.Object(
  {
    id: programId,
    name: programName,
    description: Nullable(description),
    currency: Currency,
    tiers: Type.Array(
      Type.Object(
        {
          id: tierId,
          name: tierName,
          sequence: tierSequence,
          accrualSpend: Nullable(accrualSpend),
          accrualPoints: Nullable(accrualPoints),
          autoRewardPointThreshold: Nullable(autoRewardPointThreshold),
          autoRewardValue: Nullable(autoRewardValue),
          qualifySpend: Nullable(qualifySpend),
          qualifyPeriod: Span,
          pointsExpiry: Span,
          rewardExpiry: Span,
        },
        { $id: 'RewardTier', additionalProperties: false },
      ),
    ),
    gifts: Type.Array(
      Type.Object(
        { id: giftId, name: giftName, styles: Type.Array(Type.String({ examples: ['MH01'] })) },
        { $id: 'ProgramGift', additionalProperties: false },
      ),
    ),
  },
  { $id: 'RewardProgram', additionalProperties: false },
)

/** Contract 8. Balances are the sums of the open lots listed with them. */
export type RewardAccount = Static<typeof RewardAccount>
export const RewardAccount = Type.Object(
  {
    id: accountId,
    customerId,
    programId,
    programName,
    tierId: Nullable(tierId),
    tierName: Nullable(tierName),
    tierLockedUntilDate: Nullable(tierLockedUntilDate),
    joinDate: Nullable(joinDate),
    currency: Currency,
    availablePoints: points('Points that can be used.', 120),
    availableRewards: Money("The shopper's reward balance: unexpired, unredeemed rewards.", '30.00'),
    pointsToNextReward: Nullable(
      points('Points missing for the next reward; null where rewards are not made of points.', 180),
    ),
    spendToNextTier: Nullable(Money('What is left to spend for the next tier; null in the highest.', '386.00')),
    nextTierId: Nullable(tierId),
    points: Type.Array(
      Type.Object(
        {
          id: lotId,
          createdAt,
          description: Nullable(lotDescription),
          total: points('Points given.', 300),
          redeemed: points('Points used.', 180),
          pending: points('Points about to be used.', 0),
          available: points('Points left.', 120),
          expiryDate: Nullable(expiryDate),
        },
        { $id: 'Points', additionalProperties: false },
      ),
    ),
    rewards: Type.Array(
      Type.Object(
        {
          id: lotId,
          createdAt,
          description: Nullable(lotDescription),
          total: Money('The value given.', '30.00'),
          redeemed: Money('The value used.', '0.00'),
          pending: Money('The value about to be used.', '0.00'),
          available: Money('The value left.', '30.00'),
          expiryDate: Nullable(expiryDate),
        },
        { $id: 'Reward', additionalProperties: false },
      ),
    ),
    gifts: Type.Array(
      Type.Object(
        {
          id: lotId,
          giftId: Nullable(giftId),
          name: Nullable(giftName),
          available: Flag('Whether the gift can still be taken.'),
          expiryDate: Nullable(expiryDate),
        },
        { $id: 'Gift', additionalProperties: false },
      ),
    ),
  },
  { $id: 'RewardAccount', additionalProperties: false },
)

/** One row a tier; what the tiers of one programme share is repeated. */
export const RewardProgramRow = Type.Object({
  programId,
  programName,
  description: Type.Optional(description),
  tierId,
  tierName,
  tierSequence,
  accrualSpend: Type.Optional(accrualSpend),
  accrualPoints: Type.Optional(accrualPoints),
  autoRewardPointThreshold: Type.Optional(autoRewardPointThreshold),
  autoRewardValue: Type.Optional(autoRewardValue),
  qualifySpend: Type.Optional(qualifySpend),
  qualifyMonths: Type.Optional(months),
  qualifyDays: Type.Optional(days),
  pointsExpiryMonths: Type.Optional(months),
  pointsExpiryDays: Type.Optional(days),
  rewardExpiryMonths: Type.Optional(months),
  rewardExpiryDays: Type.Optional(days),
})

export const RewardGiftRow = Type.Object({
  programId,
  giftId,
  name: giftName,
  styles: Type.Optional(
    Type.String({
      description: 'The style codes the gift may be, separated by `;`.',
      maxLength: 4000,
      format: 'list',
      examples: ['MH01;MH02'],
    }),
  ),
})

export const RewardAccountRow = Type.Object({
  id: accountId,
  customerId,
  programId,
  tierId: Type.Optional(tierId),
  tierLockedUntilDate: Type.Optional(tierLockedUntilDate),
  joinDate: Type.Optional(joinDate),
  qualifyingSpend: Type.Optional(Money('What was spent in the qualifying period.', '114.00')),
})

export const RewardLotRow = Type.Object({
  accountId,
  kind: Words('What the lot holds.', ['points', 'reward', 'gift']),
  lotId,
  createdAt,
  description: Type.Optional(lotDescription),
  total: Money('Points, or value, given; 1 for a gift.', '300'),
  redeemed: Type.Optional(Money('How much of it is used.', '180')),
  pending: Type.Optional(Money('How much of it is about to be used.', '0')),
  giftId: Type.Optional(giftId),
  expiryDate: Type.Optional(expiryDate),
})
