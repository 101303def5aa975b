// Generated from the OpenAPI document by `npm run docs`.
import type { Open } from './general.ts'
import type { Discount, OrderReturn, Refund } from './returns.ts'

export interface OrderQuoteInput {
  /** The shopper, whose loyalty discounts apply. */
  customerId?: string | null | undefined
  /** The items. */
  lines: QuoteLineInput[]
  /** The delivery charge. */
  freight?: string | null | undefined
  /** The freight option, from `GET /freight-options`. */
  freightOptionId?: string | null | undefined
}

export interface QuoteLineInput {
  /** The e-commerce SKU. */
  sku: string
  /** Units sold. */
  quantity: number
  /** Your own discounts. The back office adds its promotions. */
  discounts?: DiscountInput[] | null | undefined
}

export interface DiscountInput {
  /** The type of discount. */
  type: string
  /** The reason for the discount. */
  reason?: string | null | undefined
  /** The amount of the discount. */
  amount: string
  /** The discount in per cent. */
  percentage?: string | null | undefined
}

export interface CouponValidation {
  /** The code of the coupon. */
  code: string
  /** The shopper. */
  customerId: string
}

export interface CouponReservationInput {
  /** The code of the coupon. */
  code: string
  /** The shopper. */
  customerId: string
  /** The items. */
  lines: CouponLineInput[]
  /** The delivery charge. */
  freight?: string | null | undefined
}

export interface CouponLineInput {
  /** The e-commerce SKU. */
  sku: string
  /** Units sold. */
  quantity: number
}

export interface OrderInput {
  /** The number of the order, unique in the service. */
  orderNumber?: string | null | undefined
  /** The shopper. */
  customerId: string
  /** The store where the shopper collects the order. */
  pickupStoreNumber?: string | null | undefined
  /** The reservation that the order uses up. Its units can be ordered although they are reserved, and come from the reserved stores. */
  reservationId?: string | null | undefined
  /** The quote, from `POST /orders/quote`. */
  quoteId?: string | null | undefined
  /** The platform's order, for the stock push. */
  ecommerceOrderId?: string | undefined
  billingAddress: PostalAddress
  deliveryAddress: PostalAddress
  /** The ordered items. */
  lines: OrderLineInput[]
  /** The delivery charge. */
  freight?: string | null | undefined
  /** Sales taxes on top of the prices. Leave them out if the prices include tax. Their amounts are part of the amount due. */
  taxLines?: TaxLineInput[] | null | undefined
  /** The payments. They must total exactly the amount due. */
  payments: OrderPaymentInput[]
}

export interface PostalAddress {
  /** The contact person. */
  contactName?: string | null | undefined
  /** The company. */
  companyName?: string | null | undefined
  /** Street and number. */
  addressLine1: string
  /** Floor, unit or building. */
  addressLine2?: string | null | undefined
  /** City or suburb. */
  city: string
  /** State, province or county. */
  state?: string | null | undefined
  /** Post code. */
  postcode?: string | null | undefined
  /** Country. */
  country: string
}

export interface OrderLineInput {
  /** The e-commerce SKU. */
  sku: string
  /** Units sold. */
  quantity: number
  /** The price of one unit. If it is sent, it must be the current price. */
  price?: string | null | undefined
  /** The discounts of the line. Together they can't exceed its price. */
  discounts?: DiscountInput[] | null | undefined
}

export interface TaxLineInput {
  /** The name of the tax. */
  name: string
  /** The rate in per cent. */
  percentage?: string | null | undefined
  /** The amount of the tax, in addition to the prices. */
  amount: string
}

export interface OrderPaymentInput {
  /** A name from `GET /payment-gateways`. */
  gateway: string
  /** The amount of the payment. */
  amount: string
  /** The gateway's reference. */
  reference?: string | null | undefined
  voucher?: VoucherPayment | null | undefined
}

/** The gift voucher that this payment redeems. */
export interface VoucherPayment {
  /** The number of the gift voucher. */
  number: string
  /** The `validationId` of the validation or the lock. */
  validationId: string
}

export interface ReturnInput {
  /** The number of the return, unique in the service. */
  returnNumber?: string | null | undefined
  /** The returned items. Several lines can have the same SKU. */
  lines: ReturnLineInput[]
  /** True if the items go back into stock when the return is received. */
  restock?: boolean | null | undefined
}

export interface ReturnLineInput {
  /** The e-commerce SKU. */
  sku: string
  /** The number of units to return. Default: all remaining units. */
  quantity?: number | null | undefined
  /** A code from `GET /return-reasons`. Default: the setting `defaultReturnReason`. */
  reasonCode?: string | null | undefined
  /** The shopper's remarks. Can have several lines. */
  notes?: string | null | undefined
}

export interface ExchangeInput {
  orderReturn: ReturnInput
  order: OrderInput
}

export interface ShipmentInput {
  /** The lines. Default: all lines that are `processing`. */
  lines?: OrderLineSelection[] | null | undefined
  /** The carrier. */
  carrier?: string | null | undefined
  /** The tracking number of the parcel. */
  trackingNumber?: string | null | undefined
  /** The page of the carrier that tracks the parcel. */
  trackingUrl?: string | null | undefined
  /** The store that the shipment leaves from. */
  storeNumber?: string | null | undefined
}

export interface OrderLineSelection {
  /** The line of the order. */
  orderLineId: string
  /** Default: all open units. */
  quantity?: number | null | undefined
}

export interface CancellationInput {
  /** The lines. Default: all lines that are `processing`. */
  lines?: OrderLineSelection[] | null | undefined
}

