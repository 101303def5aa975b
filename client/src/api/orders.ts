// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { CancellationInput, Coupon, CouponReservation, CouponReservationInput, CouponValidation, Exchange, ExchangeInput, FreightOption, Order, OrderCancellation, OrderInput, OrderQuote, OrderQuoteInput, ReleasedCoupon, ReturnInput, Returnable, ShipmentInput } from '../shapes/orders.ts'
import type { OrderReturn } from '../shapes/returns.ts'
import type { Shipment } from '../shapes/shipments.ts'

/** Place web orders and follow their status. */
export interface OrdersApi {
  /** Quote an order. Prices a cart: current prices, your discounts, and the back office's promotions, loyalty discounts and freight options. Nothing is stored or reserved. `POST /orders` with the `quoteId` places the order at these prices. */
  quote(body: OrderQuoteInput, options?: WriteOptions): Promise<OrderQuote>
  /** List freight options. The freight options of the back office. `POST /orders/quote` returns their prices for a cart. Empty if the capability `freightOptions` is not available. */
  freightOptions(options?: CallOptions): Promise<FreightOption[]>
  /** Validate a coupon. Checks if the shopper can use the coupon now. Nothing is reserved. */
  validateCoupon(body: CouponValidation, options?: WriteOptions): Promise<Coupon>
  /** Reserve a coupon. Reserves the coupon for 24 hours, and quotes an order with its discount. `POST /orders` with the `quoteId` redeems it. Coupons for everybody are not reserved, only quoted. Null in a dry run unless sent: `id`. */
  reserveCoupon(body: CouponReservationInput, options?: WriteOptions): Promise<CouponReservation>
  /** Release a coupon. Other sales can use the coupon at once. A reservation that has already ended is no error. */
  releaseCoupon(id: string, options?: WriteOptions): Promise<ReleasedCoupon>
  /** Place an order. Tillbridge computes all prices. The payments must total exactly the amount due. In one transaction, it redeems the vouchers, reduces the stock and, unless `fulfilment` is `manual`, records the sale. With `oversell` set to `refuse`, an order beyond the units that can be sold is rejected. With `allow`, it is accepted. `reservationId` uses up a reservation in the same transaction. With `quoteId`, the order has the prices, discounts and freight of the quote, which is valid for 30 minutes. Null in a dry run unless sent: `id`, `orderNumber`. */
  place(body: OrderInput, options?: WriteOptions): Promise<Order>
  /** Get an order. By ID or number. Each line has its status. */
  get(id: string, options?: CallOptions): Promise<Order>
  /** Find an order by number. A list with one order, or an empty list. */
  find(query: Paging & {
    /** The exact order number. */
    orderNumber: string
  }, options?: CallOptions): Paginator<Order>
  /** Create a return. Each SKU must be on the order. All returns of an order together can return at most the shipped quantity, even if several clients create returns at the same time. SKUs are case-sensitive. Lines with the same SKU are added up. The refund is the share of the amount paid. Only `sku` is required: `quantity` defaults to all remaining units, `reasonCode` to the setting `defaultReturnReason`. Null in a dry run unless sent: `id`, `returnNumber`, `returnAuthorisationNumber`. */
  createReturn(id: string, body: ReturnInput, options?: WriteOptions): Promise<OrderReturn>
  /** Exchange items of an order. Creates a return and a new order in one transaction. The refund of the return pays for the order first, as a payment with the gateway `exchange`; `payments` must total the rest. If the return is worth more, `refund` is left. If the capability `exchanges` is not available: 409 `capability_unavailable`. */
  exchange(id: string, body: ExchangeInput, options?: WriteOptions): Promise<Exchange>
  /** List an order's returns. Oldest first. Each return has its status and lines. */
  returns(id: string, query?: Paging, options?: CallOptions): Paginator<OrderReturn>
  /** List returnable items. The returnable quantity of each SKU. Lines that are not shipped, or cancelled, do not count as sold. */
  returnable(id: string, options?: CallOptions): Promise<Returnable[]>
  /** List an order's shipments. Each shipment has its carrier, tracking and content. An order that is shipped when it is placed (setting `fulfilment`) has no shipment. */
  shipments(id: string, query?: Paging, options?: CallOptions): Paginator<Shipment>
  /** Ship an order. Ships the open units of all lines, or those in `lines`, as one shipment. In one transaction, they leave the stock (of `storeNumber`, if it is sent), and the sale and its rewards are recorded. A unit can be shipped once, even if several clients ship it at the same time. If the capability `fulfilment` is not available: 409 `capability_unavailable`. Null in a dry run unless sent: `id`. */
  ship(id: string, body: ShipmentInput, options?: WriteOptions): Promise<Shipment>
  /** Cancel an order. Cancels the open units of all lines, or those in `lines`. They can be sold again. Vouchers are refunded before other payments. `refund.payments` is the amount that you must refund through the payment gateways. Freight and taxes are refunded with the last unit if nothing was shipped. */
  cancel(id: string, body: CancellationInput, options?: WriteOptions): Promise<OrderCancellation>
  /** Mark an order as ready. Sets `readyAt` of an order with a `pickupStoreNumber`: the shopper can collect it. */
  ready(id: string, options?: WriteOptions): Promise<Order>
  /** Mark an order as collected. Sets `collectedAt` of a `ready` order, and ships its open units as `POST /orders/{id}/shipments` does. */
  collected(id: string, options?: WriteOptions): Promise<Order>
}

export const orders = (call: Calls): OrdersApi => ({
  quote: (body, options) => call.post('/orders/quote', body, options),
  freightOptions: (options) => call.get('/freight-options', {}, options),
  validateCoupon: (body, options) => call.post('/coupons/validate', body, options),
  reserveCoupon: (body, options) => call.post('/coupons/reservations', body, options),
  releaseCoupon: (id, options) => call.delete(`/coupons/reservations/${segment(id)}`, undefined, options),
  place: (body, options) => call.post('/orders', body, options),
  get: (id, options) => call.get(`/orders/${segment(id)}`, {}, options),
  find: (query, options) => call.list('/orders', query, options),
  createReturn: (id, body, options) => call.post(`/orders/${segment(id)}/returns`, body, options),
  exchange: (id, body, options) => call.post(`/orders/${segment(id)}/exchanges`, body, options),
  returns: (id, query, options) => call.list(`/orders/${segment(id)}/returns`, query, options),
  returnable: (id, options) => call.get(`/orders/${segment(id)}/returnable`, {}, options),
  shipments: (id, query, options) => call.list(`/orders/${segment(id)}/shipments`, query, options),
  ship: (id, body, options) => call.post(`/orders/${segment(id)}/shipments`, body, options),
  cancel: (id, body, options) => call.post(`/orders/${segment(id)}/cancel`, body, options),
  ready: (id, options) => call.post(`/orders/${segment(id)}/ready`, undefined, options),
  collected: (id, options) => call.post(`/orders/${segment(id)}/collected`, undefined, options),
})
