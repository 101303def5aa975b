import type { TSchema } from 'typebox'

/** A JSON Schema as the document carries it. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  examples?: unknown[]
  [keyword: string]: unknown
}

/** Formats that JSON Schema defines; ours say how a text is read here and mean nothing to others. */
const standardFormats = new Set(['date', 'date-time', 'email', 'uri', 'uuid'])

/**
 * Turns shapes into schemas of the document: a shape with an `$id` becomes a component and is referred to from wherever it
 * stands. `components` fills as shapes are written.
 */
export function schemaWriter() {
  const components: Record<string, Schema> = {}

  function write(shape: TSchema): Schema {
    const { $id, ...keywords } = shape as Schema & { $id?: string }
    if ($id === undefined) return written(keywords)
    components[$id] ??= written(keywords)
    return { $ref: reference($id) }
  }

  function written(keywords: Schema): Schema {
    const { $ref, format, properties, patternProperties, items, anyOf, ...rest } = keywords
    const each = (shapes: Record<string, Schema>) =>
      Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, write(shape as TSchema)]))
    return {
      ...(Array.isArray(rest.enum) && rest.enum.every(word => typeof word === 'string') ? { type: 'string' } : {}),
      ...rest,
      ...($ref === undefined ? {} : { $ref: reference($ref) }),
      ...(standardFormats.has(String(format)) ? { format } : {}),
      ...(properties && { properties: each(properties) }),
      ...(patternProperties ? { additionalProperties: write(anyName(patternProperties)) } : {}),
      ...(items && { items: write(items as TSchema) }),
      ...(anyOf && eitherOf(anyOf.map(shape => write(shape as TSchema)))),
    }
  }

  return { write, components }
}

/** What every name's value is, in TypeBox's way of saying it. */
function anyName(patterns: unknown): TSchema {
  const [[pattern, shape] = [], ...others] = Object.entries(patterns as Record<string, TSchema>)
  if (pattern !== '^.*$' || !shape || others.length) throw new Error('a record has values of one shape')
  return shape
}

/** A value or null reads better as one schema of two types. */
function eitherOf(schemas: Schema[]): Schema {
  const [value, nothing, ...others] = schemas
  const merges = typeof value?.type === 'string' && !value.enum && nothing?.type === 'null' && !others.length
  return merges ? { ...value, type: [value.type as string, 'null'] } : { anyOf: schemas }
}

const reference = (name: string) => `#/components/schemas/${name}`
