import type { TSchema } from '../../schemas/schemas.ts'

/** The JSON Schema keywords that matter here. */
interface Schema {
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  type?: string
}

/** Returns a body with null instead of each empty string in an optional field, because forms send an empty string for an empty input. */
export const emptyStringsToNull = (schema: TSchema, body: unknown) => replaceEmpty(schema as Schema, body)

function replaceEmpty({ anyOf = [], ...schema }: Schema, value: unknown): unknown {
  const { properties, required = [], items } = [schema, ...anyOf].find(each => each.properties || each.items) ?? schema
  if (Array.isArray(value)) return items ? value.map(each => replaceEmpty(items, each)) : value
  if (typeof value !== 'object' || value === null || !properties) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      const field = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (!field) return [name, each]
      return [name, each === '' && !required.includes(name) && isNullable(field) ? null : replaceEmpty(field, each)]
    }),
  )
}

const isNullable = ({ anyOf = [] }: Schema) => anyOf.some(({ type }) => type === 'null')
