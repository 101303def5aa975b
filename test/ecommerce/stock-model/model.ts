import { computeNetted, decideStep } from '../../../src/domain/ecommerce/stock-push.ts'

/*
 * A model of one item at one location: a platform with orders of shoppers, our stock with the orders that were placed with us, and the push
 * in its steps. It runs the rules of the push (src/domain/ecommerce/stock-push.ts) with its guards.
 */

/** The guards of the push, so that a test can show that each is needed. */
export interface Guards {
  compareAndSet: boolean
  confirmation: boolean
}

interface PlatformOrder {
  /** Units that are committed on the platform. */
  remaining: number
  /** Units that our order has taken off the stock. Undefined: not placed with us yet. */
  ordered: number | undefined
  /** Units that we know to be committed. */
  known: number
}

/** An event of a schedule: `[kind, a, b]` with two random numbers. */
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

/** The worst push of a schedule: by how many units the platform showed more than the stock that the push used allows. */
export interface ModelResult {
  tooMuch: number
  pushes: number
  /** True if the platform has the desired quantity at the end. */
  isInStep: boolean
  stale: number
}

export function runSchedule(steps: readonly Step[], guards: Guards = { compareAndSet: true, confirmation: true }) {
  let [free, available, heldBack] = [10, 10, 0]
  const orders: PlatformOrder[] = []
  let [known, knownHeldBack, mustRead] = [10, 0, false]
  let version = 0
  let outbox: { desired: number; version: number; used: number } | undefined
  const result: ModelResult = { tooMuch: 0, pushes: 0, stale: 0, isInStep: false }

  const committed = () => orders.reduce((sum, { remaining }) => sum + remaining, 0)
  const onHand = () => available + committed() + heldBack
  const pick = (list: PlatformOrder[], at: number) => list[at % Math.max(1, list.length)]
  const open = () => orders.filter(({ remaining }) => remaining > 0)
  const netted = (order: PlatformOrder, units: number) => computeNetted(units, order.ordered ?? 0)

  const confirm = () => {
    for (const order of orders)
      if (order.ordered !== undefined && order.known !== order.remaining) {
        if (order.remaining < order.known) mustRead = true
        order.known = order.remaining
        version++
      }
  }
  const compute = () => {
    if (outbox) return
    // Items first, then orders: a fulfilment in between fails the compare-and-set.
    if (mustRead) {
      known = onHand()
      mustRead = false
      version++
    }
    if (guards.confirmation) {
      knownHeldBack = heldBack
      confirm()
      if (mustRead) return
    }
    const sellable = Math.max(0, free)
    const nettedUnits = orders.reduce((sum, order) => sum + netted(order, order.known), 0)
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
    // A level whose facts have changed leaves the batch.
    if (computed !== version) return
    if (guards.compareAndSet && onHand() !== known) {
      result.stale++
      mustRead = true
      return
    }
    available += desired - onHand()
    known = desired
    version++
    result.pushes++
    // I1: the units that shoppers see, and those that our stock has not subtracted yet.
    const unnetted = orders.reduce((sum, order) => sum + order.remaining - netted(order, order.remaining), 0)
    result.tooMuch = Math.max(result.tooMuch, available - (used - unnetted))
  }
  const events: Record<StepKind, (a: number, b: number) => void> = {
    sell(units) {
      const quantity = 1 + (units % 3)
      available -= quantity
      orders.push({ remaining: quantity, ordered: undefined, known: 0 })
    },
    place(at) {
      const order = pick(
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
      const order = pick(
        orders.filter(({ ordered = 0 }) => ordered > 0),
        at,
      )
      if (!order) return
      free += order.ordered ?? 0
      order.ordered = 0
    },
    fulfil(at, units) {
      const order = pick(open(), at)
      if (!order) return
      // On-hand falls, and what shoppers see stays.
      order.remaining -= Math.min(order.remaining, 1 + (units % 3))
    },
    cancel(at) {
      const order = pick(open(), at)
      if (!order) return
      available += order.remaining
      order.remaining = 0
    },
    edit(at, units) {
      const order = pick(open(), at)
      if (!order) return
      const change = (units % 3) - 1
      if (order.remaining + change < 0) return
      order.remaining += change
      available -= change
    },
    refund(at) {
      // Before shipping, with restock: like a partial cancellation.
      const order = pick(open(), at)
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
      mustRead = true
    },
    compute,
    send,
  }
  for (const [kind, a, b] of steps) events[kind](a, b)
  const desired = Math.max(0, free) + heldBack + orders.reduce((sum, order) => sum + netted(order, order.remaining), 0)
  result.isInStep = onHand() === desired
  return result
}
