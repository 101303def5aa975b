import { timingSafeEqual } from 'node:crypto'
import { computeHmac, type Keys } from '../../crypto/keys.ts'
import { type Static, Type } from '../../schemas/schemas.ts'
import type { Service } from '../tenancy/service-settings.ts'
import { Id, Nullable, Optional, Text } from '../values/fields.ts'
import { freight, quantity, sku } from './orders.ts'
import { OrderQuote } from './quotes.ts'

const code = Id('The code of the coupon.', 'BLACK21')
const customerId = Id('The shopper.', '65432')
export const exampleReservationId = '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91-4f1c9a526a0e4c579d0f2b7d3c1a8e44'
const reservationId = Id('The reservation of the coupon.', exampleReservationId)
const couponFields = {
  code,
  name: Nullable(Text('The name of the campaign.', 'Black Friday')),
  description: Nullable(Text('The description of the campaign.', '20 % off')),
}

/** The body of a coupon's validation. */
export type CouponValidation = Static<typeof CouponValidation>
export const CouponValidation = Type.Object(
  { code, customerId },
  { $id: 'CouponValidation', additionalProperties: false },
)

/** A coupon that a shopper can use. */
export type Coupon = Static<typeof Coupon>
export const Coupon = Type.Object(couponFields, { $id: 'Coupon', additionalProperties: false })

/** The body of a coupon's reservation. */
export type CouponReservationInput = Static<typeof CouponReservationInput>
export const CouponReservationInput = Type.Object(
  {
    code,
    customerId,
    lines: Type.Array(Type.Object({ sku, quantity }, { $id: 'CouponLineInput', additionalProperties: false }), {
      description: 'The items.',
      minItems: 1,
      maxItems: 200,
    }),
    freight: Optional(freight),
  },
  { $id: 'CouponReservationInput', additionalProperties: false },
)

export type CouponReservation = Static<typeof CouponReservation>
export const CouponReservation = Type.Object(
  { id: reservationId, ...couponFields, quote: OrderQuote },
  { $id: 'CouponReservation', additionalProperties: false },
)

export const ReleasedCoupon = Type.Object({ id: reservationId }, { $id: 'ReleasedCoupon', additionalProperties: false })

const sign = (keys: Keys, service: Service, requestId: string) =>
  computeHmac(keys.subjects, 'coupon', String(service.id), requestId).subarray(0, 16)

/** Returns the ID of a reservation: the back office's request ID, signed for the service, so that no other service can release it. */
export const toReservationId = (keys: Keys, service: Service, requestId: string) =>
  `${requestId}-${sign(keys, service, requestId).toString('hex')}`

/** Returns the request ID of a reservation. Returns undefined if it isn't a reservation of the service. */
export function parseReservationId(keys: Keys, service: Service, id: string): string | undefined {
  const [, requestId, signature] = /^([0-9a-f-]{36})-([0-9a-f]{32})$/.exec(id) ?? []
  if (!requestId || !signature) return
  return timingSafeEqual(sign(keys, service, requestId), Buffer.from(signature, 'hex')) ? requestId : undefined
}
