import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { earning, type Move, reversing, type Standing } from '../../../src/domain/rewards/moves.ts'
import {
  climbed,
  drawn,
  isOpen,
  judged,
  type Lot,
  lastDay,
  type OrderEarnings,
  pointsDue,
  pointsFor,
  type TierRules,
} from '../../../src/domain/rewards/rules.ts'

const year = { months: 12, days: 0 }
const units = (whole: number) => BigInt(whole) * 10_000n

const tier = (id: string, qualifySpend: bigint | null, more: Partial<TierRules> = {}): TierRules => ({
  id,
  sequence: Number(id),
  accrualSpend: units(1),
  accrualPoints: 1n,
  autoRewardPointThreshold: 300n,
  autoRewardValue: units(10),
  qualifySpend,
  qualifyPeriod: year,
  pointsExpiry: year,
  rewardExpiry: { months: 6, days: 0 },
  ...more,
})

const money = fc.bigInt({ min: 1n, max: units(2_000) })
const lots = fc.array(
  fc.record({
    id: fc.uuid(),
    left: fc.bigInt({ min: 0n, max: 500n }),
    createdAt: fc.constantFrom('2026-01-01 00:00:00', '2026-02-01 00:00:00'),
    expiryDate: fc.constantFrom('2026-12-31', '2027-01-31', '2027-06-30', null),
  }),
  { maxLength: 12 },
)

test('points are counted for each whole step of spending, and for nothing less', () => {
  const twoForThree = tier('1', null, { accrualSpend: units(3), accrualPoints: 2n })
  assert.equal(pointsFor(units(3), twoForThree), 2n)
  assert.equal(pointsFor(units(3) - 1n, twoForThree), 0n)
  assert.equal(pointsFor(units(300) + 29_999n, twoForThree), 200n)
  assert.equal(pointsFor(5n, tier('1', null, { accrualSpend: 5n, accrualPoints: 7n })), 7n)
})

test('a tier that does not say how points are earned gives none', () => {
  for (const more of [{ accrualSpend: null }, { accrualSpend: 0n }, { accrualSpend: -1n }, { accrualPoints: null }])
    assert.equal(pointsFor(units(100), tier('1', null, more)), 0n)
})

test('no lot is given more points than one can hold', () => {
  assert.equal(pointsFor(units(999_999_999_999), tier('1', null, { accrualPoints: 1_000n })), 2_147_483_647n)
})

