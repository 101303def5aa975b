import { createAccountLimit } from '../../errors/account-limit.ts'
import { ApiError, type FieldError } from '../../errors/api-error.ts'
import { type Static, Type } from '../../schemas/schemas.ts'
import { Flag, Id, LocalTime, Nullable, Optional, Text } from '../values/fields.ts'

const reservationId = Id('The ID of the reservation.', '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91')
const sku = Id('The e-commerce SKU.', 'MH01-XS-Black')
const storeNumber = Id('The store whose stock is reserved.', '123')
const reference = Text('Your own reference, such as the ID of the cart.', 'cart-4711', 100)
const units = (description: string, minimum: number) =>
  Type.Integer({ description, minimum, maximum: 9_999, examples: [2] })

/** The seconds of a reservation without `seconds`. */
export const defaultSeconds = 900

/** The lines of a reservation with `live`: each costs one call to the back office. */
const maxLiveLines = 20

const lines = Type.Array(
  Type.Object(
    {
      sku,
      quantity: units('Units to reserve.', 1),
      storeNumber: Optional(
        Id('The store whose stock is reserved. Default: the store with the most units, as for an order.', '123'),
      ),
    },
    { $id: 'ReservationLineInput', additionalProperties: false },
  ),
  { description: 'The units to reserve, each SKU once.', minItems: 1, maxItems: 200 },
)
const seconds = Type.Optional(
  Type.Integer({
    description: 'Seconds until the reservation expires, from now on.',
    minimum: 1,
    maximum: 86_400,
    default: defaultSeconds,
    examples: [600],
  }),
)
const partial = Type.Optional(
  Flag('True: reserves the units that there are. Otherwise the reservation fails if a line is short of units.', true),
)

const live = Type.Optional(
  Flag(
    `True: first reads the current stock from the back office, for at most 3 s and ${maxLiveLines} lines. Needs the capability \`liveStock\`.`,
    true,
  ),
)

/** The body of a new reservation. */
export type ReservationInput = Static<typeof ReservationInput>
export const ReservationInput = Type.Object(
  { lines, seconds, partial, live, reference: Optional(reference) },
  { $id: 'ReservationInput', additionalProperties: false },
)

/** The body that renews or changes a reservation. */
export type ReservationChange = Static<typeof ReservationChange>
export const ReservationChange = Type.Object(
  { lines: Type.Optional(lines), seconds, partial, live, reference: Optional(reference) },
  { $id: 'ReservationChange', additionalProperties: false },
)

export type Reservation = Static<typeof Reservation>
export const Reservation = Type.Object(
  {
    id: reservationId,
    reference: Nullable(reference),
    expiresAt: LocalTime('When the reservation expires.', '2026-11-21 12:00:00'),
    lines: Type.Array(
      Type.Object(
        {
          sku,
          storeNumber,
          quantity: units('Reserved units.', 1),
          requested: units('Requested units.', 1),
        },
        { $id: 'ReservationLine', additionalProperties: false },
      ),
      { description: 'The reserved units. A line without any is missing.' },
    ),
  },
  { $id: 'Reservation', additionalProperties: false },
)

export const RemovedReservation = Type.Object(
  { id: reservationId },
  { $id: 'RemovedReservation', additionalProperties: false },
)

/** Returns an error for each SKU that is listed again. */
export function checkLines(requested: ReservationInput['lines']): FieldError[] {
  const seen = new Set<string>()
  return requested.flatMap(({ sku: listed }, i): FieldError[] => {
    const isRepeated = seen.has(listed)
    seen.add(listed)
    const detail = `${listed} can't be listed twice. Merge the two lines.`
    return isRepeated ? [{ pointer: `/lines/${i}/sku`, code: 'invalid_field', detail }] : []
  })
}

/** Returns an error if a reservation with `live` has too many lines. */
export const checkLiveLines = ({ length }: readonly unknown[]): FieldError[] =>
  length > maxLiveLines
    ? [
        {
          pointer: '/lines',
          code: 'invalid_field',
          detail: `With \`live\`, \`lines\` can have at most ${maxLiveLines} items.`,
        },
      ]
    : []

interface ReservedStock {
  storeId: string
  skuId: string
  quantity: number
}

/** Returns the moves that make reserved units free. */
export const releaseMoves = (reserved: readonly ReservedStock[]) =>
  reserved.map(({ storeId, skuId, quantity }) => ({ storeId, skuId, reserved: -quantity }))

/** Returns `rate_limited` if the account has too many reservations. */
export const checkAccountReservations = createAccountLimit('have', 'reservations')

export function reservationExpired(): ApiError {
  const detail = 'The reservation has expired, was released, or was used by another order.'
  return new ApiError('reservation_expired', detail, {
    errors: [{ pointer: '/reservationId', code: 'reservation_expired', detail }],
  })
}
