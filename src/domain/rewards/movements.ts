import {
  allocatePoints,
  compareExpiry,
  computePoints,
  computePointsToReverse,
  getLastDay,
  isUnexpired,
  type Lot,
  type OrderEarnings,
  reviewTier,
  type TierRules,
  type TierStatus,
  type UnusedReward,
  upgradeTier,
} from './rules.ts'

/** The state of a reward account before an order or a return. */
export interface RewardState extends TierStatus {
  /** The day in the service's time zone. */
  today: string
  /** The local time in the service's time zone, as a sortable string. */
  now: string
  tiers: readonly TierRules[]
  /** Ten-thousandths. */
  qualifyingSpend: bigint
  pointsOwed: bigint
  points: readonly Lot[]
}

/**
 * A ledger entry.
 * - `earn`: an order has earned points.
 * - `settle`: owed points are taken from a lot.
 * - `convert`: points are converted into the reward `into`.
 * - `reward`: the converted reward.
 * - `return`: part of an order was returned.
 * - `reverse`: points, or an unused reward, are reversed for a return.
 * - `restore`: the points of a reversed reward become a lot again.
 * - `owe`: points that could not be reversed.
 * - `cancel`: a return is cancelled, and its reversal is undone.
 */
export interface Entry {
  kind: 'earn' | 'settle' | 'convert' | 'reward' | 'return' | 'reverse' | 'restore' | 'owe' | 'cancel'
  lot: { kind: 'points' | 'reward'; id: string } | null
  into?: string
  /** Points, or ten-thousandths of a reward. Negative: taken from the lot. */
  amount: bigint
  /** Ten-thousandths that count towards the next tier. */
  spend?: bigint
  /** The returned spend that the account no longer had. Negative: not restored by a cancelled return. */
  unrecoveredSpend?: bigint
}

/** A new lot. Its entries set its amount. */
interface NewLot {
  kind: 'points' | 'reward'
  id: string
  description: string
  expiryDate: string | null
}

/** The changes of an account: new lots, ledger entries and the tier after them. */
export interface RewardMovement {
  lots: NewLot[]
  entries: Entry[]
  tierStatus: TierStatus
  qualifyingSpend: bigint
}

/** The maximum number of rewards in one conversion. The last one has the remaining value. */
const maxRewards = 1_000n

/** Computes the points that an order earns, the rewards that points are converted into, and the tier that the spend reaches. */
export function computeEarning(
  state: RewardState,
  { orderNumber, amount }: { orderNumber: string; amount: bigint },
  newId: () => string,
): RewardMovement {
  const { tiers, today } = state
  const tierStatus = reviewTier(tiers, getTierStatus(state), state.qualifyingSpend, today)
  const tier = findTier(tiers, tierStatus)
  const points = tier ? computePoints(amount, tier) : 0n
  const expiryDate = tier ? getLastDay(today, tier.pointsExpiry) : null
  const credit: Credit = { kind: 'earn', description: `Order ${orderNumber}`, points, spend: amount, expiryDate }
  return applyCredit({ ...state, ...tierStatus }, credit, newId)
}

/** Computes the changes of a cancelled return: it restores exactly the reversed amounts, with the expiry date of the order's points. */
export const computeRestore = (
  state: RewardState,
  { returnNumber, ...credit }: { returnNumber: string } & Omit<Credit, 'kind' | 'description'>,
  newId: () => string,
): RewardMovement =>
  applyCredit(state, { kind: 'cancel', description: `Return ${returnNumber} cancelled`, ...credit }, newId)

interface Credit {
  kind: 'earn' | 'cancel'
  description: string
  points: bigint
  spend: bigint
  /** The part of the spend that does not count, because the return could not reverse it. */
  unrecoveredSpend?: bigint
  expiryDate: string | null
}

function applyCredit(
  state: RewardState,
  { kind, description, points, spend, unrecoveredSpend = 0n, expiryDate }: Credit,
  newId: () => string,
): RewardMovement {
  const { tiers, today } = state
  const ledger = openLedger(state, newId)
  const lot = points > 0n ? ledger.add(description, points, expiryDate) : null
  ledger.entries.push({
    kind,
    lot: lot && { kind: 'points', id: lot.id },
    amount: points,
    spend,
    unrecoveredSpend: -unrecoveredSpend,
  })
  ledger.settle()
  ledger.convert(findTier(tiers, state))
  const qualifyingSpend = state.qualifyingSpend + spend - unrecoveredSpend
  const tierStatus = upgradeTier(tiers, getTierStatus(state), qualifyingSpend, today)
  ledger.convert(findTier(tiers, tierStatus))
  return { lots: ledger.lots, entries: ledger.entries, tierStatus, qualifyingSpend }
}

