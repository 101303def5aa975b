// Generated from the OpenAPI document by `npm run docs`.

export interface Shipment {
  /** The ID of the shipment. */
  id: string
  /** The order of the shipment. */
  orderId: string
  /** The number of the order. */
  orderNumber: string
  /** The carrier. */
  carrier: string | null
  /** The tracking number of the parcel. */
  trackingNumber: string | null
  /** The page of the carrier that tracks the parcel. */
  trackingUrl: string | null
  /** The store that the shipment leaves from. */
  storeNumber: string | null
  /** When the shipment was dispatched. `null` if unknown. */
  shippedAt: string | null
  /** The content, by order line. */
  lines: ShipmentLine[]
  /** The content by carton. Empty if the back office does not report cartons. */
  cartons: Carton[]
  /** When the shipment last changed. */
  updateTimeStamp: string
}

export interface ShipmentLine extends CartonLine {
  /** The line of the order. `null` if the item is not on the order. */
  orderLineId: string | null
}

export interface CartonLine {
  /** The e-commerce SKU. */
  sku: string
  /** Units in the shipment. */
  quantity: number
}

export interface Carton {
  /** The number of the carton. */
  number: string | null
  lines: CartonLine[]
}
