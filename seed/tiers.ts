import { type Day, monthsLater } from './calendar.ts'

export interface Tier {
  id: string
  code: string
  name: string
  sequence: number
  /** Percent off items that aren't reduced already. */
  discount: number
  /** Cents. */
  qualifySpend: number
  accrualSpend: number
  accrualPoints: number
  rewardValue: number
}

/** The points that become a reward. */
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
  tierOn(day: Day): Tier
  /** The day until which the tier is kept regardless of spend, or null for the lowest tier. */
  keptUntil(): Day | null
  /** Cents spent in the twelve months before a day, minus returns. */
  spentBefore(day: Day): number
  spend(day: Day, cents: number): void
}

export function membership(since: Day): Membership {
  const purchases: [day: Day, cents: number][] = []
  let tier = lowest
  let tierEndsOn: Day | null = null
  const spentBefore = (day: Day) => {
    const from = monthsLater(day, -12)
    let sum = 0
    for (const [on, cents] of purchases) if (on > from && on <= day) sum += cents
    return Math.max(0, sum)
  }
  const stand = (day: Day, reached: Tier) => {
    tier = reached
    tierEndsOn = reached === lowest ? null : monthsLater(day, 12)
  }
  const reachedOn = (day: Day) => {
    const spent = spentBefore(day)
    return tiers.findLast(({ qualifySpend }) => spent >= qualifySpend) ?? lowest
  }
  return {
    since,
    tierOn(day) {
      if (tierEndsOn !== null && day > tierEndsOn) stand(day, reachedOn(day))
      return tier
    },
    keptUntil: () => tierEndsOn,
    spentBefore,
    spend(day, cents) {
      purchases.push([day, cents])
      const reached = reachedOn(day)
      if (reached.sequence >= tier.sequence) stand(day, reached)
    },
  }
}
