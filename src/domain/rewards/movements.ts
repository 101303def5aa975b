import {
  byExpiry,
  climbed,
  drawn,
  isOpen,
  judged,
  type Lot,
  lastDay,
  type OrderEarnings,
  type Place,
  pointsDue,
  pointsFor,
  type TierRules,
  type UnusedReward,
} from './rules.ts'

/** A reward account as an order or a return finds it. */
export interface Standing extends Place {
  /** The day in the service's time zone. */
  today: string
  /** The wall clock of the service's time zone, text that sorts. */
  now: string
  tiers: readonly TierRules[]
  /** Ten-thousandths. */
  qualifyingSpend: bigint
  pointsOwed: bigint
  points: readonly Lot[]
}

/**
 * One line of the ledger. `earn`: an order has earned points. `settle`: points that were owed are taken from a lot. `convert`: points
 * become the reward `into`. `reward`: that reward. `return`: part of an order came back. `reverse`: points, or an unused reward, are
 * taken back for it. `restore`: the points of that reward are given again, as a lot. `owe`: points that could not be taken back.
 * `cancel`: the return is cancelled, and what it took is given again.
 */
export interface Entry {
  kind: 'earn' | 'settle' | 'convert' | 'reward' | 'return' | 'reverse' | 'restore' | 'owe' | 'cancel'
  lot: { kind: 'points' | 'reward'; id: string } | null
  into?: string
  /** Points, or ten-thousandths of a reward; less than zero: taken from the lot. */
  amount: bigint
  /** Ten-thousandths that count towards the next tier. */
  spend?: bigint
  /** What of the spend that came back the account had no more; less than zero: a cancelled return does not give it again. */
  notTaken?: bigint
}

/** A lot to be made; its entries fill it. */
interface NewLot {
  kind: 'points' | 'reward'
  id: string
  description: string
  expiryDate: string | null
}

/** What becomes of an account: lots to make, entries to write, and where it stands then. */
export interface Move {
  lots: NewLot[]
  entries: Entry[]
  place: Place
  qualifyingSpend: bigint
}

/** More rewards at once than anybody has earned: the last one is worth the rest. */
const mostRewards = 1_000n

/** What an order earns by the account's tier, what of the points becomes rewards, and the tier that its spend reaches. */
export function earning(
  standing: Standing,
  { orderNumber, amount }: { orderNumber: string; amount: bigint },
  newId: () => string,
): Move {
  const { tiers, today } = standing
  const place = judged(tiers, placeOf(standing), standing.qualifyingSpend, today)
  const tier = tierOf(tiers, place)
  const points = tier ? pointsFor(amount, tier) : 0n
  const expiryDate = tier ? lastDay(today, tier.pointsExpiry) : null
  const given: Given = { kind: 'earn', description: `Order ${orderNumber}`, points, spend: amount, expiryDate }
  return giving({ ...standing, ...place }, given, newId)
}

/** What a cancelled return gives again: exactly what it took, good for as long as what the order earned. */
export const restoring = (
  standing: Standing,
  { returnNumber, ...taken }: { returnNumber: string } & Omit<Given, 'kind' | 'description'>,
  newId: () => string,
): Move => giving(standing, { kind: 'cancel', description: `Return ${returnNumber} cancelled`, ...taken }, newId)

interface Given {
  kind: 'earn' | 'cancel'
  description: string
  points: bigint
  spend: bigint
  /** What of the spend does not count, since it was not taken. */
  notTaken?: bigint
  expiryDate: string | null
}

function giving(
  standing: Standing,
  { kind, description, points, spend, notTaken = 0n, expiryDate }: Given,
  newId: () => string,
): Move {
  const { tiers, today } = standing
  const book = open(standing, newId)
  const lot = points > 0n ? book.add(description, points, expiryDate) : null
  book.entries.push({ kind, lot: lot && { kind: 'points', id: lot.id }, amount: points, spend, notTaken: -notTaken })
  book.settle()
  book.convert(tierOf(tiers, standing))
  const qualifyingSpend = standing.qualifyingSpend + spend - notTaken
  const place = climbed(tiers, placeOf(standing), qualifyingSpend, today)
  book.convert(tierOf(tiers, place))
  return { lots: book.lots, entries: book.entries, place, qualifyingSpend }
}

