import { type Static, Type } from '../../schemas/schemas.ts'
import { Currency, Flag, Id, Integer, LocalDate, LocalTime, Money, Nullable, OneOf, Text } from '../values/fields.ts'

const programId = Id('The program.', '1')
const programName = Text('The name of the program.', 'Retail Rewards', 100)
const description = Text('The description of the program.', 'A point for each dollar', 1000)
const tierId = Id('The tier.', '2')
const tierName = Text('The name of the tier.', 'Merino', 100)
const tierSequence = Integer('The position of the tier, lowest first.', 2)
const accrualSpend = Money('The spend that earns `accrualPoints`.', '1.00')
const accrualPoints = Integer('The points earned for each `accrualSpend`.', 1, { minimum: 0 })
const autoRewardPointThreshold = Integer('The number of points that are converted into a reward.', 300, { minimum: 1 })
const autoRewardValue = Money('The value of a reward that is converted from points.', '10.00')
const qualifySpend = Money('The spend in the qualifying period that reaches the tier.', '500.00')
const months = Integer('Months.', 12, { minimum: 0 })
const days = Integer('Days.', 0, { minimum: 0 })
const giftId = Id('The gift.', '21')
const giftName = Text('The name of the gift.', 'Merino socks', 100)
const accountId = Id('The reward account.', '22672')
const customerId = Id('The shopper.', '73152')
const tierLockedUntilDate = LocalDate('The last day on which the tier is kept whatever the spend is.', '2027-09-01')
const joinDate = LocalDate('When the shopper joined the program.', '2023-01-05')
const lotId = Id('The lot.', '42181')
const lotDescription = Text('The reason for the lot.', 'Birthday reward')
const createdAt = LocalTime('When the lot was created.', '2026-01-05 15:19:10')
const expiryDate = LocalDate('The last day on which it can be used.', '2027-01-05')
const points = (text: string, example: number) =>
  Type.Integer({ description: text, minimum: 0, maximum: Number.MAX_SAFE_INTEGER, examples: [example] })

const Span = Type.Object(
  { months: Nullable(months), days: Nullable(days) },
  { $id: 'Span', additionalProperties: false },
)

/** A loyalty program with its tiers and gifts. */
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

/** A reward account. The balances are the sums of the listed open lots. */
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
      points('The points that are missing for the next reward. Null if points are not converted into rewards.', 180),
    ),
    spendToNextTier: Nullable(
      Money('The spend that is missing for the next tier. Null in the highest tier.', '386.00'),
    ),
    nextTierId: Nullable(tierId),
    points: Type.Array(
      Type.Object(
        {
          id: lotId,
          createdAt,
          description: Nullable(lotDescription),
          total: points('Points in total.', 300),
          redeemed: points('Points used.', 180),
          pending: points('Points reserved by a pending redemption.', 0),
          available: points('Remaining points.', 120),
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
          total: Money('The value in total.', '30.00'),
          redeemed: Money('The value used.', '0.00'),
          pending: Money('The value reserved by a pending redemption.', '0.00'),
          available: Money('The remaining value.', '30.00'),
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
          available: Flag('True if the gift can still be redeemed.'),
          expiryDate: Nullable(expiryDate),
        },
        { $id: 'Gift', additionalProperties: false },
      ),
    ),
  },
  { $id: 'RewardAccount', additionalProperties: false },
)

/** An import row: one tier. The fields of the program are repeated in each row. */
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
      description: 'The style codes of the gift, separated by `;`.',
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
  qualifyingSpend: Type.Optional(Money('The spend in the qualifying period.', '114.00')),
})

export const RewardLotRow = Type.Object({
  accountId,
  kind: OneOf('The kind of lot.', ['points', 'reward', 'gift']),
  lotId,
  createdAt,
  description: Type.Optional(lotDescription),
  total: Money('Points or value in total. 1 for a gift.', '300'),
  redeemed: Type.Optional(Money('The used part.', '180')),
  pending: Type.Optional(Money('The part reserved by a pending redemption.', '0')),
  giftId: Type.Optional(giftId),
  expiryDate: Type.Optional(expiryDate),
})