test('what comes back in pieces takes back exactly what was earned, and on the way its share, rounded down', () => {
  const pieces = fc.array(money, { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(pieces, fc.bigInt({ min: 0n, max: 10_000n }), (parts, points) => {
      const order = { points, spend: parts.reduce((sum, part) => sum + part, 0n), pointsBack: 0n, spendBack: 0n }
      for (const part of parts) {
        order.pointsBack += pointsDue(order, part)
        order.spendBack += part
        assert.equal(order.pointsBack, (points * order.spendBack) / order.spend)
      }
      assert.equal(order.pointsBack, points)
    }),
  )
})

test('an order that earned at a better rate at first does not give points back for a return', () => {
  assert.equal(pointsDue({ points: 300n, spend: units(1_000), pointsBack: 150n, spendBack: units(50) }, units(1)), 0n)
})

test('months count before days, and a month that is too short ends on its last day', () => {
  for (const [today, months, days, expected] of [
    ['2026-01-31', 1, 0, '2026-02-28'],
    ['2028-01-31', 1, 0, '2028-02-29'],
    ['2028-02-29', 12, 0, '2029-02-28'],
    ['2028-02-29', 48, 0, '2032-02-29'],
    ['2026-01-31', 1, 1, '2026-03-01'],
    ['2026-10-31', 1, 30, '2026-12-30'],
    ['2026-12-31', 0, 1, '2027-01-01'],
    ['2026-11-21', null, 90, '2027-02-19'],
    ['2026-11-21', 36, null, '2029-11-21'],
  ] as const)
    assert.equal(lastDay(today, { months, days }), expected, `${today} ${months} ${days}`)
})

test('a period of nothing, and one of a thousand years, is no limit', () => {
  for (const [months, days] of [
    [null, null],
    [0, 0],
    [0, null],
    [2_147_483_647, 0],
    [0, 2_147_483_647],
  ] as const)
    assert.equal(lastDay('2026-11-21', { months, days }), null)
})

test('what expires first is used first, and no more than there is', () => {
  fc.assert(
    fc.property(lots, fc.bigInt({ min: 0n, max: 3_000n }), (given, wanted) => {
      const parts = drawn(given, wanted)
      const sum = parts.reduce((all, { points }) => all + points, 0n)
      const there = given.reduce((all, lot) => all + lot.left, 0n)
      assert.equal(sum, wanted < there ? wanted : there)
      const used = new Map(parts.map(({ lot, points }) => [lot, points]))
      const late = ({ expiryDate, createdAt }: Lot) => `${expiryDate ?? '9999-99-99'} ${createdAt}`
      for (const lot of given) {
        const points = used.get(lot) ?? 0n
        assert.ok(points <= lot.left)
        if (points === lot.left) continue
        for (const later of given) if (late(later) > late(lot)) assert.ok(!used.has(later), 'a later lot waits')
      }
    }),
  )
})

test('a lot is open through its last day', () => {
  const lot = { id: 'a', left: 1n, createdAt: '2026-01-01 00:00:00' }
  const open = ['2026-11-20', '2026-11-21', '2026-11-22', null].map(expiryDate => isOpen({ ...lot, expiryDate }, today))
  assert.deepEqual(open, [false, true, true, true])
})

const today = '2026-11-21'
const ladder = [tier('1', 0n), tier('2', units(500)), tier('3', units(1_500))]
const at = (tierId: string | null, tierLockedUntilDate: string | null = null) => ({ tierId, tierLockedUntilDate })

test('spending moves an account up, several tiers at once where it is enough, and locks the new one', () => {
  assert.deepEqual(climbed(ladder, at('1'), units(500) - 1n, today), at('1'))
  assert.deepEqual(climbed(ladder, at('1'), units(500), today), at('2', '2027-11-21'))
  assert.deepEqual(climbed(ladder, at('1'), units(1_500), today), at('3', '2027-11-21'))
  assert.deepEqual(climbed(ladder, at('3', '2026-12-01'), units(9_000), today), at('3', '2026-12-01'))
})

test('a tier without a qualifying spend is neither reached by spending nor lost by it', () => {
  const staff = [tier('1', 0n), tier('2', null), tier('3', units(1_500))]
  assert.deepEqual(climbed(staff, at('1'), units(1_499), today), at('1'))
  assert.deepEqual(climbed(staff, at('1'), units(1_500), today), at('3', '2027-11-21'))
  assert.deepEqual(judged(staff, at('2', '2026-11-20'), 0n, today), at('2', '2026-11-20'))
})

test('a tier is kept through its day, then falls to what the spend reaches, or begins anew', () => {
  assert.deepEqual(judged(ladder, at('3', today), 0n, today), at('3', today))
  assert.deepEqual(judged(ladder, at('3', '2026-11-20'), units(600), today), at('2', '2027-11-21'))
  assert.deepEqual(judged(ladder, at('3', '2026-11-20'), units(1_500), today), at('3', '2027-11-21'))
  assert.deepEqual(judged(ladder, at('3'), 0n, today), at('3'))
  assert.deepEqual(judged(ladder.slice(1), at('3', '2026-11-20'), 0n, today), at('2', '2027-11-21'))
})

test('an account without a tier stands in what its spend reaches, where it reaches any', () => {
  assert.deepEqual(judged(ladder, at(null), 0n, today), at('1', '2027-11-21'))
  assert.deepEqual(judged(ladder.slice(1), at(null), 0n, today), at(null))
})

test('of unused rewards the one that expires first goes back; its other points settle what is owed, and the rest is given again', () => {
  const reward = (id: string, expiryDate: string) => ({
    id,
    expiryDate,
    left: units(10),
    points: 300n,
    createdAt: '2026-01-01 00:00:00',
  })
  const move = reversing(
    {
      ...at('1'),
      tiers: ladder,
      today,
      now: `${today} 12:00:00`,
      qualifyingSpend: units(40),
      pointsOwed: 100n,
      points: [],
      unusedRewards: [reward('late', '2027-06-30'), reward('soon', '2027-01-31')],
    },
    { points: 50n, spend: units(50), pointsBack: 0n, spendBack: 0n, lots: [] },
    { returnNumber: 'R1', amount: units(50) },
    () => 'new',
  )
  assert.deepEqual(
    move?.entries.map(({ kind, lot, amount }) => [kind, lot?.id, amount]),
    [
      ['return', undefined, 0n],
      ['reverse', 'soon', -units(10)],
      ['restore', 'new', 300n],
      ['reverse', 'new', -50n],
      ['settle', 'new', -100n],
    ],
  )
  assert.deepEqual(
    move?.lots.map(lot => lot.expiryDate),
    ['2027-01-31'],
  )
  assert.equal(move?.qualifyingSpend, 0n, 'never less than nothing')
})

/** An account in memory that follows the ledger as the tables do. */
function account(tiers: TierRules[]) {
  const lots = new Map<string, Lot & { kind: string; total: bigint; points: bigint }>()
  const place = { ...at('1'), qualifyingSpend: 0n, pointsOwed: 0n }
  const orders = new Map<string, OrderEarnings & { lots: string[] }>()
  let day = today
  let made = 0
  const newId = () => `lot${String(++made).padStart(6, '0')}`
  const rewards = () =>
    [...lots.values()].filter(
      lot => lot.kind === 'reward' && lot.left === lot.total && lot.left > 0n && isOpen(lot, day),
    )
  const points = () => [...lots.values()].filter(lot => lot.kind === 'points' && lot.left > 0n)
  const standing = (): Standing => ({ ...place, today: day, now: `${day} 12:00:00`, tiers, points: points() })
  const openPoints = () => points().reduce((sum, lot) => sum + (isOpen(lot, day) ? lot.left : 0n), 0n)

  function apply(orderNumber: string, move: Move) {
    const order = orders.get(orderNumber) ?? { points: 0n, spend: 0n, pointsBack: 0n, spendBack: 0n, lots: [] }
    orders.set(orderNumber, order)
    for (const { id, kind, expiryDate } of move.lots)
      lots.set(id, { id, kind, expiryDate, left: 0n, total: 0n, points: 0n, createdAt: `${day} 12:00:00` })
    for (const { kind, lot, into, amount, spend = 0n } of move.entries) {
      const changed = lot ? lots.get(lot.id) : undefined
      assert.equal(changed?.kind, lot?.kind)
      if (changed) {
        changed.left += amount
        if (amount > 0n) changed.total += amount
        assert.ok(changed.left >= 0n && changed.left <= changed.total, `${kind} leaves a lot with ${changed.left}`)
      }
      const reward = into ? lots.get(into) : undefined
      if (reward) reward.points -= amount
      if (kind === 'earn') {
        order.points += amount
        order.spend += spend
        if (lot) order.lots.push(lot.id)
      }
      if (kind === 'return') order.spendBack -= spend
      if (kind === 'owe') place.pointsOwed -= amount
      if (kind === 'settle') place.pointsOwed += amount
      if (kind === 'owe' || (kind === 'reverse' && lot?.kind === 'points')) order.pointsBack -= amount
    }
    Object.assign(place, move.place, { qualifyingSpend: move.qualifyingSpend })
  }

  return {
    lots,
    place,
    orders,
    openPoints,
    rewards,
    pass: (days: number) => {
      day = Temporal.PlainDate.from(day).add({ days }).toString()
    },
    earn(orderNumber: string, amount: bigint) {
      apply(orderNumber, earning(standing(), { orderNumber, amount }, newId))
    },
    giveBack(orderNumber: string, amount: bigint) {
      const order = orders.get(orderNumber)
      if (!order) return
      const move = reversing({ ...standing(), unusedRewards: rewards() }, order, { returnNumber: 'R1', amount }, newId)
      if (move) apply(orderNumber, move)
    },
    useReward() {
      const [reward] = rewards()
      if (reward) reward.left -= 1n
    },
    check() {
      assert.ok(place.pointsOwed >= 0n && place.qualifyingSpend >= 0n)
      if (place.pointsOwed > 0n) assert.equal(openPoints(), 0n, 'points that are owed are paid before any are kept')
      const threshold = tiers.find(({ id }) => id === place.tierId)?.autoRewardPointThreshold ?? 0n
      assert.ok(openPoints() < threshold, `${openPoints()} points are left of ${threshold}`)
      for (const order of orders.values()) {
        assert.ok(order.spendBack <= order.spend && order.pointsBack <= order.points)
        if (order.spendBack === order.spend) assert.equal(order.pointsBack, order.points)
      }
      const all = [...lots.values()]
      const sum = (kind: string, of: 'left' | 'points') =>
        all.filter(lot => lot.kind === kind).reduce((sum, lot) => sum + lot[of], 0n)
      const restored = all
        .filter(lot => lot.kind === 'reward' && lot.left === 0n)
        .reduce((sum, lot) => sum + lot.points, 0n)
      const kept = [...orders.values()].reduce((sum, order) => sum + order.points - order.pointsBack, 0n)
      assert.equal(
        sum('points', 'left') - place.pointsOwed + sum('reward', 'points') - restored,
        kept,
        'no point is lost or made',
      )
    },
  }
}

const tierChoice = fc.tuple(
  ...[0, 500, 1_500].map((spend, i) =>
    fc
      .record({
        accrualSpend: fc.constantFrom(units(1), units(2), 5_000n, units(7)),
        accrualPoints: fc.constantFrom(1n, 3n, 10n),
        autoRewardPointThreshold: fc.constantFrom(10n, 100n, 300n),
        autoRewardValue: fc.constantFrom(units(10), units(15)),
      })
      .map(rules => tier(String(i + 1), units(spend), rules)),
  ),
)

const step = fc.oneof(
  fc.record({ earn: fc.constantFrom('a', 'b', 'c', 'd'), amount: money }),
  fc.record({ giveBack: fc.constantFrom('a', 'b', 'c', 'd'), amount: money }),
  fc.record({ pass: fc.integer({ min: 1, max: 200 }) }),
  fc.record({ use: fc.constant(true) }),
)
type Step = { earn?: string; giveBack?: string; pass?: number; use?: boolean; amount?: bigint }

function follow(steps: readonly Step[], tiers: TierRules[]) {
  const own = account(tiers)
  for (const { earn, giveBack, pass, use, amount = 0n } of steps) {
    if (earn) own.earn(earn, amount)
    if (giveBack) own.giveBack(giveBack, amount)
    if (pass) own.pass(pass)
    if (use) own.useReward()
    // Whether there are enough points for a reward is seen by the next order.
    if (earn) own.check()
  }
  return own
}

test('whatever is bought, returned, used and left to expire: no lot below zero, no point lost or made, none kept while some are owed', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), tierChoice, (steps, tiers) => {
      follow(steps, tiers)
    }),
    { numRuns: 300 },
  )
})

