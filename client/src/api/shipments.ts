// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Shipment } from '../shapes/shipments.ts'

/** Place web orders and follow their status. */
export interface ShipmentsApi {
  /** Get a shipment. A shipment that the back office has merged into another is removed. */
  get(id: string, options?: CallOptions): Promise<Shipment>
}

export const shipments = (call: Calls): ShipmentsApi => ({
  get: (id, options) => call.get(`/shipments/${segment(id)}`, {}, options),
})
