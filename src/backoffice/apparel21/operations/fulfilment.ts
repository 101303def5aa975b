import { ApiError } from '../../../errors/api-error.ts'
import type { OrderWrites } from '../../port/orders.ts'

export const noFulfilmentReason =
  "The Retail API can't ship or cancel orders, or receive or refund returns. Do this in the back office. A sync reads the new status."

export const noExchangesReason =
  "The Retail API can't create a return and an order together, and a return can't pay for an order. Create the return and then the order."

const rejectFulfilment = async (): Promise<never> => {
  throw new ApiError('capability_unavailable', noFulfilmentReason)
}

const rejectExchange = async (): Promise<never> => {
  throw new ApiError('capability_unavailable', noExchangesReason)
}

/** Rejects each operation that only the back office itself can do. */
export const fulfilmentWrites: Pick<
  OrderWrites,
  | 'createExchange'
  | 'createShipment'
  | 'createCancellation'
  | 'markReady'
  | 'markCollected'
  | 'receiveReturn'
  | 'refundReturn'
> = {
  createExchange: rejectExchange,
  createShipment: rejectFulfilment,
  createCancellation: rejectFulfilment,
  markReady: rejectFulfilment,
  markCollected: rejectFulfilment,
  receiveReturn: rejectFulfilment,
  refundReturn: rejectFulfilment,
}
