import { toPlainCharacters } from '../../domain/values/characters.ts'
import type { TSchema } from '../../schemas/schemas.ts'
import { isTooLong } from './validate.ts'

/** The JSON Schema keywords that matter here. */
interface Schema {
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  maxItems?: number
  anyOf?: Schema[]
  type?: string
  format?: string
}

/** Formats whose typographic spaces and hyphens are replaced with plain ones. */
const plainFormats = new Set(['phone', 'postcode'])

/**
 * Returns a body with null instead of each empty string in an optional field, because forms send an empty string for an empty input.
 * Telephone numbers and post codes get plain spaces and hyphens.
 */
export const normalizeBody = (schema: TSchema, body: unknown) => normalize(schema as Schema, body)

function normalize({ anyOf = [], ...schema }: Schema, value: unknown): unknown {
  const choices = [schema, ...anyOf]
  if (typeof value === 'string') return choices.some(hasPlainFormat) ? toPlainCharacters(value) : value
  const structure = choices.find(choice => choice.properties || choice.items) ?? schema
  const { properties, required = [], items } = structure
  if (Array.isArray(value))
    return items && !isTooLong(value, structure) ? value.map(item => normalize(items, item)) : value
  if (typeof value !== 'object' || value === null || !properties) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const field = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (!field) return [name, member]
      return [name, member === '' && !required.includes(name) && isNullable(field) ? null : normalize(field, member)]
    }),
  )
}

const hasPlainFormat = ({ format = '' }: Schema) => plainFormats.has(format)
const isNullable = ({ anyOf = [] }: Schema) => anyOf.some(({ type }) => type === 'null')