/**
 * Computes the changes of a return. It reverses the remaining points of the order's own lots first, even if expired, then open lots, then
 * unused rewards. The other points of a reversed reward become a lot again. Points that are already used are owed.
 */
export function computeReversal(
  state: RewardState & { unusedRewards: readonly UnusedReward[] },
  order: OrderEarnings,
  { returnNumber, amount }: { returnNumber: string; amount: bigint },
  newId: () => string,
): RewardMovement | undefined {
  const { tiers, today } = state
  const remaining = order.spend - order.reversedSpend
  const spend = amount < remaining ? amount : remaining
  if (spend <= 0n) return
  const ledger = openLedger(state, newId)
  const difference = state.qualifyingSpend - spend
  const unrecoveredSpend = difference < 0n ? -difference : 0n
  ledger.entries.push({ kind: 'return', lot: null, amount: 0n, spend: -spend, unrecoveredSpend })
  const due = computePointsToReverse(order, spend)
  const orderLots = ledger.points.filter(lot => order.lots.includes(lot.id))
  let missing = due - ledger.takePoints('reverse', orderLots, due)
  missing -= ledger.takePoints('reverse', ledger.open(), missing)
  for (const reward of state.unusedRewards.toSorted(compareExpiry)) {
    if (missing === 0n) break
    ledger.entries.push({ kind: 'reverse', lot: { kind: 'reward', id: reward.id }, amount: -reward.remaining })
    const lot = ledger.add(`Points of a reward, return ${returnNumber}`, reward.points, reward.expiryDate)
    ledger.entries.push({ kind: 'restore', lot: { kind: 'points', id: lot.id }, amount: reward.points })
    missing -= ledger.takePoints('reverse', [lot], missing)
  }
  if (missing > 0n) ledger.entries.push({ kind: 'owe', lot: null, amount: -missing })
  const qualifyingSpend = difference + unrecoveredSpend
  const tierStatus = reviewTier(tiers, getTierStatus(state), qualifyingSpend, today)
  ledger.settle()
  ledger.convert(findTier(tiers, tierStatus))
  return { lots: ledger.lots, entries: ledger.entries, tierStatus, qualifyingSpend }
}

const getTierStatus = ({ tierId, tierLockedUntilDate }: TierStatus): TierStatus => ({ tierId, tierLockedUntilDate })
const findTier = (tiers: readonly TierRules[], { tierId }: TierStatus) => tiers.find(tier => tier.id === tierId)

/** Opens a ledger that tracks the remaining points of the lots while entries are added. */
function openLedger({ today, now, pointsOwed, points: stored }: RewardState, newId: () => string) {
  const points = stored.map(lot => ({ ...lot }))
  const lots: NewLot[] = []
  const entries: Entry[] = []
  const openLots = () => points.filter(lot => lot.remaining > 0n && isUnexpired(lot, today))

  const addLot = (kind: NewLot['kind'], description: string, expiryDate: string | null) => {
    const id = newId()
    lots.push({ kind, id, description, expiryDate })
    return { kind, id } as const
  }

  function takePoints(kind: Entry['kind'], candidates: readonly Lot[], requested: bigint, into?: string) {
    let total = 0n
    for (const { lot, points: lotPoints } of allocatePoints(candidates, requested)) {
      lot.remaining -= lotPoints
      total += lotPoints
      entries.push({ kind, lot: { kind: 'points', id: lot.id }, amount: -lotPoints, ...(into && { into }) })
    }
    return total
  }

  return {
    points,
    lots,
    entries,
    open: openLots,
    takePoints,
    /** Adds a lot of points. The caller adds its entry. */
    add(description: string, remaining: bigint, expiryDate: string | null) {
      const { id } = addLot('points', description, expiryDate)
      const lot: Lot = { id, remaining, createdAt: now, expiryDate }
      points.push(lot)
      return lot
    },
    settle: () => void takePoints('settle', openLots(), pointsOwed),
    /** Converts points into as many rewards as possible. */
    convert(tier: TierRules | undefined) {
      const threshold = tier?.autoRewardPointThreshold ?? 0n
      const value = tier?.autoRewardValue ?? 0n
      if (!tier || threshold <= 0n || value <= 0n) return
      let count = openLots().reduce((sum, lot) => sum + lot.remaining, 0n) / threshold
      for (let i = 1n; count > 0n; i++) {
        const times = i < maxRewards ? 1n : count
        const convertedPoints = threshold * times
        const reward = addLot('reward', `Reward for ${convertedPoints} points`, getLastDay(today, tier.rewardExpiry))
        takePoints('convert', openLots(), convertedPoints, reward.id)
        entries.push({ kind: 'reward', lot: reward, amount: value * times })
        count -= times
      }
    },
  }
}
