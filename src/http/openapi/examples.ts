import type { Schema } from './schema.ts'

/** Builds an example of a schema from the examples of its parts. */
export function buildExample(schema: Schema, components: Readonly<Record<string, Schema>>): unknown {
  const { $ref, examples, properties, required = [], items, anyOf } = schema
  const buildPart = (part: Schema) => buildExample(part, components)
  if (examples) return examples[0]
  if ($ref) return buildPart(components[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {})
  if (anyOf?.[0]) return buildPart(anyOf[0])
  if (items) return [buildPart(items)]
  if (!properties) throw new Error(`schema without an example: ${JSON.stringify(schema)}`)
  // Leave out optional lists, such as warnings, because usual responses don't have them, and read-only fields, because requests don't.
  const included = Object.entries(properties).filter(
    ([name, property]) => required.includes(name) || (!property.items && property.readOnly !== true),
  )
  return Object.fromEntries(included.map(([name, property]) => [name, buildPart(property)]))
}
