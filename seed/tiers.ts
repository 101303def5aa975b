import { addMonths, type Day } from './calendar.ts'

export interface Tier {
  id: string
  code: string
  name: string
  sequence: number
  /** Percent off items that aren't reduced already. */
  discount: number
  /** Cents, as all amounts of a tier. */
  qualifySpend: number
  accrualSpend: number
  accrualPoints: number
  rewardValue: number
}

/** The number of points that become a reward. */
export const rewardThreshold = 300

const lowest: Tier = {
  id: '1',
  code: '10',
  name: 'Fledgling',
  sequence: 1,
  discount: 0,
  qualifySpend: 0,
  accrualSpend: 100,
  accrualPoints: 1,
  rewardValue: 1000,
}

/** The tiers of the reward program, lowest first. */
export const tiers: readonly Tier[] = [
  lowest,
  {
    id: '2',
    code: '20',
    name: 'Songbird',
    sequence: 2,
    discount: 5,
    qualifySpend: 50_000,
    accrualSpend: 200,
    accrualPoints: 3,
    rewardValue: 1000,
  },
  {
    id: '3',
    code: '30',
    name: 'Currawong',
    sequence: 3,
    discount: 10,
    qualifySpend: 150_000,
    accrualSpend: 100,
    accrualPoints: 2,
    rewardValue: 1500,
  },
]

/** A member's tier. It is kept for a year after the last qualifying purchase. */
export interface Membership {
  since: Day
  getTier(day: Day): Tier
  /** Returns the last day of the current tier, or null for the lowest tier. */
  getTierEnd(): Day | null
  /** Returns the cents spent in the twelve months up to a day, minus returns. */
  getSpend(day: Day): number
  addPurchase(day: Day, cents: number): void
}

export function createMembership(since: Day): Membership {
  const purchases: [day: Day, cents: number][] = []
  let tier = lowest
  let tierEndsOn: Day | null = null
  const getSpend = (day: Day) => {
    const from = addMonths(day, -12)
    let sum = 0
    for (const [on, cents] of purchases) if (on > from && on <= day) sum += cents
    return Math.max(0, sum)
  }
  const setTier = (day: Day, newTier: Tier) => {
    tier = newTier
    tierEndsOn = newTier === lowest ? null : addMonths(day, 12)
  }
  const findReachedTier = (day: Day) => {
    const spent = getSpend(day)
    return tiers.findLast(({ qualifySpend }) => spent >= qualifySpend) ?? lowest
  }
  return {
    since,
    getTier(day) {
      if (tierEndsOn !== null && day > tierEndsOn) setTier(day, findReachedTier(day))
      return tier
    },
    getTierEnd: () => tierEndsOn,
    getSpend,
    addPurchase(day, cents) {
      purchases.push([day, cents])
      const reached = findReachedTier(day)
      if (reached.sequence >= tier.sequence) setTier(day, reached)
    },
  }
}
