// Made of the operations of the API by `npm run docs`.
import type { Open } from './general.ts'

export interface OrderReturn {
  /** The identifier of the return. */
  id: string
  /** The number of the return, unique in the service. */
  returnNumber: string
  /** What the shopper writes on the parcel. */
  returnAuthorisationNumber: string
  /** The order that it belongs to. */
  orderId: string
  /** The number of that order. */
  orderNumber: string
  /** The shopper; null once they were erased. */
  customerId: string | null
  /** Where the return stands: requested, received, refunded; or cancelled. */
  status: Open<'requested' | 'received' | 'refunded' | 'cancelled'>
  /** Whether the goods can be sold again. */
  restock: boolean
  /** ISO 4217. */
  currency: string
  /** What is refunded for all lines. */
  total: string
  lines: ReturnLine[]
  /** When it was made. */
  createdAt: string
  /** When it last changed. */
  updateTimeStamp: string
}

export interface ReturnLine {
  /** The identifier of the line, unique in its return. */
  id: string
  /** Where the line stands in the return. */
  sequence: number
  /** The line of the order that it comes from. */
  orderLineId: string
  /** The e-commerce SKU. */
  sku: string
  /** Units that come back. */
  quantity: number
  /** Why, as `GET /return-reasons` has it. */
  reasonCode: string
  /** What the shopper said; may have several lines. */
  notes: string | null
  /** The price of one unit, before discounts. */
  price: string
  /** The share of what was taken off: price times quantity, less these, is the value. */
  discounts: Discount[]
  /** What is refunded: the share of what was paid for the line of the order. */
  value: string
}

export interface Discount {
  /** Why there is a discount. */
  type: string
  /** The reason in words. */
  reason: string | null
  /** The amount taken off the line. */
  amount: string
  /** The same in per cent. */
  percentage: string | null
}

export interface ReturnReason {
  /** Why, as `GET /return-reasons` has it. */
  code: string
  /** What a shopper reads. */
  name: string
}
