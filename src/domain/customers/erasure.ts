import { type Static, Type } from '../../schemas/schemas.ts'
import { Id, LocalTime, OneOf } from '../values/fields.ts'

/** The status of a customer's erasure. */
export type Erasure = Static<typeof Erasure>
export const Erasure = Type.Object(
  {
    id: Id('The ID of the erased customer. It is not reused.', '65432'),
    status: OneOf(
      '`erasing`: personal data is still being removed from orders and sales. `erased`: the erasure has finished.',
      ['erased', 'erasing'],
    ),
    erasedAt: LocalTime('When the customer was erased.'),
  },
  { $id: 'Erasure', additionalProperties: false },
)
