import assert from 'node:assert/strict'
import {
  computeEarning,
  computeReversal,
  type RewardMovement,
  type RewardState,
} from '../../../src/domain/rewards/movements.ts'
import { isUnexpired, type Lot, type OrderEarnings, type TierRules } from '../../../src/domain/rewards/rules.ts'

const year = { months: 12, days: 0 }

/** Converts whole units of money to ten-thousandths. */
export const toMoney = (count: number) => BigInt(count) * 10_000n

export const buildTier = (id: string, qualifySpend: bigint | null, more: Partial<TierRules> = {}): TierRules => ({
  id,
  sequence: Number(id),
  accrualSpend: toMoney(1),
  accrualPoints: 1n,
  autoRewardPointThreshold: 300n,
  autoRewardValue: toMoney(10),
  qualifySpend,
  qualifyPeriod: year,
  pointsExpiry: year,
  rewardExpiry: { months: 6, days: 0 },
  ...more,
})

/** The first day of each test. */
export const today = '2026-11-21'

export const tierRules = [buildTier('1', 0n), buildTier('2', toMoney(500)), buildTier('3', toMoney(1_500))]

export const atTier = (tierId: string | null, tierLockedUntilDate: string | null = null) => ({
  tierId,
  tierLockedUntilDate,
})

/** Creates an in-memory account that applies ledger entries as the tables do. */
export function createAccountModel(tiers: TierRules[]) {
  const lots = new Map<string, Lot & { kind: string; total: bigint; points: bigint }>()
  const state = { ...atTier('1'), qualifyingSpend: 0n, pointsOwed: 0n }
  const orders = new Map<string, OrderEarnings & { lots: string[] }>()
  let day = today
  let created = 0
  const createId = () => `lot${String(++created).padStart(6, '0')}`
  const rewards = () =>
    [...lots.values()].filter(
      lot => lot.kind === 'reward' && lot.remaining === lot.total && lot.remaining > 0n && isUnexpired(lot, day),
    )
  const listOpenPoints = () => [...lots.values()].filter(lot => lot.kind === 'points' && lot.remaining > 0n)
  const getState = (): RewardState => ({
    ...state,
    today: day,
    now: `${day} 12:00:00`,
    tiers,
    points: listOpenPoints(),
  })
  const openPoints = () => listOpenPoints().reduce((sum, lot) => sum + (isUnexpired(lot, day) ? lot.remaining : 0n), 0n)

  function apply(orderNumber: string, move: RewardMovement) {
    const order = orders.get(orderNumber) ?? { points: 0n, spend: 0n, reversedPoints: 0n, reversedSpend: 0n, lots: [] }
    orders.set(orderNumber, order)
    for (const { id, kind, expiryDate } of move.lots)
      lots.set(id, { id, kind, expiryDate, remaining: 0n, total: 0n, points: 0n, createdAt: `${day} 12:00:00` })
    for (const { kind, lot, into, amount, spend = 0n } of move.entries) {
      const changed = lot ? lots.get(lot.id) : undefined
      assert.equal(changed?.kind, lot?.kind)
      if (changed) {
        changed.remaining += amount
        if (amount > 0n) changed.total += amount
        assert.ok(
          changed.remaining >= 0n && changed.remaining <= changed.total,
          `${kind} leaves a lot with ${changed.remaining}`,
        )
      }
      const reward = into ? lots.get(into) : undefined
      if (reward) reward.points -= amount
      if (kind === 'earn') {
        order.points += amount
        order.spend += spend
        if (lot) order.lots.push(lot.id)
      }
      if (kind === 'return') order.reversedSpend -= spend
      if (kind === 'owe') state.pointsOwed -= amount
      if (kind === 'settle') state.pointsOwed += amount
      if (kind === 'owe' || (kind === 'reverse' && lot?.kind === 'points')) order.reversedPoints -= amount
    }
    Object.assign(state, move.tierStatus, { qualifyingSpend: move.qualifyingSpend })
  }

  return {
    lots,
    state,
    orders,
    openPoints,
    rewards,
    advanceDays: (days: number) => {
      day = Temporal.PlainDate.from(day).add({ days }).toString()
    },
    earn(orderNumber: string, amount: bigint) {
      apply(orderNumber, computeEarning(getState(), { orderNumber, amount }, createId))
    },
    returnOrder(orderNumber: string, amount: bigint) {
      const order = orders.get(orderNumber)
      if (!order) return
      const move = computeReversal(
        { ...getState(), unusedRewards: rewards() },
        order,
        { returnNumber: 'R1', amount },
        createId,
      )
      if (move) apply(orderNumber, move)
    },
    useReward() {
      const [reward] = rewards()
      if (reward) reward.remaining -= 1n
    },
    check() {
      assert.ok(state.pointsOwed >= 0n && state.qualifyingSpend >= 0n)
      if (state.pointsOwed > 0n)
        assert.equal(openPoints(), 0n, 'owed points must be repaid before points stay available')
      const threshold = tiers.find(({ id }) => id === state.tierId)?.autoRewardPointThreshold ?? 0n
      assert.ok(openPoints() < threshold, `${openPoints()} points are left of ${threshold}`)
      for (const order of orders.values()) {
        assert.ok(order.reversedSpend <= order.spend && order.reversedPoints <= order.points)
        if (order.reversedSpend === order.spend) assert.equal(order.reversedPoints, order.points)
      }
      const all = [...lots.values()]
      const sum = (kind: string, field: 'remaining' | 'points') =>
        all.filter(lot => lot.kind === kind).reduce((total, lot) => total + lot[field], 0n)
      const restored = all
        .filter(lot => lot.kind === 'reward' && lot.remaining === 0n)
        .reduce((total, lot) => total + lot.points, 0n)
      const earned = [...orders.values()].reduce((total, order) => total + order.points - order.reversedPoints, 0n)
      assert.equal(
        sum('points', 'remaining') - state.pointsOwed + sum('reward', 'points') - restored,
        earned,
        'no point may be lost or created',
      )
    },
  }
}
