import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type as TypeBox } from 'typebox'
import { Type } from '../../src/schemas/schemas.ts'

/** Builds a schema with each function of `Type` and each of its options that we use. */
function buildSchemas(type: typeof Type) {
  const address = type.Object(
    { city: type.String({ maxLength: 50 }), zip: type.Optional(type.Union([type.String(), type.Null()])) },
    { $id: 'Address', additionalProperties: false },
  )
  const schemas = {
    address,
    nothing: type.Object({}),
    part: type.Partial(address, { $id: 'Part' }),
    whole: type.Required(address),
    spread: type.Object({ ...address.properties, code: type.Literal('A', { description: 'One.' }) }),
    marked: type.Object({ address: type.Optional(address), no: type.Literal(true), seven: type.Literal(7) }),
    list: type.Array(type.Ref('Address'), { minItems: 1 }),
    words: type.Enum(['a', 'b'], { examples: ['a'] }),
    map: type.Record(type.String(), type.Integer({ minimum: 1 }), { description: 'By name.' }),
    figures: type.Array(type.Union([type.Number(), type.Boolean({ examples: [true] })])),
  }
  return { ...schemas, again: type.Object({ part: schemas.part, whole: type.Optional(schemas.whole) }) }
}

test('the schemas equal the output of TypeBox', () => {
  assert.equal(JSON.stringify(buildSchemas(Type)), JSON.stringify(buildSchemas(TypeBox)))
})
