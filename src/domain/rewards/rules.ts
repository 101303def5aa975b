/** A stretch of the calendar. Nothing, zero of both, or more than a thousand years sets no limit. */
export interface Span {
  months: number | null
  days: number | null
}

/** A tier as the rules see it. Money is in ten-thousandths, as the tables hold it. */
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

/** Where an account stands among the tiers of its programme. */
export interface Place {
  tierId: string | null
  tierLockedUntilDate: string | null
}

/** Points that are left of a lot. */
export interface Lot {
  id: string
  left: bigint
  createdAt: string
  expiryDate: string | null
}

/** A reward that was made of points, and of which nothing is used. */
export interface UnusedReward extends Lot {
  /** What it was made of. */
  points: bigint
}

/** Of one order: what it has earned for what it cost, what of both came back before, and the lots that it was given. */
export interface OrderEarnings {
  points: bigint
  spend: bigint
  pointsBack: bigint
  spendBack: bigint
  lots: readonly string[]
}

/** A lot holds no more than one that a sync brings. */
const mostPoints = 2_147_483_647n

/** Points for an amount, each whole `accrualSpend` counting. */
export function pointsFor(amount: bigint, { accrualSpend, accrualPoints }: TierRules): bigint {
  if (accrualSpend === null || accrualSpend <= 0n || accrualPoints === null || amount < accrualSpend) return 0n
  const points = (amount / accrualSpend) * accrualPoints
  return points < mostPoints ? points : mostPoints
}

/**
 * Points to take back for a further part of an order: its share of what was earned, rounded down over all parts together, so that
 * pieces come to the same as the whole, and the whole to exactly what was earned.
 */
export function pointsDue({ points, spend, pointsBack, spendBack }: Omit<OrderEarnings, 'lots'>, part: bigint): bigint {
  const back = spendBack + part
  const due = (back >= spend ? points : (points * back) / spend) - pointsBack
  return due > 0n ? due : 0n
}

/** The last day of a span that begins `today`: months first, then days; a month that is too short ends on its last day. */
export function lastDay(today: string, span: Span): string | null {
  const months = span.months ?? 0
  const days = span.days ?? 0
  if (months + days === 0 || months / 12 + days / 365 > 1000) return null
  return Temporal.PlainDate.from(today).add({ months, days }).toString()
}

/** Lots in the order in which they are used: what expires first goes first, then what is older. */
export const byExpiry = (a: Lot, b: Lot) =>
  compare(a.expiryDate ?? never, b.expiryDate ?? never) || compare(a.createdAt, b.createdAt) || compare(a.id, b.id)
const never = '9999-99-99'
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** What to take from each of some lots for so many points, as far as they reach. */
export function drawn(lots: readonly Lot[], wanted: bigint): { lot: Lot; points: bigint }[] {
  const parts: { lot: Lot; points: bigint }[] = []
  let missing = wanted
  for (const lot of lots.toSorted(byExpiry)) {
    const points = lot.left < missing ? lot.left : missing
    if (points > 0n) parts.push({ lot, points })
    missing -= points
  }
  return parts
}

export const isOpen = (lot: Lot, today: string) => lot.expiryDate === null || lot.expiryDate >= today

/** The highest tier above that the spend reaches, kept for its qualifying period; where there is none, the place as it is. */
export function climbed(tiers: readonly TierRules[], place: Place, spend: bigint, today: string): Place {
  const now = tiers.find(tier => tier.id === place.tierId)
  const above = tiers.filter(tier => !now || tier.sequence > now.sequence)
  const reached = highest(above, spend)
  return reached ? placeIn(reached, today) : place
}

/**
 * After the day until which a tier is kept it is judged by the spend again: it begins anew, or a lower one does. A tier that is not
 * reached by spending is not lost by it. Who has no tier gets what the spend reaches.
 */
export function judged(tiers: readonly TierRules[], place: Place, spend: bigint, today: string): Place {
  const now = tiers.find(tier => tier.id === place.tierId)
  if (!now) return climbed(tiers, place, spend, today)
  if (now.qualifySpend === null) return place
  if (place.tierLockedUntilDate === null || today <= place.tierLockedUntilDate) return place
  const upToNow = tiers.filter(tier => tier.sequence <= now.sequence)
  const lowest = upToNow.reduce((low, tier) => (tier.sequence < low.sequence ? tier : low), now)
  return placeIn(highest(upToNow, spend) ?? lowest, today)
}

function highest(tiers: readonly TierRules[], spend: bigint): TierRules | undefined {
  return tiers
    .filter(({ qualifySpend }) => qualifySpend !== null && qualifySpend <= spend)
    .reduce<TierRules | undefined>((high, tier) => (high && high.sequence >= tier.sequence ? high : tier), undefined)
}

const placeIn = (tier: TierRules, today: string): Place => ({
  tierId: tier.id,
  tierLockedUntilDate: lastDay(today, tier.qualifyPeriod),
})
