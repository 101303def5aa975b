import { paid } from './basket.ts'
import { type Day, dateText, dayOf, monthsLater, referenceDay, timeText } from './calendar.ts'
import type { Shopper } from './customers.ts'
import { dollars } from './money.ts'
import type { Style } from './products.ts'
import { type Random, randomFor } from './random.ts'
import type { Sale } from './sales.ts'
import { type Membership, rewardThreshold, tiers } from './tiers.ts'

const programId = '1'
const lifeMonths = 36

/** Points, a reward or a gift. Points count points, the others count cents and pieces. */
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

/** Yields the program as rows for `upsertPrograms`, one per tier. */
export const programRows = () =>
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
      accrualSpend: dollars(tier.accrualSpend),
      accrualPoints: tier.accrualPoints,
      autoRewardPointThreshold: rewardThreshold,
      autoRewardValue: dollars(tier.rewardValue),
      qualifySpend: dollars(tier.qualifySpend),
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

/** Yields the gifts as rows for `upsertGifts`. */
export const giftRows = (styles: readonly Style[]) =>
  gifts.map(({ giftId, name, category }) => ({
    programId,
    giftId,
    name,
    styles: styles
      .filter(style => style.category.name === category)
      .slice(0, 4)
      .map(style => style.code),
  }))

/** Yields the members' accounts with their lots, as rows for `upsertRewardAccounts` and `upsertRewardLots`. */
export function rewardRows(sales: readonly Sale[], members: ReadonlyMap<Shopper, Membership>) {
  const random = randomFor('rewards')
  const bought = Map.groupBy(sales, sale => sale.shopper)
  const counter = { account: 22_000, lot: 400_000 }
  const accounts: object[] = []
  const lots: object[] = []
  for (const [shopper, member] of members) {
    const id = String(++counter.account)
    const tier = member.tierOn(referenceDay)
    const endsAt = member.keptUntil()
    accounts.push({
      id,
      customerId: shopper.row.id,
      programId,
      tierId: tier.id,
      tierLockedUntilDate: endsAt === null ? null : dateText(endsAt),
      joinDate: dateText(member.since),
      qualifyingSpend: dollars(member.spentBefore(referenceDay)),
    })
    for (const lot of lotsOf(random, shopper, member.since, bought.get(shopper) ?? []))
      lots.push(rowOf(lot, id, String(++counter.lot)))
  }
  return { accounts, lots }
}

const rowOf = (
  { kind, day, second, description, total, redeemed: used, pending, giftId, expires }: Lot,
  accountId: string,
  lotId: string,
) => {
  const write = kind === 'reward' ? dollars : String
  return {
    accountId,
    kind,
    lotId,
    createdAt: timeText(day, second),
    description,
    total: write(total),
    redeemed: write(used),
    pending: write(pending),
    giftId: giftId ?? null,
    expiryDate: dateText(expires),
  }
}

function lotsOf(random: Random, shopper: Shopper, joined: Day, sales: readonly Sale[]): Lot[] {
  const purchases = sales.filter(sale => sale.tier !== null && sale.lines.every(line => line.quantity > 0))
  const points: Lot[] = [lot('points', joined, 43_200, 'Welcome points', 50)]
  const rewards: Lot[] = []
  for (const sale of purchases) {
    useReward(random, rewards, sale)
    const earned = pointsFor(sale)
    if (earned > 0) points.push(lot('points', sale.day, sale.second, `Purchase ${sale.number}`, earned))
    rewards.push(...redeemed(points, sale))
  }
  // One member is always at the checkout.
  const unused = rewards.find(reward => reward.redeemed === 0)
  if (unused && random.chance(0.03)) unused.pending = unused.total
  const newest = points.at(-1)
  if (newest && random.chance(0.01)) newest.pending = newest.total - newest.redeemed
  return [...points, ...rewards, ...birthdayGift(random, shopper, joined)]
}

const lot = (kind: Lot['kind'], day: Day, second: number, description: string, total: number): Lot => ({
  kind,
  day,
  second,
  description,
  total,
  redeemed: 0,
  pending: 0,
  expires: monthsLater(day, lifeMonths),
})

/** Returned items earn nothing. */
function pointsFor({ lines, refunded, tier }: Sale) {
  const netPaid = lines.reduce((sum, line) => sum + paid(line), 0) - refunded
  return tier ? Math.floor(netPaid / tier.accrualSpend) * tier.accrualPoints : 0
}

/** Converts points to rewards, the oldest points first. */
function redeemed(points: readonly Lot[], { day, second, tier }: Sale): Lot[] {
  const remaining = points.reduce((sum, { total, redeemed: used }) => sum + total - used, 0)
  const count = Math.floor(remaining / rewardThreshold)
  if (count === 0 || tier === null) return []
  let owed = count * rewardThreshold
  for (const award of points) {
    const used = Math.min(owed, award.total - award.redeemed)
    award.redeemed += used
    owed -= used
  }
  return [lot('reward', day, second, `Reward for ${count * rewardThreshold} points`, count * tier.rewardValue)]
}

/** Most people use a reward at their next visit. A few keep some of it. */
function useReward(random: Random, rewards: readonly Lot[], sale: Sale) {
  const open = rewards.find(reward => reward.redeemed < reward.total)
  if (!open || !random.chance(0.6)) return
  const remaining = open.total - open.redeemed
  const spent = sale.lines.reduce((sum, line) => sum + paid(line), 0)
  open.redeemed += Math.min(spent, random.chance(0.12) ? Math.floor(remaining / 2) : remaining)
}

/** Members with a birthday in the reference year, up to the reference day, get a gift that is valid for twelve months. */
function birthdayGift(random: Random, { born }: Shopper, joined: Day): Lot[] {
  if (born === null) return []
  const monthDay = dateText(born).slice(5)
  const birthday = dayOf(`${dateText(referenceDay).slice(0, 4)}-${monthDay === '02-29' ? '02-28' : monthDay}`)
  if (birthday > referenceDay || birthday < joined) return []
  const gift = random.pick(gifts)
  return [
    {
      ...lot('gift', birthday, 21_600, 'Birthday gift', 1),
      giftId: gift.giftId,
      redeemed: random.chance(0.45) ? 1 : 0,
      expires: monthsLater(birthday, 12),
    },
  ]
}
