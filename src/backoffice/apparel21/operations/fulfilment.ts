import { ApiError } from '../../../errors/api-error.ts'
import type { OrderWrites } from '../../port/orders.ts'

export const noFulfilmentReason =
  "The Retail API can't ship or cancel orders, or receive or refund returns. Do this in the back office. A sync reads the new status."

const rejectFulfilment = async (): Promise<never> => {
  throw new ApiError('capability_unavailable', noFulfilmentReason)
}

/** Rejects each operation that only the back office itself can do. */
export const fulfilmentWrites: Pick<
  OrderWrites,
  'createShipment' | 'createCancellation' | 'markReady' | 'markCollected' | 'receiveReturn' | 'refundReturn'
> = {
  createShipment: rejectFulfilment,
  createCancellation: rejectFulfilment,
  markReady: rejectFulfilment,
  markCollected: rejectFulfilment,
  receiveReturn: rejectFulfilment,
  refundReturn: rejectFulfilment,
}
