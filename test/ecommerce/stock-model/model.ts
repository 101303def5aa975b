import { computeNetted, decideStep } from '../../../src/domain/ecommerce/stock-push.ts'

/*
 * Models one item at one location: a platform with shoppers' orders, our stock with the orders placed with us, and the
 * stages of a push. Uses the real rules of the push (src/domain/ecommerce/stock-push.ts) and its guards.
 */

/** The guards of the push. Tests disable them to show that each is needed. */
export interface Guards {
  compareAndSet: boolean
  confirmation: boolean
}

interface PlatformOrder {
  /** Units that are committed on the platform. */
  remaining: number
  /** Units that our order has subtracted from the stock, or undefined if it is not placed with us yet. */
  ordered: number | undefined
  /** Committed units that we have read. */
  known: number
}

/** An event of a schedule: its kind and two random numbers. */
export type Step = readonly [kind: StepKind, a: number, b: number]
export const stepKinds = [
  'sell',
  'place',
  'storeSale',
  'delivery',
  'storeCancel',
  'fulfil',
  'cancel',
  'edit',
  'refund',
  'count',
  'hold',
  'refresh',
  'reconcile',
  'compute',
  'send',
] as const
export type StepKind = (typeof stepKinds)[number]

/** The result of a schedule. */
export interface ModelResult {
  maxExcess: number
  pushes: number
  /** True if the platform has the desired quantity at the end. */
  isInStep: boolean
  staleCount: number
}

export function runSchedule(steps: readonly Step[], guards: Guards = { compareAndSet: true, confirmation: true }) {
  let [free, available, heldBack] = [10, 10, 0]
  const orders: PlatformOrder[] = []
  let [known, knownHeldBack, isReadRequired] = [10, 0, false]
  let version = 0
  let outbox: { desired: number; version: number; used: number } | undefined
  const result: ModelResult = { maxExcess: 0, pushes: 0, staleCount: 0, isInStep: false }

  const sumCommitted = () => orders.reduce((sum, { remaining }) => sum + remaining, 0)
  const getOnHand = () => available + sumCommitted() + heldBack
  const pickOrder = (list: PlatformOrder[], at: number) => list[at % Math.max(1, list.length)]
  const listOpen = () => orders.filter(({ remaining }) => remaining > 0)
  const getNetted = (order: PlatformOrder, units: number) => computeNetted(units, order.ordered ?? 0)

  const confirm = () => {
    for (const order of orders)
      if (order.ordered !== undefined && order.known !== order.remaining) {
        if (order.remaining < order.known) isReadRequired = true
        order.known = order.remaining
        version++
      }
  }
  const compute = () => {
    if (outbox) return
    // Items must be read before orders, so that a fulfilment in between fails the compare-and-set.
    if (isReadRequired) {
      known = getOnHand()
      isReadRequired = false
      version++
    }
    if (guards.confirmation) {
      knownHeldBack = heldBack
      confirm()
      if (isReadRequired) return
    }
    const sellable = Math.max(0, free)
    const nettedUnits = orders.reduce((sum, order) => sum + getNetted(order, order.known), 0)
    const step = decideStep({
      knownOnHand: known,
      sellable,
      netted: nettedUnits,
      heldBack: knownHeldBack,
      holdReason: null,
    })
    if (step.state === 'due') outbox = { desired: step.desiredOnHand, version, used: sellable }
  }
  const send = () => {
    if (!outbox) return
    const { desired, used, version: computed } = outbox
    outbox = undefined
    // A level whose inputs have changed is removed from the batch.
    if (computed !== version) return
    if (guards.compareAndSet && getOnHand() !== known) {
      result.staleCount++
      isReadRequired = true
      return
    }
    available += desired - getOnHand()
    known = desired
    version++
    result.pushes++
    // I1: shoppers must not see units that are sold but not yet subtracted from our stock.
    const unnetted = orders.reduce((sum, order) => sum + order.remaining - getNetted(order, order.remaining), 0)
    result.maxExcess = Math.max(result.maxExcess, available - (used - unnetted))
  }
  const events: Record<StepKind, (a: number, b: number) => void> = {
    sell(units) {
      const quantity = 1 + (units % 3)
      available -= quantity
      orders.push({ remaining: quantity, ordered: undefined, known: 0 })
    },
    place(at) {
      const order = pickOrder(
        orders.filter(({ ordered }) => ordered === undefined),
        at,
      )
      if (!order) return
      order.ordered = order.remaining
      free -= order.remaining
    },
    storeSale(units) {
      free -= 1 + (units % 3)
    },
    delivery(units) {
      free += 1 + (units % 5)
    },
    storeCancel(at) {
      const order = pickOrder(
        orders.filter(({ ordered = 0 }) => ordered > 0),
        at,
      )
      if (!order) return
      free += order.ordered ?? 0
      order.ordered = 0
    },
    fulfil(at, units) {
      const order = pickOrder(listOpen(), at)
      if (!order) return
      // On-hand falls, but the available units stay the same.
      order.remaining -= Math.min(order.remaining, 1 + (units % 3))
    },
    cancel(at) {
      const order = pickOrder(listOpen(), at)
      if (!order) return
      available += order.remaining
      order.remaining = 0
    },
    edit(at, units) {
      const order = pickOrder(listOpen(), at)
      if (!order) return
      const change = (units % 3) - 1
      if (order.remaining + change < 0) return
      order.remaining += change
      available -= change
    },
    refund(at) {
      // A refund before shipping with restock works like a partial cancellation.
      const order = pickOrder(listOpen(), at)
      if (!order) return
      order.remaining--
      available++
    },
    count(units) {
      available = units % 12
    },
    hold(units) {
      const change = Math.max(-heldBack, (units % 5) - 2)
      heldBack += change
      available -= change
    },
    refresh: confirm,
    reconcile() {
      isReadRequired = true
    },
    compute,
    send,
  }
  for (const [kind, a, b] of steps) events[kind](a, b)
  const desired =
    Math.max(0, free) + heldBack + orders.reduce((sum, order) => sum + getNetted(order, order.remaining), 0)
  result.isInStep = getOnHand() === desired
  return result
}
