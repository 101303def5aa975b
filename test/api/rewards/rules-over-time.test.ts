import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { TierRules } from '../../../src/domain/rewards/rules.ts'
import { account, tier, units } from './account.ts'

const money = fc.bigInt({ min: 1n, max: units(2_000) })

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
    // The next order detects that there are enough points for a reward.
    if (earn) own.check()
  }
  return own
}

test('any history keeps lots non-negative, points conserved and debts repaid', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), tierChoice, (steps, tiers) => {
      follow(steps, tiers)
    }),
    { numRuns: 300 },
  )
})

test('returning everything leaves no points, rewards, debt or spend', () => {
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

test('an absurdly large order creates at most a thousand rewards', () => {
  const own = account([tier('1', 0n, { autoRewardPointThreshold: 1n })])
  own.earn('a', units(1_000_000_000))
  assert.equal(own.rewards().length, 1_000)
  assert.equal(
    own.rewards().reduce((sum, { remaining }) => sum + remaining, 0n),
    units(10) * 1_000_000_000n,
  )
  own.check()
})
