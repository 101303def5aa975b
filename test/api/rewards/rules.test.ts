import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { computeReversal } from '../../../src/domain/rewards/movements.ts'
import {
  allocatePoints,
  computePoints,
  computePointsToReverse,
  getLastDay,
  isUnexpired,
  type Lot,
  reviewTier,
  upgradeTier,
} from '../../../src/domain/rewards/rules.ts'
import { atTier, buildTier, tierRules, today, toMoney } from './account-model.ts'

const money = fc.bigInt({ min: 1n, max: toMoney(2_000) })

const lots = fc.array(
  fc.record({
    id: fc.uuid(),
    remaining: fc.bigInt({ min: 0n, max: 500n }),
    createdAt: fc.constantFrom('2026-01-01 00:00:00', '2026-02-01 00:00:00'),
    expiryDate: fc.constantFrom('2026-12-31', '2027-01-31', '2027-06-30', null),
  }),
  { maxLength: 12 },
)

test('points are earned for each whole spending step only', () => {
  const twoForThree = buildTier('1', null, { accrualSpend: toMoney(3), accrualPoints: 2n })
  assert.equal(computePoints(toMoney(3), twoForThree), 2n)
  assert.equal(computePoints(toMoney(3) - 1n, twoForThree), 0n)
  assert.equal(computePoints(toMoney(300) + 29_999n, twoForThree), 200n)
  assert.equal(computePoints(5n, buildTier('1', null, { accrualSpend: 5n, accrualPoints: 7n })), 7n)
})

test('a tier without an earning rule gives no points', () => {
  for (const more of [{ accrualSpend: null }, { accrualSpend: 0n }, { accrualSpend: -1n }, { accrualPoints: null }])
    assert.equal(computePoints(toMoney(100), buildTier('1', null, more)), 0n)
})

test('a lot never exceeds its maximum points', () => {
  assert.equal(computePoints(toMoney(999_999_999_999), buildTier('1', null, { accrualPoints: 1_000n })), 2_147_483_647n)
})

