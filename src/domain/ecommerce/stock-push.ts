/* The rules of the stock push. Pure: the model test (test/ecommerce/stock-model) runs them on random schedules. */

/** Why a level is not pushed. A platform's own code is a reason too. */
export type HoldReason = 'unmapped' | 'duplicate' | 'untracked' | 'bundle' | 'giftCard' | 'inactiveLocation'

/** The facts of one level, read in one snapshot. */
export interface LevelFacts {
  /** Null: the item is not stocked at the location. */
  knownOnHand: number | null
  /** Units that our stores of the location can sell. */
  sellable: number
  /** Committed units that `sellable` no longer contains either: both sides have subtracted them. */
  netted: number
  /** Units on hand that the platform doesn't sell. */
  heldBack: number
  holdReason: HoldReason | null
}

/** The on-hand quantity that the platform should have. Shoppers then see the sellable units, less committed units that aren't netted. */
const computeDesiredOnHand = ({ sellable, netted, heldBack }: Omit<LevelFacts, 'knownOnHand' | 'holdReason'>) =>
  Math.min(Math.max(sellable, 0) + netted + heldBack, maxOnHand)

/** The largest quantity that platforms accept. */
const maxOnHand = 1_000_000_000

/** The committed units of an order at a level that our order has taken off the stock, by the order's units in stores of the location. */
export const computeNetted = (committedUnits: number, orderedUnits: number) =>
  Math.max(0, Math.min(committedUnits, orderedUnits))

export type LevelStep =
  | { state: 'inStep' }
  | { state: 'held'; reason: HoldReason }
  | { state: 'due'; direction: DueDirection; desiredOnHand: number }

/** How the quantity of a due level changes. */
export type DueDirection = keyof typeof dueRanks

/** The order in which due levels are sent. Falling quantities are first, because they prevent overselling. The ranks are stored. */
export const dueRanks = { fallingToZero: 0, falling: 1, rising: 2 } as const

/** Decides what a level needs. An item that is not stocked at a location is stocked only if there is something to sell. */
export function decideStep(facts: LevelFacts): LevelStep {
  if (facts.holdReason !== null) return { state: 'held', reason: facts.holdReason }
  const desiredOnHand = computeDesiredOnHand(facts)
  const platformOnHand = facts.knownOnHand ?? 0
  if (desiredOnHand === platformOnHand) return { state: 'inStep' }
  const direction = desiredOnHand > platformOnHand ? 'rising' : desiredOnHand === 0 ? 'fallingToZero' : 'falling'
  return { state: 'due', direction, desiredOnHand }
}

/** Safety stop: a run that would set more than half of the stocked levels (and more than 20) to zero is probably wrong. */
export const isSuspicious = ({ falling, stocked }: { falling: number; stocked: number }) =>
  canBeSuspicious(falling) && falling * 2 > stocked

/** True if so many levels fall to zero that the stocked levels must be counted, which takes long. */
export const canBeSuspicious = (falling: number) => falling > 20
