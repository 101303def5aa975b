import type {
  Coupon,
  CouponReservation,
  CouponReservationInput,
  CouponValidation,
} from '../../domain/orders/coupons.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { CommitPhase, Stages, Write } from '../../writes/write.ts'

/** A driver's operations on coupons. Without the capability `coupons`, they throw `capability_unavailable`. */
export interface CouponWrites {
  /** Checks if a shopper can use a coupon. Nothing is reserved. Throws `coupon_unusable` and `coupon_locked`. */
  validateCoupon(reading: Pick<Stages, 'read'> & { service: Service }, input: CouponValidation): Promise<Coupon>
  /** Reserves a coupon, and quotes an order with its discount. An order with the quote redeems it. */
  reserveCoupon(write: Write, input: CouponReservationInput): Promise<CommitPhase<CouponReservation>>
  /** Releases a reservation. Throws `not_found` if the service has no such reservation. */
  releaseCoupon(write: Write, id: string): Promise<CommitPhase<void>>
}
