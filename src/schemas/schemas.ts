import type * as typebox from 'typebox'

export type { Static, TObject, TSchema } from 'typebox'

/** What our shapes are made with. */
type Makers = Pick<
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

type Shape = Record<string, unknown>
interface ObjectShape {
  properties: Record<string, Shape>
}

/** What tells a field that may be left out; nobody sees it in the shape. */
const mark = '~optional'

function optional(shape: Shape): Shape {
  return Object.defineProperty({ ...shape }, mark, { value: true })
}

function object(properties: ObjectShape['properties'], options?: object): Shape {
  const required = Object.keys(properties).filter(name => !(mark in (properties[name] ?? {})))
  return { type: 'object', ...(required.length && { required }), properties, ...options }
}

const each = (properties: ObjectShape['properties'], change: (shape: Shape) => Shape) =>
  Object.fromEntries(Object.entries(properties).map(([name, shape]) => [name, change(shape)]))

const of = (type: string) => (options?: object) => ({ type, ...options })

const makers = {
  Array: (items: Shape, options?: object) => ({ type: 'array', items, ...options }),
  Boolean: of('boolean'),
  Enum: (words: readonly string[], options?: object) => ({ enum: words, ...options }),
  Integer: of('integer'),
  Literal: (value: string | number | boolean, options?: object) => ({ type: typeof value, const: value, ...options }),
  Null: of('null'),
  Number: of('number'),
  Object: object,
  Optional: optional,
  Partial: ({ properties }: ObjectShape, options?: object) => object(each(properties, optional), options),
  Record: (_: Shape, value: Shape, options?: object) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  Ref: (name: string, options?: object) => ({ $ref: name, ...options }),
  Required: ({ properties }: ObjectShape, options?: object) =>
    object(
      each(properties, shape => ({ ...shape })),
      options,
    ),
  String: of('string'),
  Union: (anyOf: Shape[], options?: object) => ({ anyOf, ...options }),
}

/**
 * JSON Schema, of which TypeScript knows what fits it: TypeBox's `Type`, as far as it is used here, with its types. What makes shapes is
 * these few lines and not TypeBox itself, whose 370 modules were a third of what any command takes to start; test/conventions/shapes.test.ts compares.
 */
export const Type = makers as unknown as Makers
