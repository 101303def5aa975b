// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls } from '../calls/calls.ts'
import type { CallFigures, Figures } from '../shapes/figures.ts'

/** Data behind the dashboard: requests, orders, sales, voucher balance. */
export interface FiguresApi {
  /** Get dashboard data. Requests and errors by minute, a second or two late; orders and sales of today; what is owed for vouchers; how old the data is. */
  get(options?: CallOptions): Promise<Figures>
  /** Get back-office call statistics. By minute, of requests and of what is pulled alike, a few seconds late. */
  calls(options?: CallOptions): Promise<CallFigures>
}

export const figures = (call: Calls): FiguresApi => ({
  get: (options) => call.get('/figures', {}, options),
  calls: (options) => call.get('/figures/calls', {}, options),
})