test('partial returns take back rounded shares and in total the exact points', () => {
  const pieces = fc.array(money, { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(pieces, fc.bigInt({ min: 0n, max: 10_000n }), (parts, points) => {
      const order = {
        points,
        spend: parts.reduce((sum, part) => sum + part, 0n),
        reversedPoints: 0n,
        reversedSpend: 0n,
      }
      for (const part of parts) {
        order.reversedPoints += computePointsToReverse(order, part)
        order.reversedSpend += part
        assert.equal(order.reversedPoints, (points * order.reversedSpend) / order.spend)
      }
      assert.equal(order.reversedPoints, points)
    }),
  )
})

test('a return gives no points even after an early better rate', () => {
  assert.equal(
    computePointsToReverse(
      { points: 300n, spend: toMoney(1_000), reversedPoints: 150n, reversedSpend: toMoney(50) },
      toMoney(1),
    ),
    0n,
  )
})

test('months count before days; short months end on their last day', () => {
  for (const [date, months, days, expected] of [
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
    assert.equal(getLastDay(date, { months, days }), expected, `${date} ${months} ${days}`)
})

test('a zero or thousand-year period means no limit', () => {
  for (const [months, days] of [
    [null, null],
    [0, 0],
    [0, null],
    [2_147_483_647, 0],
    [0, 2_147_483_647],
  ] as const)
    assert.equal(getLastDay('2026-11-21', { months, days }), null)
})

test('the earliest expiring lot is used first and never overdrawn', () => {
  fc.assert(
    fc.property(lots, fc.bigInt({ min: 0n, max: 3_000n }), (input, expected) => {
      const parts = allocatePoints(input, expected)
      const sum = parts.reduce((total, { points }) => total + points, 0n)
      const available = input.reduce((total, lot) => total + lot.remaining, 0n)
      assert.equal(sum, expected < available ? expected : available)
      const used = new Map(parts.map(({ lot, points }) => [lot, points]))
      const toSortKey = ({ expiryDate, createdAt }: Lot) => `${expiryDate ?? '9999-99-99'} ${createdAt}`
      for (const lot of input) {
        const points = used.get(lot) ?? 0n
        assert.ok(points <= lot.remaining)
        if (points === lot.remaining) continue
        for (const later of input)
          if (toSortKey(later) > toSortKey(lot)) assert.ok(!used.has(later), 'a later lot must not be used first')
      }
    }),
  )
})

test('a lot is open through its last day', () => {
  const lot = { id: 'a', remaining: 1n, createdAt: '2026-01-01 00:00:00' }
  const open = ['2026-11-20', '2026-11-21', '2026-11-22', null].map(expiryDate =>
    isUnexpired({ ...lot, expiryDate }, today),
  )
  assert.deepEqual(open, [false, true, true, true])
})

test('spend raises an account by one or more tiers and locks it', () => {
  assert.deepEqual(upgradeTier(tierRules, atTier('1'), toMoney(500) - 1n, today), atTier('1'))
  assert.deepEqual(upgradeTier(tierRules, atTier('1'), toMoney(500), today), atTier('2', '2027-11-21'))
  assert.deepEqual(upgradeTier(tierRules, atTier('1'), toMoney(1_500), today), atTier('3', '2027-11-21'))
  assert.deepEqual(upgradeTier(tierRules, atTier('3', '2026-12-01'), toMoney(9_000), today), atTier('3', '2026-12-01'))
})

test('a tier without qualifying spend is neither reached nor lost by spending', () => {
  const staff = [buildTier('1', 0n), buildTier('2', null), buildTier('3', toMoney(1_500))]
  assert.deepEqual(upgradeTier(staff, atTier('1'), toMoney(1_499), today), atTier('1'))
  assert.deepEqual(upgradeTier(staff, atTier('1'), toMoney(1_500), today), atTier('3', '2027-11-21'))
  assert.deepEqual(reviewTier(staff, atTier('2', '2026-11-20'), 0n, today), atTier('2', '2026-11-20'))
})

test('a tier lasts through its end date, then follows the spend', () => {
  assert.deepEqual(reviewTier(tierRules, atTier('3', today), 0n, today), atTier('3', today))
  assert.deepEqual(reviewTier(tierRules, atTier('3', '2026-11-20'), toMoney(600), today), atTier('2', '2027-11-21'))
  assert.deepEqual(reviewTier(tierRules, atTier('3', '2026-11-20'), toMoney(1_500), today), atTier('3', '2027-11-21'))
  assert.deepEqual(reviewTier(tierRules, atTier('3'), 0n, today), atTier('3'))
  assert.deepEqual(reviewTier(tierRules.slice(1), atTier('3', '2026-11-20'), 0n, today), atTier('2', '2027-11-21'))
})

test('an account without a tier gets the tier that its spend reaches', () => {
  assert.deepEqual(reviewTier(tierRules, atTier(null), 0n, today), atTier('1', '2027-11-21'))
  assert.deepEqual(reviewTier(tierRules.slice(1), atTier(null), 0n, today), atTier(null))
})

test('the earliest expiring unused reward is taken back and repays debt first', () => {
  const buildReward = (id: string, expiryDate: string) => ({
    id,
    expiryDate,
    remaining: toMoney(10),
    points: 300n,
    createdAt: '2026-01-01 00:00:00',
  })
  const movement = computeReversal(
    {
      ...atTier('1'),
      tiers: tierRules,
      today,
      now: `${today} 12:00:00`,
      qualifyingSpend: toMoney(40),
      pointsOwed: 100n,
      points: [],
      unusedRewards: [buildReward('late', '2027-06-30'), buildReward('soon', '2027-01-31')],
    },
    { points: 50n, spend: toMoney(50), reversedPoints: 0n, reversedSpend: 0n, lots: [] },
    { returnNumber: 'R1', amount: toMoney(50) },
    () => 'new',
  )
  assert.deepEqual(
    movement?.entries.map(({ kind, lot, amount }) => [kind, lot?.id, amount]),
    [
      ['return', undefined, 0n],
      ['reverse', 'soon', -toMoney(10)],
      ['restore', 'new', 300n],
      ['reverse', 'new', -50n],
      ['settle', 'new', -100n],
    ],
  )
  assert.deepEqual(
    movement?.lots.map(lot => lot.expiryDate),
    ['2027-01-31'],
  )
  assert.equal(movement?.qualifyingSpend, 0n, 'the qualifying spend must not be negative')
})
