// Generated from the OpenAPI document by `npm run docs`.

export interface ReservationInput {
  /** The units to reserve, each SKU once. */
  lines: ReservationLineInput[]
  /** Seconds until the reservation expires, from now on. */
  seconds?: number | undefined
  /** True: reserves the units that there are. Otherwise the reservation fails if a line is short of units. */
  partial?: boolean | undefined
  /** True: first reads the current stock from the back office, for at most 3 s and 20 lines. Needs the capability `liveStock`. */
  live?: boolean | undefined
  /** Your own reference, such as the ID of the cart. */
  reference?: string | null | undefined
}

export interface ReservationLineInput {
  /** The e-commerce SKU. */
  sku: string
  /** Units to reserve. */
  quantity: number
  /** The store whose stock is reserved. Default: the store with the most units, as for an order. */
  storeNumber?: string | null | undefined
}

export interface ReservationChange {
  /** The units to reserve, each SKU once. */
  lines?: ReservationLineInput[] | undefined
  /** Seconds until the reservation expires, from now on. */
  seconds?: number | undefined
  /** True: reserves the units that there are. Otherwise the reservation fails if a line is short of units. */
  partial?: boolean | undefined
  /** True: first reads the current stock from the back office, for at most 3 s and 20 lines. Needs the capability `liveStock`. */
  live?: boolean | undefined
  /** Your own reference, such as the ID of the cart. */
  reference?: string | null | undefined
}

export interface Reservation {
  /** The ID of the reservation. */
  id: string
  /** Your own reference, such as the ID of the cart. */
  reference: string | null
  /** When the reservation expires. */
  expiresAt: string
  /** The reserved units. A line without any is missing. */
  lines: ReservationLine[]
}

export interface ReservationLine {
  /** The e-commerce SKU. */
  sku: string
  /** The store whose stock is reserved. */
  storeNumber: string
  /** Reserved units. */
  quantity: number
  /** Requested units. */
  requested: number
}

export interface RemovedReservation {
  /** The ID of the reservation. */
  id: string
}
