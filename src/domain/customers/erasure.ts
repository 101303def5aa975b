import { type Static, Type } from '../../schemas/schemas.ts'
import { Id, LocalTime, Words } from '../values/fields.ts'

/** How far the erasure of a customer has come (contract 15). */
export type Erasure = Static<typeof Erasure>
export const Erasure = Type.Object(
  {
    id: Id("The identifier, which is nobody's from now on.", '65432'),
    status: Words('`erasing` while orders and sales are still being emptied of the person, then `erased`.', [
      'erased',
      'erasing',
    ]),
    erasedAt: LocalTime('When the customer left.'),
  },
  { $id: 'Erasure', additionalProperties: false },
)
