import { Type } from '../../schemas/schemas.ts'
import { Id, Nullable, Text } from '../values/fields.ts'

const referenceValueId = Id('The ID of the value in the back office.', '4411')
const code = Text('The code of the value.', 'CBD', 50)
const name = Text('The name of the value.', 'Collins Street', 250)

/** A reference with its value. */
export const Reference = Type.Object(
  { code: Nullable(code), name: Nullable(name), referenceValueId },
  { $id: 'Reference', additionalProperties: false },
)

/** References by the name of their type, in camelCase. */
export const References = Type.Record(Type.String(), Type.Ref('Reference'), {
  description: 'References by the name of their type, in camelCase.',
  examples: [{ favouriteStore: { code: 'CBD', name: 'Collins Street', referenceValueId: '4411' } }],
})

/** `type=referenceValueId` pairs in one column. */
export const referencePairs = Type.String({
  description:
    'References as `type=referenceValueId` pairs, separated by `;`, or as the object that records of the API have.',
  maxLength: 4000,
  format: 'reference-pairs',
  examples: ['favouriteStore=4411;interest=12'],
})

export const ReferenceRow = Type.Object({
  type: Id('The name of the reference type, in camelCase.', 'favouriteStore'),
  referenceValueId,
  code: Type.Optional(code),
  name,
})