test('when all is returned and no reward was used or expired, nothing is left: no points, no rewards, no debt, no spend', () => {
  const buying = fc.array(
    fc.oneof(
      { weight: 2, arbitrary: fc.record({ earn: fc.constantFrom('a', 'b', 'c', 'd'), amount: money }) },
      fc.record({ giveBack: fc.constantFrom('a', 'b', 'c', 'd'), amount: money }),
    ),
    { maxLength: 30 },
  )
  const order = fc.shuffledSubarray(['a', 'b', 'c', 'd'], { minLength: 4 })
  fc.assert(
    fc.property(buying, order, fc.bigInt({ min: 1n, max: units(400) }), tierChoice, (steps, back, piece, tiers) => {
      const own = follow(steps, tiers)
      for (const number of back) {
        const { spend = 0n } = own.orders.get(number) ?? {}
        for (let returned = 0n; returned < spend; returned += piece + spend / 10n)
          own.giveBack(number, piece + spend / 10n)
      }
      assert.equal(own.openPoints(), 0n)
      assert.deepEqual(own.rewards(), [])
      assert.equal(own.place.pointsOwed, 0n)
      assert.equal(own.place.qualifyingSpend, 0n)
    }),
    { numRuns: 100 },
  )
})

test('an order of absurd size makes a thousand rewards and no more, of all the points that are enough', () => {
  const own = account([tier('1', 0n, { autoRewardPointThreshold: 1n })])
  own.earn('a', units(1_000_000_000))
  assert.equal(own.rewards().length, 1_000)
  assert.equal(
    own.rewards().reduce((sum, { left }) => sum + left, 0n),
    units(10) * 1_000_000_000n,
  )
  own.check()
})
