// Generated from the OpenAPI document by `npm run docs`.
import type { Open } from './general.ts'

export interface ReturnReceipt {
  /** The units that have arrived. Default: all. */
  lines?: ReturnReceiptLine[] | null | undefined
  /** True if the items can be sold again. Default: the value of the return. */
  restock?: boolean | null | undefined
}

export interface ReturnReceiptLine {
  /** The ID of the line, unique in its return. */
  returnLineId: string
  quantity?: number | null | undefined
}

export interface OrderReturn {
  /** The ID of the return. */
  id: string
  /** The number of the return, unique in the service. */
  returnNumber: string
  /** The number that the shopper writes on the parcel. */
  returnAuthorisationNumber: string
  /** The order of the return. */
  orderId: string
  /** The number of the order. */
  orderNumber: string
  /** The shopper. Null if they were erased. */
  customerId: string | null
  /** The order that the return pays for. */
  exchangeOrderId: string | null
  /** The status of the return. */
  status: Open<'requested' | 'received' | 'refunded' | 'cancelled'>
  /** True if the items go back into stock when the return is received. */
  restock: boolean
  /** ISO 4217. */
  currency: string
  /** The refund for all lines. */
  total: string
  lines: ReturnLine[]
  /** When the return was created. */
  createdAt: string
  /** When the return last changed. */
  updateTimeStamp: string
}

export interface ReturnLine {
  /** The ID of the line, unique in its return. */
  id: string
  /** The position of the line in the return. */
  sequence: number
  /** The returned line of the order. */
  orderLineId: string
  /** The e-commerce SKU. */
  sku: string
  /** The number of units to return. */
  quantity: number
  /** Units that have arrived. */
  received: number
  /** A code from `GET /return-reasons`. */
  reasonCode: string
  /** The shopper's remarks. Can have several lines. */
  notes: string | null
  /** The price of one unit before discounts. */
  price: string
  /** The share of the discounts. Price times quantity minus these is the value. */
  discounts: Discount[]
  /** The refund: the share of the amount paid for the order line. */
  value: string
}

export interface Discount {
  /** The type of discount. */
  type: string
  /** The reason for the discount. */
  reason: string | null
  /** The amount of the discount. */
  amount: string
  /** The discount in per cent. */
  percentage: string | null
}

export interface RefundedReturn {
  orderReturn: OrderReturn
  refund: Refund
}

export interface Refund {
  /** ISO 4217. */
  currency: string
  /** The refund for the lines, with freight and taxes if a whole order is cancelled. */
  total: string
  /** The part that Tillbridge refunded to the vouchers that paid for the order, or for the order that was exchanged for it. */
  vouchers: VoucherRefund[]
  /** The part that goes back to the return that paid for the order. */
  exchange?: string
  /** The rest. Refund it through the payment gateways. */
  payments: string
}

export interface VoucherRefund {
  /** The gift voucher. */
  number: string
  /** The refunded amount. */
  amount: string
}

export interface ReturnReason {
  /** A code from `GET /return-reasons`. */
  code: string
  /** The name that shoppers see. */
  name: string
}
