import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { TierRules } from '../../../src/domain/rewards/rules.ts'
import { buildTier, createAccountModel, toMoney } from './account-model.ts'

const money = fc.bigInt({ min: 1n, max: toMoney(2_000) })

const tierChoice = fc.tuple(
  ...[0, 500, 1_500].map((spend, i) =>
    fc
      .record({
        accrualSpend: fc.constantFrom(toMoney(1), toMoney(2), 5_000n, toMoney(7)),
        accrualPoints: fc.constantFrom(1n, 3n, 10n),
        autoRewardPointThreshold: fc.constantFrom(10n, 100n, 300n),
        autoRewardValue: fc.constantFrom(toMoney(10), toMoney(15)),
      })
      .map(rules => buildTier(String(i + 1), toMoney(spend), rules)),
  ),
)

const step = fc.oneof(
  fc.record({ earn: fc.constantFrom('a', 'b', 'c', 'd'), amount: money }),
  fc.record({ returnedOrder: fc.constantFrom('a', 'b', 'c', 'd'), amount: money }),
  fc.record({ days: fc.integer({ min: 1, max: 200 }) }),
  fc.record({ use: fc.constant(true) }),
)

type Step = { earn?: string; returnedOrder?: string; days?: number; use?: boolean; amount?: bigint }

function runHistory(steps: readonly Step[], tiers: TierRules[]) {
  const model = createAccountModel(tiers)
  for (const { earn, returnedOrder, days, use, amount = 0n } of steps) {
    if (earn) model.earn(earn, amount)
    if (returnedOrder) model.returnOrder(returnedOrder, amount)
    if (days) model.advanceDays(days)
    if (use) model.useReward()
    // Only an order converts points to a reward, so check after orders.
    if (earn) model.check()
  }
  return model
}

test('any history keeps lots non-negative, points conserved and debts repaid', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), tierChoice, (steps, tiers) => {
      runHistory(steps, tiers)
    }),
    { numRuns: 300 },
  )
})

test('returning everything leaves no points, rewards, debt or spend', () => {
  const purchases = fc.array(
    fc.oneof(
      { weight: 2, arbitrary: fc.record({ earn: fc.constantFrom('a', 'b', 'c', 'd'), amount: money }) },
      fc.record({ returnedOrder: fc.constantFrom('a', 'b', 'c', 'd'), amount: money }),
    ),
    { maxLength: 30 },
  )
  const order = fc.shuffledSubarray(['a', 'b', 'c', 'd'], { minLength: 4 })
  fc.assert(
    fc.property(
      purchases,
      order,
      fc.bigInt({ min: 1n, max: toMoney(400) }),
      tierChoice,
      (steps, returnedOrders, piece, tiers) => {
        const model = runHistory(steps, tiers)
        for (const number of returnedOrders) {
          const { spend = 0n } = model.orders.get(number) ?? {}
          for (let returned = 0n; returned < spend; returned += piece + spend / 10n)
            model.returnOrder(number, piece + spend / 10n)
        }
        assert.equal(model.openPoints(), 0n)
        assert.deepEqual(model.rewards(), [])
        assert.equal(model.state.pointsOwed, 0n)
        assert.equal(model.state.qualifyingSpend, 0n)
      },
    ),
    { numRuns: 100 },
  )
})

test('an absurdly large order creates at most a thousand rewards', () => {
  const model = createAccountModel([buildTier('1', 0n, { autoRewardPointThreshold: 1n })])
  model.earn('a', toMoney(1_000_000_000))
  assert.equal(model.rewards().length, 1_000)
  assert.equal(
    model.rewards().reduce((sum, { remaining }) => sum + remaining, 0n),
    toMoney(10) * 1_000_000_000n,
  )
  model.check()
})
