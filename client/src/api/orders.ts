// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { Order, OrderInput, ReturnInput, Returnable } from '../shapes/orders.ts'
import type { OrderReturn } from '../shapes/returns.ts'

/** Place web orders and follow their status. */
export interface OrdersApi {
  /** Place an order. Prices are worked out again, and the payments have to be exactly what is due. Vouchers are drawn, stock leaves its store, and, unless orders are shipped by hand, the sale is in the retail history: all of it, or nothing. Orders are not refused for lack of stock. In a dry run, these fields are null unless the body contains them: `id`, `orderNumber`. */
  place(body: OrderInput, options?: WriteOptions): Promise<Order>
  /** Get an order. By its identifier or its number, with the status of each line. */
  get(id: string, options?: CallOptions): Promise<Order>
  /** Find an order by number. A list of one order, or of none. */
  find(query: Paging & {
    /** Exactly this number. */
    orderNumber: string
  }, options?: CallOptions): Paginator<Order>
  /** Create a return. Each SKU has to be on the order, and over all its returns no more comes back than was shipped, also when several clients return at once. SKUs are compared letter by letter; lines with the same SKU are added up. What is refunded is the share of what was paid. A line needs its SKU alone: `quantity` is all that is left, `reasonCode` the setting `defaultReturnReason`. In a dry run, these fields are null unless the body contains them: `id`, `returnNumber`, `returnAuthorisationNumber`. */
  createReturn(id: string, body: ReturnInput, options?: WriteOptions): Promise<OrderReturn>
  /** List an order's returns. Each with its status and its lines. */
  returns(id: string, query?: Paging, options?: CallOptions): Paginator<OrderReturn>
  /** List returnable items. What is not shipped, or cancelled, is not sold. */
  returnable(id: string, options?: CallOptions): Promise<Returnable[]>
}

export const orders = (call: Calls): OrdersApi => ({
  place: (body, options) => call.post('/orders', body, options),
  get: (id, options) => call.get(`/orders/${segment(id)}`, {}, options),
  find: (query, options) => call.list('/orders', query, options),
  createReturn: (id, body, options) => call.post(`/orders/${segment(id)}/returns`, body, options),
  returns: (id, query, options) => call.list(`/orders/${segment(id)}/returns`, query, options),
  returnable: (id, options) => call.get(`/orders/${segment(id)}/returnable`, {}, options),
})
