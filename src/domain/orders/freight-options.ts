import { type Static, Type } from '../../schemas/schemas.ts'
import { Id, Nullable, Text } from '../values/fields.ts'

const part = (description: string, example: string) => Nullable(Text(description, example, 100))

/** A freight option of the back office. */
export type FreightOption = Static<typeof FreightOption>
export const FreightOption = Type.Object(
  {
    id: Id('The freight option.', '162'),
    name: Text('The name of the option.', 'eParcel Standard'),
    carrier: part('The carrier.', 'Australia Post'),
    serviceType: part('The service of the carrier.', 'eParcel Standard'),
    serviceLevel: part('The agreed service level.', 'Standard'),
  },
  { $id: 'FreightOption', additionalProperties: false },
)
