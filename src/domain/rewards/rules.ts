/** A period. No limit if both are null or 0, or if it is longer than 1,000 years. */
export interface Span {
  months: number | null
  days: number | null
}

/** The rules of a tier. Money is in ten-thousandths. */
export interface TierRules {
  id: string
  sequence: number
  accrualSpend: bigint | null
  accrualPoints: bigint | null
  autoRewardPointThreshold: bigint | null
  autoRewardValue: bigint | null
  qualifySpend: bigint | null
  qualifyPeriod: Span
  pointsExpiry: Span
  rewardExpiry: Span
}

/** The tier of an account, and the last day (`YYYY-MM-DD`) on which it can't be lost. */
export interface TierStatus {
  tierId: string | null
  tierLockedUntilDate: string | null
}

/** The remaining points of a lot. */
export interface Lot {
  id: string
  remaining: bigint
  createdAt: string
  expiryDate: string | null
}

/** An unused reward that was converted from points. */
export interface UnusedReward extends Lot {
  /** The converted points. */
  points: bigint
}

/** An order's earned points, their reversals by earlier returns, and the lots of its points. */
export interface OrderEarnings {
  points: bigint
  spend: bigint
  reversedPoints: bigint
  reversedSpend: bigint
  lots: readonly string[]
}

/** The largest amount of a lot. A sync has the same limit. */
const maxPoints = 2_147_483_647n

/** Returns the points for an amount: `accrualPoints` for each complete `accrualSpend`. */
export function computePoints(amount: bigint, { accrualSpend, accrualPoints }: TierRules): bigint {
  if (accrualSpend === null || accrualSpend <= 0n || accrualPoints === null || amount < accrualSpend) return 0n
  const points = (amount / accrualSpend) * accrualPoints
  return points < maxPoints ? points : maxPoints
}

/**
 * Returns the points to reverse if a further part of an order's spend is returned. Rounds the points of all parts together, not of each part,
 * so that several partial returns reverse as many points as one complete return: exactly the earned points.
 */
export function computePointsToReverse(
  { points, spend, reversedPoints, reversedSpend }: Omit<OrderEarnings, 'lots'>,
  returnedSpend: bigint,
): bigint {
  const totalReversed = reversedSpend + returnedSpend
  const due = (totalReversed >= spend ? points : (points * totalReversed) / spend) - reversedPoints
  return due > 0n ? due : 0n
}

/** Returns the last day of a period that begins `today`: months are added first, then days. Returns null if there is no limit. */
export function getLastDay(today: string, span: Span): string | null {
  const months = span.months ?? 0
  const days = span.days ?? 0
  if (months + days === 0 || months / 12 + days / 365 > 1000) return null
  return Temporal.PlainDate.from(today).add({ months, days }).toString()
}

/** Compares lots in the order in which they are used: earliest expiry first, then oldest first. */
export const compareExpiry = (a: Lot, b: Lot) =>
  compare(a.expiryDate ?? never, b.expiryDate ?? never) || compare(a.createdAt, b.createdAt) || compare(a.id, b.id)
const never = '9999-99-99'
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** Allocates points to lots in the order of their use. The sum can be less than `requested`. */
export function allocatePoints(lots: readonly Lot[], requested: bigint): { lot: Lot; points: bigint }[] {
  const parts: { lot: Lot; points: bigint }[] = []
  let missing = requested
  for (const lot of lots.toSorted(compareExpiry)) {
    const points = lot.remaining < missing ? lot.remaining : missing
    if (points > 0n) parts.push({ lot, points })
    missing -= points
  }
  return parts
}

export const isUnexpired = (lot: Lot, today: string) => lot.expiryDate === null || lot.expiryDate >= today

/** Returns the highest tier above the current one that the spend reaches, locked for its qualifying period. Otherwise the current tier. */
export function upgradeTier(tiers: readonly TierRules[], status: TierStatus, spend: bigint, today: string): TierStatus {
  const current = tiers.find(tier => tier.id === status.tierId)
  const above = tiers.filter(tier => !current || tier.sequence > current.sequence)
  const reached = findHighestTier(above, spend)
  return reached ? enterTier(reached, today) : status
}

/**
 * Reviews the tier of an account after its lock has expired: the account keeps its tier for another period, or gets a lower one, depending on
 * the spend. A tier without `qualifySpend` is never lost. An account without a tier gets the tier that the spend reaches.
 */
export function reviewTier(tiers: readonly TierRules[], status: TierStatus, spend: bigint, today: string): TierStatus {
  const current = tiers.find(tier => tier.id === status.tierId)
  if (!current) return upgradeTier(tiers, status, spend, today)
  if (current.qualifySpend === null) return status
  if (status.tierLockedUntilDate === null || today <= status.tierLockedUntilDate) return status
  const upToCurrent = tiers.filter(tier => tier.sequence <= current.sequence)
  const lowest = upToCurrent.reduce((low, tier) => (tier.sequence < low.sequence ? tier : low), current)
  return enterTier(findHighestTier(upToCurrent, spend) ?? lowest, today)
}

function findHighestTier(tiers: readonly TierRules[], spend: bigint): TierRules | undefined {
  return tiers
    .filter(({ qualifySpend }) => qualifySpend !== null && qualifySpend <= spend)
    .reduce<TierRules | undefined>((high, tier) => (high && high.sequence >= tier.sequence ? high : tier), undefined)
}

const enterTier = (tier: TierRules, today: string): TierStatus => ({
  tierId: tier.id,
  tierLockedUntilDate: getLastDay(today, tier.qualifyPeriod),
})