export interface OrderQuote {
  /** The quote, from `POST /orders/quote`. */
  quoteId: string
  /** Until when an order can refer to the quote. */
  expiresAt: string
  /** ISO 4217. */
  currency: string
  lines: QuoteLine[]
  /** The delivery charge. */
  freight: string
  /** The freight option, from `GET /freight-options`. */
  freightOptionId: string | null
  /** The freight options for these items. Empty if the back office has none. */
  freightOptions: QuotedFreightOption[]
  /** Lines and freight. Taxes on top are added by the order. */
  total: string
}

export interface QuoteLine {
  /** The e-commerce SKU. */
  sku: string
  /** Units sold. */
  quantity: number
  /** The price of one unit before discounts. */
  price: string
  /** Your own discounts, and those of the back office: `promotion`, `loyalty` and `coupon`. */
  discounts: Discount[]
  /** The amount due for the line. */
  value: string
}

export interface QuotedFreightOption {
  /** The freight option, from `GET /freight-options`. */
  id: string
  /** The name of the option. */
  name: string
  /** The price of the option for these items. */
  amount: string
}

export interface FreightOption {
  /** The freight option. */
  id: string
  /** The name of the option. */
  name: string
  /** The carrier. */
  carrier: string | null
  /** The service of the carrier. */
  serviceType: string | null
  /** The agreed service level. */
  serviceLevel: string | null
}

export interface Coupon {
  /** The code of the coupon. */
  code: string
  /** The name of the campaign. */
  name: string | null
  /** The description of the campaign. */
  description: string | null
}

export interface CouponReservation extends Coupon {
  /** The reservation of the coupon. */
  id: string
  quote: OrderQuote
}

export interface ReleasedCoupon {
  /** The reservation of the coupon. */
  id: string
}

export interface Order {
  /** The ID of the order. */
  id: string
  /** The number of the order, unique in the service. */
  orderNumber: string
  /** The shopper. Null if they were erased. */
  customerId: string | null
  /** The store where the shopper collects the order. */
  pickupStoreNumber: string | null
  billingAddress: OrderAddress
  deliveryAddress: OrderAddress
  /** ISO 4217. */
  currency: string
  lines: OrderLine[]
  /** The delivery charge. */
  freight: string
  /** Sales taxes on top of the prices. Empty if the prices include tax. */
  taxLines: TaxLine[]
  /** The amount due: lines, freight and taxes on top. */
  total: string
  payments: OrderPayment[]
  /** When the order was placed. */
  placedAt: string
  /** When it became ready for collection. */
  readyAt: string | null
  /** When it was collected. */
  collectedAt: string | null
  /** When the order last changed. */
  updateTimeStamp: string
}

export interface OrderAddress extends Address {
  /** The contact person. */
  contactName: string | null
  /** The company. */
  companyName: string | null
}

export interface Address {
  /** Street and number. */
  addressLine1: string | null
  /** Floor, unit or building. */
  addressLine2: string | null
  /** City or suburb. */
  city: string | null
  /** State, province or county. */
  state: string | null
  /** Post code. */
  postcode: string | null
  /** Country. */
  country: string | null
}

export interface OrderLine {
  /** The ID of the line, unique in its order. */
  id: string
  /** The position of the line in the order. */
  sequence: number
  /** The e-commerce SKU. */
  sku: string
  /** The style code. */
  productCode: string
  /** The name of the style when it was sold. */
  productName: string
  /** The code of the colour. */
  colourCode: string | null
  /** The name of the colour. */
  colourName: string | null
  /** The size. */
  sizeCode: string
  /** Units sold. */
  quantity: number
  /** Shipped or collected units. */
  shipped: number
  /** Cancelled units. */
  cancelled: number
  /** Returned units, including requested returns. */
  returned: number
  /** The price of one unit before discounts. */
  price: string
  discounts: Discount[]
  /** The amount paid for the line. */
  value: string
  /** The status of the line. `processing`: some units are neither shipped nor cancelled. `returned`: all shipped units have come back. */
  status: Open<'processing' | 'shipped' | 'cancelled' | 'returned'>
  /** The shipments of the line. Empty if none is known. */
  tracking: OrderLineTracking[]
}

export interface OrderLineTracking {
  /** The ID of the shipment. */
  shipmentId: string
  /** The carrier. */
  carrier: string | null
  /** The tracking number of the parcel. */
  trackingNumber: string | null
  /** The page of the carrier that tracks the parcel. */
  trackingUrl: string | null
  /** Units of the line in the shipment. */
  quantity: number
}

export interface TaxLine {
  /** The name of the tax. */
  name: string
  /** The rate in per cent. */
  percentage: string | null
  /** The amount of the tax, in addition to the prices. */
  amount: string
}

export interface OrderPayment {
  /** A name from `GET /payment-gateways`. */
  gateway: string
  /** The amount of the payment. */
  amount: string
  /** The gateway's reference. */
  reference: string | null
  /** The number of the gift voucher. */
  voucherNumber: string | null
}

export interface Exchange {
  orderReturn: OrderReturn
  order: Order
  /** The rest of the return, which `POST /returns/{id}/refund` refunds. */
  refund: string
}

export interface Returnable {
  /** The e-commerce SKU. */
  sku: string
  /** Shipped units. */
  sold: number
  /** Returned units, including requested returns. */
  returned: number
  /** Units that can still be returned. */
  returnable: number
}

export interface OrderCancellation {
  order: Order
  refund: Refund
}
