/**
 * The state machine of order lines, collections and returns: each status, the action and the next status. API, command line, syncs and the
 * embedded back office use these tables. An order has no status of its own: its lines have one each.
 */
import { ApiError } from '../../errors/api-error.ts'
import type { LineStatus } from './orders.ts'
import type { ReturnStatus } from './returns.ts'

/** The transitions of an order line. A line is `returned` if all of its units are. */
export const lineTransitions = {
  ship: { from: 'processing', to: 'shipped' },
  cancel: { from: 'processing', to: 'cancelled' },
  receiveReturn: { from: 'shipped', to: 'returned' },
  cancelReturn: { from: 'returned', to: 'shipped' },
} as const satisfies Record<string, { from: LineStatus; to: LineStatus }>

/** The status of an order that the shopper collects. */
export type PickupStatus = 'processing' | 'ready' | 'collected'

/** The transitions of an order that the shopper collects. */
export const pickupTransitions = {
  ready: { from: 'processing', to: 'ready' },
  collect: { from: 'ready', to: 'collected' },
} as const satisfies Record<string, { from: PickupStatus; to: PickupStatus }>
export type PickupAction = keyof typeof pickupTransitions

/** Throws `invalid_transition` if the shopper doesn't collect the order, or its status doesn't permit the action. */
export function requirePermittedPickup(
  { number, pickupStoreNumber }: { number: string; pickupStoreNumber: string | null },
  status: PickupStatus,
  action: PickupAction,
): void {
  const { from, to } = pickupTransitions[action]
  if (pickupStoreNumber !== null && status === from) return
  const reason =
    pickupStoreNumber === null
      ? 'it has no `pickupStoreNumber`. Ship it instead'
      : status === 'processing'
        ? 'it is not `ready` yet. Send `POST /orders/{id}/ready` first'
        : `it is already ${status}`
  throw new ApiError('invalid_transition', `Order ${number} can't be ${to}: ${reason}.`)
}

/** The actions on a return, and the status that each leads to. */
export const returnActions = { receive: 'received', refund: 'refunded', cancel: 'cancelled' } as const satisfies Record<
  string,
  ReturnStatus
>
export type ReturnAction = keyof typeof returnActions

/** The actions that each status of a return permits. A return stays `requested` until all of its units are received. */
export const permittedReturnActions: Readonly<Record<ReturnStatus, readonly ReturnAction[]>> = {
  requested: ['receive', 'cancel'],
  received: ['refund', 'cancel'],
  refunded: [],
  cancelled: [],
}

/** Returns the statuses through which a return reaches `to`, or an empty list if it can't, or has reached it already. */
export function findReturnPath(from: ReturnStatus, to: ReturnStatus): ReturnStatus[] {
  const next: ReturnStatus[] = permittedReturnActions[from].map(action => returnActions[action])
  if (next.includes(to)) return [to]
  for (const status of next) {
    const path = findReturnPath(status, to)
    if (path.length) return [status, ...path]
  }
  return []
}

/** Throws `invalid_transition` if the status of a return doesn't permit the action. */
export function requirePermittedAction(
  { number, status }: { number: string; status: ReturnStatus },
  action: ReturnAction,
): void {
  const permitted = permittedReturnActions[status]
  if (permitted.includes(action)) return
  const alternatives = permitted.length ? `Possible: ${permitted.join(' or ')}.` : `No action is possible.`
  throw new ApiError(
    'invalid_transition',
    `Return ${number} is ${status}, so it can't be ${returnActions[action]}. ${alternatives}`,
  )
}
