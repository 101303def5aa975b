import type { TSchema } from '../../schemas/schemas.ts'
import { allowEmpty, isCharacterRule, isPublishedFormat, isResponseFormat, toRequestSchema } from './request-schemas.ts'
import type { Schema } from './schema.ts'

/** The use of a schema. In most bodies, an empty string is null if null is allowed. */
export type Use = 'response' | 'query' | 'body' | 'body, empty is null'

/**
 * Returns a function that converts schemas of the code into schemas of the document, and the components that it collects. A schema with an
 * `$id` becomes a component, which is referred to wherever it is used.
 */
export function createSchemaWriter() {
  const components: Record<string, Schema> = {}
  const uses = new Map<string, Use>()

  function write(source: TSchema, use: Use = 'response'): Schema {
    const { $id, ...keywords } = source as Schema & { $id?: string }
    if ($id === undefined) return toDocumentSchema(keywords, use)
    if ((uses.get($id) ?? use) !== use)
      throw new Error(`schema ${$id} is used in requests and in responses, which differ`)
    uses.set($id, use)
    components[$id] ??= toDocumentSchema(keywords, use)
    return { $ref: toReference($id) }
  }

  function toDocumentSchema(source: Schema, use: Use): Schema {
    const schema = use === 'response' ? toResponseSchema(source) : toRequestSchema(source, use === 'query')
    const {
      $ref,
      default: value,
      format,
      properties,
      patternProperties,
      items,
      anyOf,
      additionalProperties,
      ...keywords
    } = schema
    const isOptionalInBody = (name: string) => use === 'body, empty is null' && !keywords.required?.includes(name)
    const writeProperties = (sources: Record<string, Schema>) =>
      Object.fromEntries(
        Object.entries(sources).map(([name, property]) => {
          const written = write(property as TSchema, use)
          return [name, isOptionalInBody(name) ? allowEmpty(written) : written]
        }),
      )
    const isStringEnum = Array.isArray(keywords.enum) && keywords.enum.every(word => typeof word === 'string')
    return {
      ...(isStringEnum ? { type: 'string' } : {}),
      ...keywords,
      ...describeDefault(value, keywords.description),
      ...($ref === undefined ? {} : { $ref: toReference($ref) }),
      ...(isPublishedFormat(format) || (use === 'response' && isResponseFormat(format)) ? { format } : {}),
      // A later release can add fields to responses, but a request can't have unknown ones.
      ...(additionalProperties === undefined || (use === 'response' && !additionalProperties)
        ? {}
        : { additionalProperties }),
      ...(properties && { properties: writeProperties(properties) }),
      ...(patternProperties ? { additionalProperties: write(getRecordValue(patternProperties), use) } : {}),
      ...(items && { items: write(items as TSchema, use) }),
      ...(anyOf && mergeNull(anyOf.map(choice => write(choice as TSchema, use)))),
    }
  }

  return { write, components }
}

/** Returns the keywords of a default. An array is part of the description, because generators warn about it. */
const describeDefault = (value: unknown, description: unknown) =>
  Array.isArray(value)
    ? { description: `${description} Default: \`${JSON.stringify(value)}\`.` }
    : value === undefined
      ? {}
      : { default: value }

const toResponseSchema = ({ pattern, ...schema }: Schema): Schema =>
  pattern === undefined || isResponseFormat(schema.format) || isCharacterRule(pattern) ? schema : { ...schema, pattern }

/** Returns the schema of the values of a record, which TypeBox expresses as a pattern that matches every name. */
function getRecordValue(patterns: unknown): TSchema {
  const [[pattern, schema] = [], ...more] = Object.entries(patterns as Record<string, TSchema>)
  if (pattern !== '^.*$' || !schema || more.length) throw new Error('record has values of several schemas')
  return schema
}

/** Merges a value and null into one schema with two types, which is easier to read. */
function mergeNull(schemas: Schema[]): Schema {
  const [value, nothing, ...more] = schemas
  const canMerge = typeof value?.type === 'string' && !value.enum && nothing?.type === 'null' && !more.length
  return canMerge ? { ...value, type: [value.type as string, 'null'] } : { anyOf: schemas }
}

const toReference = (name: string) => `#/components/schemas/${name}`
