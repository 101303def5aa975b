import { ApiError } from '../../errors/api-error.ts'
import type { CouponWrites } from '../port/coupons.ts'

export const noCouponsReason =
  'The embedded back office has no coupons. Check codes in the web shop, and send their discounts with the order.'

const rejectCoupon = async (): Promise<never> => {
  throw new ApiError('capability_unavailable', noCouponsReason)
}

export const couponWrites: CouponWrites = {
  validateCoupon: rejectCoupon,
  reserveCoupon: rejectCoupon,
  releaseCoupon: rejectCoupon,
}
