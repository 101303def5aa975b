// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { RemovedReservation, Reservation, ReservationChange, ReservationInput } from '../shapes/reservations.ts'

/** Stock levels by store and SKU, and how much you can sell online. */
export interface ReservationsApi {
  /** Reserve stock. Reserved units can only be ordered with this reservation, until it expires. Without `partial`, all units are reserved or none, except that a SKU with `allowBackorder` reserves the units that there are. An account can have at most 1,000 reservations. Null in a dry run unless sent: `id`, `expiresAt`. */
  create(body: ReservationInput, options?: WriteOptions): Promise<Reservation>
  /** Get a reservation. A reservation that has expired, was released or was used by an order returns 404. */
  get(id: string, options?: CallOptions): Promise<Reservation>
  /** Renew or change a reservation. The reservation expires `seconds` from now. With `lines`, they replace the reserved units. If that fails, the reservation stays. */
  update(id: string, body: ReservationChange, options?: WriteOptions): Promise<Reservation>
  /** Release a reservation. The units can be sold again at once. */
  release(id: string, options?: WriteOptions): Promise<RemovedReservation>
}

export const reservations = (call: Calls): ReservationsApi => ({
  create: (body, options) => call.post('/reservations', body, options),
  get: (id, options) => call.get(`/reservations/${segment(id)}`, {}, options),
  update: (id, body, options) => call.put(`/reservations/${segment(id)}`, body, options),
  release: (id, options) => call.delete(`/reservations/${segment(id)}`, undefined, options),
})
