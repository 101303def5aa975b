import { dayMs, formatDate, secondMs, type Wall } from '../shop/clock.ts'
import type { Random } from '../shop/random.ts'
import type { Lot, Program, RewardAccount } from '../shop/sales.ts'
import { createId, type Shop } from '../shop/shop.ts'

export function makePrograms(shop: Shop): Map<number, Program> {
  const tiers = [
    { id: 1, name: 'Bronze', sequence: 1, qualifySpend: 0, bonus: 0 },
    { id: 2, name: 'Silver', sequence: 2, qualifySpend: 500, bonus: 20 },
    { id: 41, name: 'Gold', sequence: 3, qualifySpend: 1_500, bonus: 50 },
  ]
  const styleIds = [...shop.styles.keys()].slice(0, 2)
  const program: Program = {
    id: 1,
    name: 'Rewards',
    description: 'A point for each dollar',
    currency: 'AUD',
    tiers,
    threshold: 200,
    rewardValue: 10,
    minimumSpend: 19,
    gifts: [{ id: 21, name: 'March Gift', styleIds }],
  }
  return new Map([[program.id, program]])
}

function makeLot(
  shop: Shop,
  description: string,
  total: number,
  life: number,
  reasonId: string,
  today: Wall,
  random: Random,
): Lot {
  const created = today - random.integer(1, 600) * dayMs + random.integer(0, 86_399) * secondMs
  const redeemed = random.chance(0.2) ? Math.floor(total / 2) : 0
  const lotFacts = { id: createId(shop, 'lot'), created, description, total, redeemed, pending: 0, reasonId }
  return { ...lotFacts, expires: random.chance(0.05) ? '' : formatDate(created + life * dayMs) }
}

function makeAccount(shop: Shop, personId: number, startDate: string, today: Wall, random: Random): RewardAccount {
  const spend = random.integer(0, 2_000)
  const points = Array.from({ length: random.integer(0, 5) }, () =>
    makeLot(shop, 'Purchase', random.integer(5, 150), 365, '', today, random),
  )
  const rewards = Array.from({ length: random.integer(0, 2) }, () =>
    makeLot(shop, 'Birthday Reward', 25, 365, '17665', today, random),
  )
  const gift = makeLot(shop, 'A gift', 1, 365, '17665', today, random)
  return {
    id: createId(shop, 'account'),
    programId: 1,
    tierId: spend >= 1_500 ? 41 : spend >= 500 ? 2 : 1,
    personId,
    tierLockedUntil: '',
    joined: startDate,
    tierJoined: startDate,
    spend,
    points,
    rewards,
    gifts: random.chance(0.15) ? [{ ...gift, giftId: 21, available: random.chance(0.8) }] : [],
    transactions: points
      .map(({ created, total, description }) => ({
        at: created,
        description,
        source: 'Retail',
        reference: '',
        spend: total,
        points: total,
        reward: 0,
      }))
      .sort((a, b) => a.at - b.at),
  }
}

/** Creates accounts for three in five persons. */
export function makeAccounts(shop: Shop, today: Wall, random: Random): void {
  for (const { id, startDate } of shop.persons.values()) {
    if (!random.chance(0.6)) continue
    const account = makeAccount(shop, id, startDate, today, random)
    shop.accounts.set(account.id, account)
    shop.accountsByPerson.set(id, account)
  }
}
