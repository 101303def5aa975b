import type { TSchema } from '../../schemas/schemas.ts'
import { asked, isStandard, orEmpty } from './request-schemas.ts'
import type { Schema } from './schema.ts'

/** What a shape is of. In most bodies an empty text is null where null is allowed. */
export type Use = 'answer' | 'query' | 'body' | 'body, empty is null'

/**
 * Turns shapes into schemas of the document: a shape with an `$id` becomes a component and is referred to from wherever it
 * stands. `components` fills as shapes are written.
 */
export function schemaWriter() {
  const components: Record<string, Schema> = {}
  const uses = new Map<string, Use>()

  function write(shape: TSchema, use: Use = 'answer'): Schema {
    const { $id, ...keywords } = shape as Schema & { $id?: string }
    if ($id === undefined) return written(keywords, use)
    if ((uses.get($id) ?? use) !== use) throw new Error(`${$id} is of requests and of answers, which differ`)
    uses.set($id, use)
    components[$id] ??= written(keywords, use)
    return { $ref: reference($id) }
  }

  function written(keywords: Schema, use: Use): Schema {
    const said = use === 'answer' ? keywords : asked(keywords, use === 'query')
    const { $ref, format, properties, patternProperties, items, anyOf, ...rest } = said
    const each = (shapes: Record<string, Schema>) =>
      Object.fromEntries(
        Object.entries(shapes).map(([name, shape]) => {
          const schema = write(shape as TSchema, use)
          const mayBeEmpty = use === 'body, empty is null' && !rest.required?.includes(name)
          return [name, mayBeEmpty ? orEmpty(schema) : schema]
        }),
      )
    return {
      ...(Array.isArray(rest.enum) && rest.enum.every(word => typeof word === 'string') ? { type: 'string' } : {}),
      ...rest,
      ...($ref === undefined ? {} : { $ref: reference($ref) }),
      ...(isStandard(format) ? { format } : {}),
      ...(properties && { properties: each(properties) }),
      ...(patternProperties ? { additionalProperties: write(anyName(patternProperties), use) } : {}),
      ...(items && { items: write(items as TSchema, use) }),
      ...(anyOf && eitherOf(anyOf.map(shape => write(shape as TSchema, use)))),
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
