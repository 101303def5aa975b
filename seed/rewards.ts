import { computePaid } from './basket.ts'
import { addMonths, type Day, formatDate, formatTime, parseDay, referenceDay } from './calendar.ts'
import type { Shopper } from './customers.ts'
import { formatDollars } from './money.ts'
import type { Style } from './products.ts'
import { type Random, randomFor } from './random.ts'
import type { Sale } from './sales.ts'
import { type Membership, rewardThreshold, tiers } from './tiers.ts'

const programId = '1'
const lifeMonths = 36

/** Points, a reward or a gift. The amounts are points, cents of a reward, or pieces of a gift. */
interface Lot {
  kind: 'points' | 'reward' | 'gift'
  day: Day
  second: number
  description: string
  total: number
  redeemed: number
  pending: number
  giftId?: string
  expires: Day
}

/** Builds the program as rows for `upsertPrograms`, one per tier. */
export const buildProgramRows = () =>
  tiers.map(tier => ({
    program: {
      programId,
      name: 'Currawick Circle',
      description: 'Points on every purchase, a reward for every 300 of them, and something on your birthday.',
    },
    tier: {
      programId,
      tierId: tier.id,
      name: tier.name,
      sequence: tier.sequence,
      accrualSpend: formatDollars(tier.accrualSpend),
      accrualPoints: tier.accrualPoints,
      autoRewardPointThreshold: rewardThreshold,
      autoRewardValue: formatDollars(tier.rewardValue),
      qualifySpend: formatDollars(tier.qualifySpend),
      qualifyMonths: 12,
      qualifyDays: 0,
      pointsExpiryMonths: lifeMonths,
      pointsExpiryDays: 0,
      rewardExpiryMonths: lifeMonths,
      rewardExpiryDays: 0,
    },
  }))

const gifts = [
  { giftId: '21', name: 'Birthday socks', category: 'Socks' },
  { giftId: '22', name: 'Birthday tote or beanie', category: 'Accessories' },
]

/** Builds the gifts as rows for `upsertGifts`. */
export const buildGiftRows = (styles: readonly Style[]) =>
  gifts.map(({ giftId, name, category }) => ({
    programId,
    giftId,
    name,
    styles: styles
      .filter(style => style.category.name === category)
      .slice(0, 4)
      .map(style => style.code),
  }))

/** Builds the members' accounts with their lots, as rows for `upsertRewardAccounts` and `upsertRewardLots`. */
export function buildRewardRows(sales: readonly Sale[], members: ReadonlyMap<Shopper, Membership>) {
  const random = randomFor('rewards')
  const salesByShopper = Map.groupBy(sales, sale => sale.shopper)
  const counter = { account: 22_000, lot: 400_000 }
  const accounts: object[] = []
  const lots: object[] = []
  for (const [shopper, member] of members) {
    const id = String(++counter.account)
    const tier = member.getTier(referenceDay)
    const endsAt = member.getTierEnd()
    accounts.push({
      id,
      customerId: shopper.row.id,
      programId,
      tierId: tier.id,
      tierLockedUntilDate: endsAt === null ? null : formatDate(endsAt),
      joinDate: formatDate(member.since),
      qualifyingSpend: formatDollars(member.getSpend(referenceDay)),
    })
    for (const lot of createLots(random, shopper, member.since, salesByShopper.get(shopper) ?? []))
      lots.push(toRow(lot, id, String(++counter.lot)))
  }
  return { accounts, lots }
}

const toRow = (
  { kind, day, second, description, total, redeemed: used, pending, giftId, expires }: Lot,
  accountId: string,
  lotId: string,
) => {
  const write = kind === 'reward' ? formatDollars : String
  return {
    accountId,
    kind,
    lotId,
    createdAt: formatTime(day, second),
    description,
    total: write(total),
    redeemed: write(used),
    pending: write(pending),
    giftId: giftId ?? null,
    expiryDate: formatDate(expires),
  }
}

function createLots(random: Random, shopper: Shopper, joined: Day, sales: readonly Sale[]): Lot[] {
  const purchases = sales.filter(sale => sale.tier !== null && sale.lines.every(line => line.quantity > 0))
  const points: Lot[] = [createLot('points', joined, 43_200, 'Welcome points', 50)]
  const rewards: Lot[] = []
  for (const sale of purchases) {
    useReward(random, rewards, sale)
    const earned = computePoints(sale)
    if (earned > 0) points.push(createLot('points', sale.day, sale.second, `Purchase ${sale.number}`, earned))
    rewards.push(...redeemPoints(points, sale))
  }
  // A few redemptions are pending, as of members who are at the checkout.
  const unused = rewards.find(reward => reward.redeemed === 0)
  if (unused && random.chance(0.03)) unused.pending = unused.total
  const newest = points.at(-1)
  if (newest && random.chance(0.01)) newest.pending = newest.total - newest.redeemed
  return [...points, ...rewards, ...createBirthdayGift(random, shopper, joined)]
}

const createLot = (kind: Lot['kind'], day: Day, second: number, description: string, total: number): Lot => ({
  kind,
  day,
  second,
  description,
  total,
  redeemed: 0,
  pending: 0,
  expires: addMonths(day, lifeMonths),
})

/** Computes the points of a sale. Returned items earn none. */
function computePoints({ lines, refunded, tier }: Sale) {
  const netPaid = lines.reduce((sum, line) => sum + computePaid(line), 0) - refunded
  return tier ? Math.floor(netPaid / tier.accrualSpend) * tier.accrualPoints : 0
}

/** Converts points to rewards, the oldest points first. */
function redeemPoints(points: readonly Lot[], { day, second, tier }: Sale): Lot[] {
  const remaining = points.reduce((sum, { total, redeemed: used }) => sum + total - used, 0)
  const count = Math.floor(remaining / rewardThreshold)
  if (count === 0 || tier === null) return []
  let owed = count * rewardThreshold
  for (const award of points) {
    const usedPoints = Math.min(owed, award.total - award.redeemed)
    award.redeemed += usedPoints
    owed -= usedPoints
  }
  return [createLot('reward', day, second, `Reward for ${count * rewardThreshold} points`, count * tier.rewardValue)]
}

/** Redeems an open reward in six of ten sales, completely or, rarely, half of it. */
function useReward(random: Random, rewards: readonly Lot[], sale: Sale) {
  const openReward = rewards.find(reward => reward.redeemed < reward.total)
  if (!openReward || !random.chance(0.6)) return
  const remaining = openReward.total - openReward.redeemed
  const spent = sale.lines.reduce((sum, line) => sum + computePaid(line), 0)
  openReward.redeemed += Math.min(spent, random.chance(0.12) ? Math.floor(remaining / 2) : remaining)
}

/** Creates the gift of a member whose birthday in the reference year is before the reference day. It is valid for twelve months. */
function createBirthdayGift(random: Random, { born }: Shopper, joined: Day): Lot[] {
  if (born === null) return []
  const monthDay = formatDate(born).slice(5)
  const birthday = parseDay(`${formatDate(referenceDay).slice(0, 4)}-${monthDay === '02-29' ? '02-28' : monthDay}`)
  if (birthday > referenceDay || birthday < joined) return []
  const gift = random.pick(gifts)
  return [
    {
      ...createLot('gift', birthday, 21_600, 'Birthday gift', 1),
      giftId: gift.giftId,
      redeemed: random.chance(0.45) ? 1 : 0,
      expires: addMonths(birthday, 12),
    },
  ]
}
