import type * as typebox from 'typebox'

export type { Static, TObject, TSchema } from 'typebox'

type Constructors = Pick<
  typeof typebox.Type,
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Partial'
  | 'Record'
  | 'Ref'
  | 'Required'
  | 'String'
  | 'Union'
>

type Schema = Record<string, unknown>
interface ObjectSchema {
  properties: Record<string, Schema>
}

/** Marks an optional field. The property is not enumerable, so it is not part of the schema. */
const optionalMark = '~optional'

function optional(schema: Schema): Schema {
  return Object.defineProperty({ ...schema }, optionalMark, { value: true })
}

function object(properties: ObjectSchema['properties'], options?: object): Schema {
  const required = Object.keys(properties).filter(name => !(optionalMark in (properties[name] ?? {})))
  return { type: 'object', ...(required.length && { required }), properties, ...options }
}

const mapProperties = (properties: ObjectSchema['properties'], change: (schema: Schema) => Schema) =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, change(schema)]))

const ofType = (type: string) => (options?: object) => ({ type, ...options })

const constructors = {
  Array: (items: Schema, options?: object) => ({ type: 'array', items, ...options }),
  Boolean: ofType('boolean'),
  Enum: (words: readonly string[], options?: object) => ({ enum: words, ...options }),
  Integer: ofType('integer'),
  Literal: (value: string | number | boolean, options?: object) => ({ type: typeof value, const: value, ...options }),
  Null: ofType('null'),
  Number: ofType('number'),
  Object: object,
  Optional: optional,
  Partial: ({ properties }: ObjectSchema, options?: object) => object(mapProperties(properties, optional), options),
  Record: (_: Schema, value: Schema, options?: object) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  Ref: (name: string, options?: object) => ({ $ref: name, ...options }),
  Required: ({ properties }: ObjectSchema, options?: object) =>
    object(
      mapProperties(properties, schema => ({ ...schema })),
      options,
    ),
  String: ofType('string'),
  Union: (anyOf: Schema[], options?: object) => ({ anyOf, ...options }),
}

/**
 * JSON Schema with TypeScript types: the used part of TypeBox's `Type`, with its types. The constructors are these few lines and not TypeBox
 * itself, because its 370 modules made up a third of the start time of a command. A test in test/conventions compares the two.
 */
export const Type = constructors as unknown as Constructors