/**
 * What a return takes back: first what is left of the order's own lots, expired or not; then what is open of others; then unused
 * rewards that were made of points here, whose other points are given again. What is used up is owed.
 */
export function reversing(
  standing: Standing & { unusedRewards: readonly UnusedReward[] },
  order: OrderEarnings,
  { returnNumber, amount }: { returnNumber: string; amount: bigint },
  newId: () => string,
): Move | undefined {
  const { tiers, today } = standing
  const left = order.spend - order.spendBack
  const spend = amount < left ? amount : left
  if (spend <= 0n) return
  const book = open(standing, newId)
  const after = standing.qualifyingSpend - spend
  const notTaken = after < 0n ? -after : 0n
  book.entries.push({ kind: 'return', lot: null, amount: 0n, spend: -spend, notTaken })
  const due = pointsDue(order, spend)
  const own = book.points.filter(lot => order.lots.includes(lot.id))
  let missing = due - book.take('reverse', own, due)
  missing -= book.take('reverse', book.open(), missing)
  for (const reward of standing.unusedRewards.toSorted(byExpiry)) {
    if (missing === 0n) break
    book.entries.push({ kind: 'reverse', lot: { kind: 'reward', id: reward.id }, amount: -reward.left })
    const lot = book.add(`Points of a reward, return ${returnNumber}`, reward.points, reward.expiryDate)
    book.entries.push({ kind: 'restore', lot: { kind: 'points', id: lot.id }, amount: reward.points })
    missing -= book.take('reverse', [lot], missing)
  }
  if (missing > 0n) book.entries.push({ kind: 'owe', lot: null, amount: -missing })
  const qualifyingSpend = after + notTaken
  const place = judged(tiers, placeOf(standing), qualifyingSpend, today)
  book.settle()
  book.convert(tierOf(tiers, place))
  return { lots: book.lots, entries: book.entries, place, qualifyingSpend }
}

const placeOf = ({ tierId, tierLockedUntilDate }: Place): Place => ({ tierId, tierLockedUntilDate })
const tierOf = (tiers: readonly TierRules[], { tierId }: Place) => tiers.find(tier => tier.id === tierId)

/** The account's points while entries are written: what an entry takes of a lot is left of it no more. */
function open({ today, now, pointsOwed, points: given }: Standing, newId: () => string) {
  const points = given.map(lot => ({ ...lot }))
  const lots: NewLot[] = []
  const entries: Entry[] = []
  const openLots = () => points.filter(lot => lot.left > 0n && isOpen(lot, today))

  const make = (kind: NewLot['kind'], description: string, expiryDate: string | null) => {
    const id = newId()
    lots.push({ kind, id, description, expiryDate })
    return { kind, id } as const
  }

  function take(kind: Entry['kind'], from: readonly Lot[], wanted: bigint, into?: string) {
    let taken = 0n
    for (const { lot, points } of drawn(from, wanted)) {
      lot.left -= points
      taken += points
      entries.push({ kind, lot: { kind: 'points', id: lot.id }, amount: -points, ...(into && { into }) })
    }
    return taken
  }

  return {
    points,
    lots,
    entries,
    open: openLots,
    take,
    /** A new lot of points; its entry is the caller's. */
    add(description: string, left: bigint, expiryDate: string | null) {
      const { id } = make('points', description, expiryDate)
      const lot: Lot = { id, left, createdAt: now, expiryDate }
      points.push(lot)
      return lot
    },
    settle: () => void take('settle', openLots(), pointsOwed),
    /** Makes rewards of as many points as there are enough. */
    convert(tier: TierRules | undefined) {
      const threshold = tier?.autoRewardPointThreshold ?? 0n
      const value = tier?.autoRewardValue ?? 0n
      if (!tier || threshold <= 0n || value <= 0n) return
      let count = openLots().reduce((sum, lot) => sum + lot.left, 0n) / threshold
      for (let made = 1n; count > 0n; made++) {
        const times = made < mostRewards ? 1n : count
        const worth = threshold * times
        const reward = make('reward', `Reward for ${worth} points`, lastDay(today, tier.rewardExpiry))
        take('convert', openLots(), worth, reward.id)
        entries.push({ kind: 'reward', lot: reward, amount: value * times })
        count -= times
      }
    },
  }
}
