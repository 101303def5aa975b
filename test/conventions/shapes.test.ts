import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type as TypeBox } from 'typebox'
import { Type } from '../../src/schemas/schemas.ts'

/** All that shapes are made with, in the ways in which it is used. */
function shapesBy(type: typeof Type) {
  const address = type.Object(
    { city: type.String({ maxLength: 50 }), zip: type.Optional(type.Union([type.String(), type.Null()])) },
    { $id: 'Address', additionalProperties: false },
  )
  const all = {
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
  return { ...all, again: type.Object({ part: all.part, whole: type.Optional(all.whole) }) }
}

test('the schemas equal the output of TypeBox', () => {
  assert.equal(JSON.stringify(shapesBy(Type)), JSON.stringify(shapesBy(TypeBox)))
})
