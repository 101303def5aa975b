import {
  Coupon,
  CouponReservation,
  CouponReservationInput,
  CouponValidation,
  exampleReservationId,
  ReleasedCoupon,
} from '../domain/orders/coupons.ts'
import { EmptyBody } from '../http/body/body.ts'
import { calculation, del, post } from '../http/routing/route-definitions.ts'
import { mapCommitPhase } from '../writes/write.ts'

const tag = 'Checkout'
const buildPath = (id: string) => `/coupons/reservations/${id}`
const errors = ['capability_unavailable', 'coupon_unusable', 'coupon_locked'] as const

/** Coupons of the back office. An order redeems one by its quote. */
export const coupons = [
  post(
    '/coupons/validate',
    {
      operationId: 'validateCoupon',
      tag,
      ...calculation,
      summary: 'Validate a coupon',
      description: 'Checks if the shopper can use the coupon now. Nothing is reserved.',
      body: CouponValidation,
      response: Coupon,
      errors,
    },
    async ({ backOffice, body, ...write }) => {
      const data = await backOffice.validateCoupon(write, body)
      return async () => ({ data, subject: '/coupons/validate' })
    },
  ),

  post(
    '/coupons/reservations',
    {
      operationId: 'reserveCoupon',
      tag,
      summary: 'Reserve a coupon',
      description:
        'Reserves the coupon for 24 hours, and quotes an order with its discount. `POST /orders` with the `quoteId` redeems it. Coupons for everybody are not reserved, only quoted.',
      body: CouponReservationInput,
      generated: ['id'],
      response: CouponReservation,
      errors: [...errors, 'unknown_sku'],
    },
    async ({ backOffice, body, ...write }) =>
      mapCommitPhase(await backOffice.reserveCoupon(write, body), data => ({ data, subject: buildPath(data.id) })),
  ),

  del(
    '/coupons/reservations/:id',
    {
      operationId: 'releaseCoupon',
      tag,
      summary: 'Release a coupon',
      description: 'Other sales can use the coupon at once. A reservation that has already ended is no error.',
      params: { id: { description: 'The reservation.', example: exampleReservationId } },
      body: EmptyBody,
      response: ReleasedCoupon,
      errors: [...errors, 'not_found'],
    },
    async ({ backOffice, params: { id }, ...write }) =>
      mapCommitPhase(await backOffice.releaseCoupon(write, id), () => ({ data: { id }, subject: buildPath(id) })),
  ),
]
